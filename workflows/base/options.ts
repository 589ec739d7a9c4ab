/** How activities are retried and watched. A workflow takes these options, adds its own bound, and overrides only what differs. */
import type { ActivityOptions } from '@temporalio/workflow';

/**
 * For activities that fail only because of an outage: problems of the input (a bad file, a site that refuses) are
 * outcomes, not failures. The number of attempts is unlimited, since an outage has no fixed length.
 */
export const throughOutages = {
  // Activities send a heartbeat every second once they run longer than that, so the death of a worker, or a
  // cancellation, is noticed within seconds. The limit is eight seconds because a busy machine may miss several
  // heartbeats in a row.
  heartbeatTimeout: '8 seconds',
  retry: {
    // A restart of MongoDB or of a model's server takes seconds.
    initialInterval: '1 second',
    backoffCoefficient: 2,
    // After a long outage all work continues within a minute, and during it each waiting activity costs one attempt a
    // minute.
    maximumInterval: '1 minute',
  },
} as const satisfies ActivityOptions;
