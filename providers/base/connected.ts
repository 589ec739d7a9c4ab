/** What senders to connected services share: the connection of the moment, and what a refused credential means for it. */
import type { SenderDeps } from './sender.ts';
import { breakConnection } from './broken.ts';
import type { ServiceError } from '../../clients/http/serviceerror.ts';
import { credentialsOf, findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { DeliveryRefused, type OutgoingRequest } from '../../models/rules/events/delivery.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * The connection and its credentials. While it is broken nothing is tried there; connecting again mends what still waits.
 * @throws DeliveryRefused when there is none that works
 */
export async function connection(
  orgId: string,
  provider: 'linear' | 'github' | 'slack',
  { secrets }: Pick<SenderDeps, 'secrets'>,
): Promise<{ integration: Integration; credentials: unknown }> {
  const integration = await findIntegration(orgId, provider);
  const sealed = integration?.sealed;
  if (!integration || sealed === undefined)
    throw new DeliveryRefused(`${providerNames[provider]} is not connected any more.`, { permanent: true });
  const { status, broken_reason: reason } = integration;
  if (status === 'broken') {
    const message = `${providerNames[provider]} has to be connected again.`;
    throw new DeliveryRefused(reason === undefined ? message : `${message} ${reason}`, { unauthorized: true });
  }
  return { integration, credentials: credentialsOf({ ...integration, sealed }, secrets) };
}

/** What a sender throws for the failure. A credential that is refused breaks the connection. */
export async function refusal(
  error: ServiceError,
  integration: Integration,
  deps: Pick<SenderDeps, 'clock' | 'log'>,
  request?: OutgoingRequest,
): Promise<DeliveryRefused> {
  const { unauthorized, permanent, retryAfterMs, status, timedOut, message } = error;
  if (unauthorized) await breakConnection(integration, message, deps);
  return new DeliveryRefused(message, {
    permanent: permanent && !unauthorized,
    unauthorized,
    retryAfterMs,
    timedOut,
    ...defined({ status_code: status }),
    request,
    cause: error,
  });
}
