/** Sends heartbeats while an activity runs, so that the death of its worker is noticed and a cancellation arrives. */
import { Context } from '@temporalio/activity';

const beatEveryMs = 1_000;
/**
 * The number of heartbeats in one heartbeat timeout. On a busy machine, several may be late before the activity counts
 * as dead.
 */
const beatsInTimeout = 8;

/**
 * Runs `work` with a signal that aborts when the activity is cancelled or its worker stops. The first heartbeat comes
 * after a second, or later with a longer heartbeat timeout, so that a short activity sends none.
 */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  // A local activity needs no heartbeat: its workflow task times out when the worker dies.
  if (context.info.isLocal) return work(context.cancellationSignal);
  const everyMs = Math.max(beatEveryMs, (context.info.heartbeatTimeoutMs ?? 0) / beatsInTimeout);
  const beat = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
