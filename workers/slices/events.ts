import { launchable, type Slice } from './slice.ts';
import { createDeliveryActivities } from '../../activities/events/deliver.ts';
import { createNoticeActivities } from '../../activities/events/notices.ts';
import { createMailReplyActivities } from '../../activities/events/mailreply.ts';
import { createInboundActivities } from '../../activities/events/inbound/index.ts';
import { createIntegrationActivities } from '../../activities/integrations/integration.ts';
import { invitationLetterOf } from '../../activities/interviews/invitationletter.ts';
import { createReleaseActivities } from '../../activities/integrations/release.ts';
import { DeliveryModel } from '../../models/events/delivery.ts';
import { enableDestination } from '../../models/events/destination.ts';
import { InboundModel } from '../../models/events/inbound.ts';
import { ReleaseModel } from '../../models/integrations/release.ts';

export const events = {
  launchable: [launchable(InboundModel), launchable(DeliveryModel), launchable(ReleaseModel)],
  fleets: {
    deliveries: {
      activities: (deps) => ({
        ...createDeliveryActivities({ ...deps, invitations: invitationLetterOf }),
        ...createMailReplyActivities(deps),
        ...createNoticeActivities(deps),
      }),
      // An attempt mostly waits for its receiver; at most eight per destination are in flight.
      maxActivities: 40,
      maxWorkflowTasks: 20,
    },
    slowdeliveries: {
      // Each attempt at a slow destination may take the full 15 s, so these attempts have workers of their own.
      activities: (deps) => createDeliveryActivities({ ...deps, invitations: invitationLetterOf }, { slow: true }),
      maxActivities: 20,
    },
    inbound: {
      activities: (deps) => ({
        ...createInboundActivities(deps),
        ...createIntegrationActivities({ ...deps, connected: enableDestination }),
        ...createReleaseActivities(deps),
      }),
      // An activity mostly waits. It processes some of an organization's events, up to ten in parallel.
      maxActivities: 20,
      maxWorkflowTasks: 10,
    },
  },
} as const satisfies Slice;
