/**
 * Functions for attempts at deliveries (attempt.ts) and at steps of tasks (activities/tasks/execution.ts). They decide
 * whether a request is sent, how it is stored, and how errors are classified.
 */
import type { Sender, SenderDeps } from '../../providers/base/sender.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { DeliveryRefused, maskHeaders, type OutgoingRequest } from '../../models/rules/events/delivery.ts';

/**
 * Whether the request is only stored instead of sent: in test mode, and when no server is configured that could send
 * it.
 */
export const isKeptBack = async <What>(
  sender: Sender<What>,
  what: What,
  mode: Mode,
  deps: SenderDeps,
): Promise<boolean> => mode === 'test' || ((await sender.unsendable?.(what, deps)) ?? false);

/** A request in its stored form, without secrets. */
export const stored = (request: OutgoingRequest): OutgoingRequest => ({
  ...request,
  headers: maskHeaders(request.headers),
});

/** Database errors are not the receiver's failures: they fail the activity, which Temporal then retries. */
const isOutage = (error: unknown): boolean => error instanceof Error && error.name.startsWith('Mongo');

/**
 * Runs an attempt; returns its result, or the refusal. An unexpected error is stored without its message, which was not
 * written for members. `about`: fields for the log.
 * @throws A database error.
 */
export async function attempted<T>(
  attempt: () => Promise<T>,
  about: Readonly<Record<string, string>>,
  { log }: Pick<SenderDeps, 'log'>,
  signal?: AbortSignal,
): Promise<T | DeliveryRefused> {
  try {
    return await attempt();
  } catch (error) {
    signal?.throwIfAborted();
    if (isOutage(error)) throw error;
    if (error instanceof DeliveryRefused) return error;
    log.error({ err: error, ...about }, 'it could not be sent because of a fault here');
    return new DeliveryRefused('Sending failed on our side.', { cause: error });
  }
}
