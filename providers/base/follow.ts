/** Applies changes of an issue to its task. */
import type { Handled, Starter } from './handled.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { noteIssue, type Link } from '../../models/events/link.ts';
import { changeTask, findTask, TaskModel, type Task, type TaskChange } from '../../models/tasks/task.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';
import type { IssueFacts } from '../../models/rules/tasks/issues.ts';
import { takenUpAgain, type TaskSource } from '../../models/rules/tasks/task.ts';

type Said = { source: TaskSource; note: string; outcome: string };
type FollowDeps = Starter & { clock: () => Date };
/** `facts`: the issue's content that the link stores as known after the change. */
type Followed = { change: TaskChange; facts: Partial<IssueFacts> };

/**
 * Changes the task. Before the change, the issue's new content is stored in the link as `coming`, so that this content
 * is not sent back to the issue. After the change, the content is stored as known. If it were stored as known before
 * the change, a retry after a crash would ignore the change.
 *
 * A reopened task loses an assignee who has left the organization, as it does when a member reopens it.
 */
export async function follow(
  { _id, org_id, subject_id }: Link,
  { source, note, outcome }: Said,
  { clock, start }: FollowDeps,
  followed: (task: Task) => Followed,
): Promise<Handled> {
  const standing = await findTask(org_id, subject_id);
  if (!standing) return { ignored: 'The task is gone.' };
  let { facts } = followed(standing);
  await noteIssue(_id, { coming: facts, coming_at: clock() });
  const memberIds = ((await findOrganization(org_id))?.members ?? []).map(({ user_id }) => user_id);
  const changed = await changeTask(org_id, subject_id, { source, note, now: clock() }, (task) => {
    const asked = followed(task);
    facts = asked.facts;
    return { ...asked.change, ...takenUpAgain(task, asked.change, memberIds) };
  });
  await noteIssue(_id, { ...facts, coming: null, coming_at: null });
  if (!changed) return { ignored: 'The task is gone.' };
  await start(TaskModel, changed.task, changed.intents);
  return { outcome };
}

/** Cancels the task of a removed issue, unless the task is completed. */
export const removedIn =
  (source: 'linear' | 'github') =>
  (link: Link, deps: FollowDeps): Promise<Handled> => {
    const said = {
      source,
      note: `The issue was removed in ${providerNames[source]}.`,
      outcome: 'The issue is gone; a task that was not completed is cancelled.',
    };
    return follow(link, said, deps, ({ status }) => ({
      change: status === 'completed' ? {} : { status: 'cancelled' },
      facts: {},
    }));
  };
