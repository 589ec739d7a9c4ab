/** Marks a connection as broken when the provider refuses its credential, and notifies the members once. */
import type { Logger } from 'pino';
import { notifyMembers } from '../../models/access/notification.ts';
import { breakIntegration, findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';

/** `reason`: the provider's message. Nothing is marked when the refused credential has been replaced meanwhile. */
export async function breakConnection(
  integration: Pick<Integration, '_id' | 'org_id' | 'provider' | 'generation'>,
  reason: string,
  { clock, log }: { clock: () => Date; log: Logger },
): Promise<void> {
  const { org_id: orgId, provider, generation } = integration;
  const now = clock();
  const broke = await breakIntegration(integration, reason, now);
  if (broke) log.warn({ org_id: orgId, provider, reason }, 'a connection is broken');
  // The members are notified even when the connection is marked already, because the attempt that marked it may have
  // crashed before it notified them. The idempotency key prevents a second notification. A connection that was
  // disconnected or connected again meanwhile is not broken, so nobody is notified.
  if (!broke && !(await isBroken(integration))) return;
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

async function isBroken({
  org_id,
  provider,
  generation,
}: Pick<Integration, 'org_id' | 'provider' | 'generation'>): Promise<boolean> {
  const stored = await findIntegration(org_id, provider);
  return stored?.generation === generation && stored.status === 'broken';
}
