/** What senders to connected services share: the connection of the moment, and what a refused credential means for it. */
import type { SenderDeps } from './sender.ts';
import { breakConnection } from './broken.ts';
import type { ServiceError } from '../../clients/http/serviceerror.ts';
import { credentialsOf, findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { DeliveryRefused, type OutgoingRequest } from '../../models/rules/events/delivery.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';

/**
 * The connection and its credentials. While it is broken nothing is tried there; connecting again mends what still waits.
 * @throws DeliveryRefused
 */
export async function connection(
  orgId: string,
  provider: 'linear' | 'slack',
  { secrets }: SenderDeps,
): Promise<{ integration: Integration; credentials: unknown }> {
  const integration = await findIntegration(orgId, provider);
  const sealed = integration?.sealed;
  if (!integration || sealed === undefined)
    throw new DeliveryRefused(`${providerNames[provider]} is not connected any more.`, { permanent: true });
  if (integration.status === 'broken')
    throw new DeliveryRefused(`The connection is broken: ${integration.broken_reason ?? 'connect it again'}`);
  return { integration, credentials: credentialsOf({ ...integration, sealed }, secrets) };
}

/** The failure as the machinery takes it; a credential that is refused breaks the connection, and waits for another one. */
export async function refusal(
  error: ServiceError,
  integration: Integration,
  request: OutgoingRequest,
  deps: SenderDeps,
): Promise<DeliveryRefused> {
  const { unauthorized, permanent, retryAfterMs, status, timedOut, message } = error;
  if (unauthorized) await breakConnection(integration, message, deps);
  return new DeliveryRefused(message, {
    permanent: permanent && !unauthorized,
    retryAfterMs,
    timedOut,
    ...(status === undefined ? {} : { status_code: status }),
    request,
    cause: error,
  });
}
