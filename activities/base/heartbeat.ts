/** Sends heartbeats while work runs, so that the death of a worker is noticed and a cancellation arrives. */
import { Context } from '@temporalio/activity';

const beatEveryMs = 1_000;
/** A busy machine may miss several beats before the activity counts as dead. */
const beatsInTimeout = 8;

/**
 * Runs `work` with a signal that aborts when the activity is cancelled or its worker stops. The first beat comes after a
 * second, and later where the workflow takes longer to notice a death: short work costs no extra action.
 */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  // The workflow's own task stands for it.
  if (context.info.isLocal) return work(context.cancellationSignal);
  const everyMs = Math.max(beatEveryMs, (context.info.heartbeatTimeoutMs ?? 0) / beatsInTimeout);
  const beat = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
