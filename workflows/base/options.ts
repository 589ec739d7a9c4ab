/**
 * Retry and timeout options of activities. A workflow takes these options, adds its own timeout, and overrides only
 * what differs.
 */
import type { ActivityOptions } from '@temporalio/workflow';

/**
 * Options for activities that fail only because of an outage. Bad input (an unreadable file, a site that refuses) is an
 * outcome, not a failure. The number of attempts is unlimited, since an outage has no fixed length.
 */
export const throughOutages = {
  // Activities that run longer than a second send a heartbeat every second, so that the death of a worker or a
  // cancellation is noticed within seconds. The timeout is eight seconds, because several heartbeats in a row may be
  // late on a busy machine.
  heartbeatTimeout: '8 seconds',
  retry: {
    // A restart of MongoDB or of a model's server takes only seconds, so the first retry follows soon.
    initialInterval: '1 second',
    backoffCoefficient: 2,
    // This maximum lets all work continue within a minute after a long outage. During the outage, each waiting activity
    // costs one attempt a minute.
    maximumInterval: '1 minute',
  },
} as const satisfies ActivityOptions;
