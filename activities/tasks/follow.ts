/** A task follows what happened to an issue that stands for it. */
import type { Handled, Starter } from '../events/inbound/handled.ts';
import { noteIssue, type Link } from '../../models/events/link.ts';
import { changeTask, TaskModel, type Task, type TaskChange } from '../../models/tasks/task.ts';
import type { IssueFacts } from '../../models/rules/tasks/issues.ts';
import type { TaskSource } from '../../models/rules/tasks/task.ts';

type Said = { source: TaskSource; note: string; outcome: string };
/** `facts`: what the issue is known to say with this. */
type Followed = { change: TaskChange; facts: Partial<IssueFacts> };

/** Changes the task; what the change asks for is started once the link knows it, so that it does not go back. */
export async function follow(
  { _id, org_id, subject_id }: Link,
  { source, note, outcome }: Said,
  { clock, start }: Starter & { clock: () => Date },
  followed: (task: Task) => Followed,
): Promise<Handled> {
  let facts: Partial<IssueFacts> = {};
  const changed = await changeTask(org_id, subject_id, { source, note, now: clock() }, (task) => {
    const asked = followed(task);
    facts = asked.facts;
    return asked.change;
  });
  if (!changed) return { ignored: 'The task is gone.' };
  if (Object.keys(facts).length > 0) await noteIssue(_id, facts);
  await start(TaskModel, changed.task, changed.intents);
  return { outcome };
}
