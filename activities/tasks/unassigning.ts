/** Unassigns the tasks of members who left. Every step can be retried. */
import type { DepartureActivities } from '../access/departure.ts';
import { findUser } from '../../models/access/user.ts';
import { TaskModel } from '../../models/tasks/task.ts';
import { unassignTasks } from '../../models/tasks/unassigning.ts';
import type { Starter } from '../../providers/base/handled.ts';

export type UnassigningDeps = Starter & { clock: () => Date };

export function createUnassigningActivities({
  clock,
  start,
}: UnassigningDeps): Pick<DepartureActivities, 'giveUpTasks'> {
  return {
    /** Unassigns the open tasks of a former member; each task's history states the reason. */
    async giveUpTasks({ orgId, userId }) {
      const name = (await findUser(userId))?.name ?? 'The assignee';
      const cause = { source: 'membership' as const, now: clock(), note: `${name} is no longer a member.` };
      await unassignTasks(orgId, userId, cause, ({ task, intents }) => start(TaskModel, task, intents));
    },
  };
}
