/** Removes the tasks of deleted meetings. Every step can be retried. */
import type { Model } from '../../models/base/define.ts';
import type { MeetingTaskActivities } from '../interviews/meeting.ts';
import { withHeartbeat } from '../base/heartbeat.ts';
import { removeTasksOf } from '../../models/tasks/extracted.ts';
import { TaskModel } from '../../models/tasks/task.ts';
import type { Intent, Launchable } from '../../models/base/pending.ts';

export type MeetingTaskDeps = {
  clock: () => Date;
  start: <T extends Launchable>(model: Model<T>, record: Launchable, intents: readonly Intent[]) => Promise<void>;
};

export function createMeetingTaskActivities({ clock, start }: MeetingTaskDeps): MeetingTaskActivities {
  return {
    /**
     * Removes the tasks that were extracted from a meeting, in all organizations. Tasks that people wrote lose their
     * link to the meeting.
     */
    async removeMeetingTasks({ meetingId }) {
      await withHeartbeat(() =>
        removeTasksOf(meetingId, { source: 'retention', now: clock() }, ({ task, intents }) =>
          start(TaskModel, task, intents),
        ),
      );
    },
  };
}
