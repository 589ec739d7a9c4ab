/** How activities are retried and watched. A workflow takes these options, adds its own bound, and overrides only what differs. */
import type { ActivityOptions } from '@temporalio/workflow';

/**
 * For activities that only an outage makes fail: what the world does with the work (a bad file, a site that refuses) is an
 * outcome, not a failure. There is no last try, since an outage has no fixed length.
 */
export const throughOutages = {
  // Activities beat every second once they take longer than that, so the death of a worker is noticed, and a cancel arrives,
  // within seconds. Eight: a busy machine may miss several beats in a row.
  heartbeatTimeout: '8 seconds',
  retry: {
    // A restart of MongoDB or of a model's server takes seconds.
    initialInterval: '1 second',
    backoffCoefficient: 2,
    // After a long outage everything goes on within a minute, and during it each waiting activity costs one try a minute.
    maximumInterval: '1 minute',
  },
} as const satisfies ActivityOptions;
