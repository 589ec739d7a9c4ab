/** Meetings and interviews. */
import { launchable, type Slice } from './slice.ts';
import { createMeetingActivities } from '../../activities/interviews/meeting.ts';
import { MeetingModel } from '../../models/interviews/meeting.ts';

export const interviews = {
  launchable: [launchable(MeetingModel)],
  fleets: {
    interviews: {
      activities: (deps) => ({ ...createMeetingActivities(deps) }),
      // Most of this work waits for MongoDB or for a service that sends bots into calls.
      maxActivities: 40,
      maxWorkflowTasks: 20,
    },
  },
} as const satisfies Slice;
