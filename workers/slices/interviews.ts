import { launchable, type Slice } from './slice.ts';
import { createInterviewActivities } from '../../activities/interviews/interview.ts';
import { createInvitationActivities } from '../../activities/interviews/invitation.ts';
import { createMeetingActivities } from '../../activities/interviews/meeting.ts';
import { createCascadeActivities } from '../../activities/tasks/cascade.ts';
import { InterviewModel } from '../../models/interviews/interview.ts';
import { MeetingModel } from '../../models/interviews/meeting.ts';
import { RoomModel } from '../../models/interviews/room.ts';

export const interviews = {
  launchable: [launchable(InterviewModel), launchable(MeetingModel), launchable(RoomModel)],
  fleets: {
    interviews: {
      activities: (deps) => ({
        ...createInterviewActivities(deps),
        ...createInvitationActivities(deps),
        ...createMeetingActivities(deps),
        ...createCascadeActivities(deps),
      }),
      // These activities mostly wait for MongoDB or for a meeting bot service.
      maxActivities: 40,
      maxWorkflowTasks: 20,
    },
  },
} as const satisfies Slice;
