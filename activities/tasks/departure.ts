/** What becomes of the grants and the tasks of a member who left. Every step may run again. */
import type { Model } from 'mongoose';
import { withHeartbeat } from '../base/heartbeat.ts';
import { findUser } from '../../models/access/user.ts';
import { endGrants, unassignTasks } from '../../models/tasks/departure.ts';
import { TaskModel } from '../../models/tasks/task.ts';
import type { Intent, Launchable } from '../../models/base/pending.ts';

export type DepartureDeps = {
  clock: () => Date;
  start: <T extends Launchable>(model: Model<T>, record: Launchable, intents: readonly Intent[]) => Promise<void>;
};
/** `keepKeysFor`: the owner who takes over the keys that the member made. */
export type DepartureRef = { orgId: string; userId: string; keepKeysFor?: string };
export type DepartureActivities = ReturnType<typeof createDepartureActivities>;

export function createDepartureActivities({ clock, start }: DepartureDeps) {
  return {
    /** The route did this already, unless its process died. */
    async endGrants({ orgId, userId, keepKeysFor }: DepartureRef): Promise<void> {
      await endGrants(orgId, userId, keepKeysFor, clock());
    },

    /** Their open tasks are nobody's; the history of each says why. */
    async giveUpTasks({ orgId, userId }: DepartureRef): Promise<void> {
      await withHeartbeat(async () => {
        const name = (await findUser(userId))?.name ?? 'The assignee';
        const cause = { source: 'membership' as const, now: clock(), note: `${name} is no longer a member.` };
        await unassignTasks(orgId, userId, cause, ({ task, intents }) => start(TaskModel, task, intents));
      });
    },
  };
}
