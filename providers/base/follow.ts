/** A task follows what happened to an issue that stands for it. */
import type { Handled, Starter } from './handled.ts';
import { noteIssue, type Link } from '../../models/events/link.ts';
import { changeTask, findTask, TaskModel, type Task, type TaskChange } from '../../models/tasks/task.ts';
import type { IssueFacts } from '../../models/rules/tasks/issues.ts';
import type { TaskSource } from '../../models/rules/tasks/task.ts';

type Said = { source: TaskSource; note: string; outcome: string };
/** `facts`: what the issue is known to say with this. */
type Followed = { change: TaskChange; facts: Partial<IssueFacts> };

/**
 * Changes the task. What the issue says is noted with the link before that, so that it does not go back, and once more
 * afterwards: an attempt that dies in between is made again, and must not take it for known.
 */
export async function follow(
  { _id, org_id, subject_id }: Link,
  { source, note, outcome }: Said,
  { clock, start }: Starter & { clock: () => Date },
  followed: (task: Task) => Followed,
): Promise<Handled> {
  const standing = await findTask(org_id, subject_id);
  if (!standing) return { ignored: 'The task is gone.' };
  let { facts } = followed(standing);
  await noteIssue(_id, { coming: facts, coming_at: clock() });
  const changed = await changeTask(org_id, subject_id, { source, note, now: clock() }, (task) => {
    const asked = followed(task);
    facts = asked.facts;
    return asked.change;
  });
  await noteIssue(_id, { ...facts, coming: null, coming_at: null });
  if (!changed) return { ignored: 'The task is gone.' };
  await start(TaskModel, changed.task, changed.intents);
  return { outcome };
}
