/** Unassigns the tasks of members who left. Every step can be retried. */
import type { Model } from '../../models/base/define.ts';
import type { DepartureActivities } from '../access/departure.ts';
import { withHeartbeat } from '../base/heartbeat.ts';
import { findUser } from '../../models/access/user.ts';
import type { Intent, Launchable } from '../../models/base/pending.ts';
import { TaskModel } from '../../models/tasks/task.ts';
import { unassignTasks } from '../../models/tasks/unassigning.ts';

export type UnassigningDeps = {
  clock: () => Date;
  start: <T extends Launchable>(model: Model<T>, record: Launchable, intents: readonly Intent[]) => Promise<void>;
};

export function createUnassigningActivities({
  clock,
  start,
}: UnassigningDeps): Pick<DepartureActivities, 'giveUpTasks'> {
  return {
    /** Unassigns the open tasks of a former member; each task's history states the reason. */
    async giveUpTasks({ orgId, userId }) {
      await withHeartbeat(async () => {
        const name = (await findUser(userId))?.name ?? 'The assignee';
        const cause = { source: 'membership' as const, now: clock(), note: `${name} is no longer a member.` };
        await unassignTasks(orgId, userId, cause, ({ task, intents }) => start(TaskModel, task, intents));
      });
    },
  };
}
