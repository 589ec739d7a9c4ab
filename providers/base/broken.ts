/** A connection whose credential the provider refuses: it is marked, and the members are told once. */
import type { Logger } from 'pino';
import { notifyMembers } from '../../models/access/notification.ts';
import { breakIntegration, type Integration } from '../../models/integrations/integration.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';

/** `reason`: the provider's own word. A refusal of a credential that was replaced meanwhile changes nothing. */
export async function breakConnection(
  integration: Pick<Integration, '_id' | 'org_id' | 'provider' | 'generation'>,
  reason: string,
  { clock, log }: { clock: () => Date; log: Logger },
): Promise<void> {
  const { org_id: orgId, provider, generation } = integration;
  const now = clock();
  const broke = await breakIntegration(integration, reason, now);
  if (broke) log.warn({ org_id: orgId, provider, reason }, 'a connection is broken');
  // Also when it was marked before: whoever marked it may have died before telling. The key has each member told once.
  await notifyMembers(
    orgId,
    {
      key: `integration_broken:${provider}:${generation}`,
      kind: 'integration_broken',
      title: `${providerNames[provider]} has to be connected again`,
      body: `${providerNames[provider]} no longer takes the credential of this organization. ${reason} Until it is connected again, nothing is sent there.`,
      about: [],
    },
    now,
  );
}
