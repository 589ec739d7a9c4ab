/**
 * Functions that the senders to connected services share: they read the current connection, and react to a refused
 * credential.
 */
import type { SenderDeps } from './sender.ts';
import { breakConnection } from './broken.ts';
import { ServiceError } from '../../clients/http/serviceerror.ts';
import { credentialsOf, findConnection, type Integration } from '../../models/integrations/integration.ts';
import { DeliveryRefused, type OutgoingRequest } from '../../models/rules/events/delivery.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * The connection with its credentials. A broken connection is not used; deliveries that wait for it succeed after it is
 * connected again.
 * @throws DeliveryRefused when there is no working connection.
 */
export async function connection(
  orgId: string,
  provider: 'linear' | 'github' | 'slack',
  { secrets }: Pick<SenderDeps, 'secrets'>,
): Promise<{ integration: Integration; credentials: unknown }> {
  const integration = await findConnection(orgId, provider);
  if (!integration)
    throw new DeliveryRefused(`${providerNames[provider]} is not connected any more.`, { permanent: true });
  const { status, broken_reason: reason } = integration;
  if (status === 'broken') {
    const message = `${providerNames[provider]} has to be connected again.`;
    throw new DeliveryRefused(reason === undefined ? message : `${message} ${reason}`, { unauthorized: true });
  }
  return { integration, credentials: credentialsOf(integration, secrets) };
}

type Guard = {
  integration: Integration;
  deps: Pick<SenderDeps, 'clock' | 'log'>;
  signal: AbortSignal;
  /** The request, which `DeliveryRefused` shows to members. */
  request?: OutgoingRequest;
};

/**
 * Runs requests to a service. The service's error becomes a refusal of the delivery. @throws DeliveryRefused; the
 * reason of `signal` when it is aborted
 */
export async function guarded<T>({ integration, deps, signal, request }: Guard, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ServiceError) throw await refusal(error, integration, deps, request);
    throw error;
  }
}

/** Converts a service's error into a refusal of the delivery. A refused credential marks the connection as broken. */
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
