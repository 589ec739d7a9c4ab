/** Unassigns the tasks of members who left their organization. */
import { changeTask, TaskModel, type Cause, type Changed } from './task.ts';
import { isGone } from '../access/departure.ts';
import { collectionOf } from '../base/define.ts';
import { openStatuses } from '../rules/tasks/task.ts';

/**
 * Unassigns the open tasks of a user who is no longer a member. Finished tasks keep their assignee. `told` is called
 * for each changed task. Idempotent.
 */
export async function unassignTasks(
  orgId: string,
  userId: string,
  cause: Cause,
  told: (changed: Changed) => Promise<void>,
): Promise<void> {
  if (!(await isGone(orgId, userId))) return;
  const theirs = { org_id: orgId, assigned_to: userId, status: { $in: [...openStatuses] } };
  const found = await collectionOf(TaskModel)
    .find(theirs, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of found) {
    const changed = await changeTask(orgId, _id, cause, ({ assigned_to }) =>
      assigned_to === userId ? { assigned_to: null } : undefined,
    );
    if (changed) await told(changed);
  }
}
