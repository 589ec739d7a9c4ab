/**
 * What every attempt at sending has in common, be it of a delivery (attempt.ts) or of a step of a task (activities/tasks/execution.ts):
 * whether anything leaves, what is kept of a request, and what a failure is.
 */
import type { Sender, SenderDeps } from '../../providers/base/sender.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { DeliveryRefused, maskHeaders, type OutgoingRequest } from '../../models/rules/events/delivery.ts';

/** Whether nothing leaves, and what would is stored: in test mode, and where nothing can send it. */
export const isKeptBack = async <What>(
  sender: Sender<What>,
  what: What,
  mode: Mode,
  deps: SenderDeps,
): Promise<boolean> => mode === 'test' || ((await sender.unsendable?.(what, deps)) ?? false);

/** A request as it is stored, without secrets. */
export const stored = (request: OutgoingRequest): OutgoingRequest => ({
  ...request,
  headers: maskHeaders(request.headers),
});

/** Failures of the database are not the receiver's: the activity fails, and is repeated. */
const isOutage = (error: unknown): boolean => error instanceof Error && error.name.startsWith('Mongo');

/**
 * What the attempt brings, or why it was refused. A fault of ours is shown without its words, which nobody chose for members.
 * `about`: what the log says of it. @throws what is an outage of ours.
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
