/** Removes the data of a meeting. Every step is idempotent; logs contain only ids. */
import type { Logger } from 'pino';
import { beginRemoval, forgetMeeting, removeMeetingContents } from '../../models/interviews/meeting.ts';

export type MeetingDeps = { log: Logger };
type Ref = { meetingId: string };
export type MeetingActivities = ReturnType<typeof createMeetingActivities>;
export type MeetingTaskActivities = {
  /**
   * Removes the tasks that were extracted from a meeting, in every organization. Implemented in
   * activities/tasks/cascade.ts.
   */
  removeMeetingTasks(ref: Ref): Promise<void>;
};

export function createMeetingActivities({ log }: MeetingDeps) {
  return {
    /** Hides the meeting and removes its transcript and summaries. */
    async removeMeeting({ meetingId }: Ref): Promise<void> {
      await beginRemoval(meetingId);
      await removeMeetingContents(meetingId);
    },

    /** Deletes the record, after everything else of the meeting was removed. */
    async forgetMeeting({ meetingId }: Ref): Promise<void> {
      await forgetMeeting(meetingId);
      log.info({ meeting_id: meetingId }, 'meeting removed');
    },
  };
}
