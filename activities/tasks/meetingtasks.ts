/** Removes the tasks of deleted meetings. Every step can be retried. */
import type { MeetingTaskActivities } from '../interviews/meeting.ts';
import { removeTasksOf } from '../../models/tasks/extracted.ts';
import { TaskModel } from '../../models/tasks/task.ts';
import type { Starter } from '../../providers/base/handled.ts';

export type MeetingTaskDeps = Starter & { clock: () => Date };

export function createMeetingTaskActivities({ clock, start }: MeetingTaskDeps): MeetingTaskActivities {
  return {
    /**
     * Removes the tasks that were extracted from a meeting, in all organizations. Tasks that people wrote lose their
     * link to the meeting.
     */
    async removeMeetingTasks({ meetingId }) {
      await removeTasksOf(meetingId, { source: 'retention', now: clock() }, ({ task, intents }) =>
        start(TaskModel, task, intents),
      );
    },
  };
}
