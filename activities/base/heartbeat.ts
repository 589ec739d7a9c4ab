/** Sends heartbeats while work runs, so that the death of a worker is noticed and a cancellation arrives. */
import { Context } from '@temporalio/activity';

const beatEveryMs = 1_000;

/**
 * Runs `work` with a signal that aborts when the activity is cancelled or its worker stops. The first beat comes after a
 * second: short work costs no extra action.
 */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), beatEveryMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
