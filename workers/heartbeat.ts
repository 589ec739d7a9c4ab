/** Sends heartbeats while an activity runs, so that the death of its worker is noticed and a cancellation arrives. */
import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';

const beatEveryMs = 1_000;
/**
 * The number of heartbeats in one heartbeat timeout. On a busy machine, several heartbeats may be late before Temporal
 * takes the activity for dead.
 */
const beatsInTimeout = 8;

/**
 * Wraps every activity of a worker. The first heartbeat comes after a second, or later with a longer heartbeat timeout,
 * so that a short activity sends none.
 */
export const keepBeating = (context: Context): ActivityInterceptors => ({
  inbound: {
    async execute(input, next) {
      const { isLocal, heartbeatTimeoutMs = 0 } = context.info;
      // A local activity needs no heartbeat: its workflow task times out when the worker dies.
      if (isLocal) return next(input);
      const beat = setInterval(() => context.heartbeat(), Math.max(beatEveryMs, heartbeatTimeoutMs / beatsInTimeout));
      try {
        return await next(input);
      } finally {
        clearInterval(beat);
      }
    },
  },
});
