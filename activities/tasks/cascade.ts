/** Changes the tasks of members who left and of deleted meetings. Every step can be retried. */
import type { DepartureActivities } from '../access/departure.ts';
import type { MeetingTaskActivities } from '../interviews/meeting.ts';
import { findUser } from '../../models/access/user.ts';
import { removeTasksOf } from '../../models/tasks/extracted.ts';
import { TaskModel } from '../../models/tasks/task.ts';
import { unassignTasks } from '../../models/tasks/unassigning.ts';
import type { Starter } from '../../providers/base/handled.ts';

export function createCascadeActivities({
  clock,
  start,
}: Starter & { clock: () => Date }): Pick<DepartureActivities, 'giveUpTasks'> & MeetingTaskActivities {
  return {
    /** Unassigns the open tasks of a former member; each task's history states the reason. */
    async giveUpTasks({ orgId, userId }) {
      const name = (await findUser(userId))?.name ?? 'The assignee';
      const cause = { source: 'membership' as const, now: clock(), note: `${name} is no longer a member.` };
      await unassignTasks(orgId, userId, cause, ({ task, intents }) => start(TaskModel, task, intents));
    },

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
