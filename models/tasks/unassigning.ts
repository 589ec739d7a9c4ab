/** The assignees of tasks. A member who leaves the organization is unassigned from all open tasks. */
import { changeTask, TaskModel, type Cause, type Changed, type Task } from './task.ts';
import { isGone } from '../access/departure.ts';
import { findUser, type User } from '../access/user.ts';
import { collectionOf } from '../base/define.ts';
import { openStatuses } from '../rules/tasks/task.ts';

/**
 * The assigned user while they are a member of the organization, else null. A completed task stays assigned to a member
 * who has left, but nothing of the organization is sent to them.
 */
export async function findAssignee({
  org_id,
  assigned_to,
}: Pick<Task, 'org_id' | 'assigned_to'>): Promise<User | null> {
  return assigned_to === undefined || (await isGone(org_id, assigned_to)) ? null : findUser(assigned_to);
}

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
