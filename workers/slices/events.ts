/** What is sent to other services, and what arrives from them. */
import { launchable, type Slice } from './slice.ts';
import { createInboundActivities } from '../../activities/events/inbound/index.ts';
import { InboundModel } from '../../models/events/inbound.ts';

export const events = {
  launchable: [launchable(InboundModel)],
  fleets: {
    inbound: {
      activities: (deps) => createInboundActivities(deps),
      // One activity works for one organization, on ten of its lanes at once; most of it waits.
      maxActivities: 20,
      maxWorkflowTasks: 10,
    },
  },
} as const satisfies Slice;
