/** What events of a task's issue in Linear do to the task. */
import type { IssuePort, LinearDeps } from '../events/inbound/linear.ts';
import type { Handled } from '../events/inbound/handled.ts';
import { noteIssue, type Link } from '../../models/events/link.ts';
import { changeTask, TaskModel, type Task, type TaskChange } from '../../models/tasks/task.ts';
import { changeByLinear, statusOfLinear, type IssueFacts } from '../../models/rules/tasks/issues.ts';
import { taskBounds, type TaskSource } from '../../models/rules/tasks/task.ts';

type Told = { source: TaskSource; note: string; outcome: string };

/** Changes the task as the issue was changed; what the change asks for is started at once. */
export async function follow(
  { org_id, subject_id }: Link,
  { source, note, outcome }: Told,
  { clock, start }: Pick<LinearDeps, 'clock' | 'start'>,
  change: (task: Task) => TaskChange,
): Promise<Handled> {
  const changed = await changeTask(org_id, subject_id, { source, note, now: clock() }, change);
  if (!changed) return { ignored: 'The task is gone.' };
  await start(TaskModel, changed.task, changed.intents);
  return { outcome };
}

export const taskIssuePort: IssuePort = {
  async moved(link, state, _event, _inbound, deps) {
    const status = statusOfLinear(state.type);
    if (status === undefined) return { ignored: `Nothing here knows states of the type ${state.type}.` };
    await noteIssue(link._id, { status });
    const said = { note: `Moved to “${state.name}” in Linear.`, outcome: `The task is ${status}.` };
    return follow(link, { source: 'linear', ...said }, deps, () => ({ status }));
  },

  async changed(link, { details }, _inbound, deps) {
    const known = link.known as (IssueFacts & { sending?: IssueFacts }) | undefined;
    const news = changeByLinear(details, [known, known?.sending]);
    if (news.names.length === 0) return { ignored: 'What changed of the issue is known already.' };
    await noteIssue(link._id, news.facts);
    const said = { note: 'Changed in Linear.', outcome: `The task took over: ${news.names.join(', ')}.` };
    return follow(link, { source: 'linear', ...said }, deps, (task) => news.changeOf(task, taskBounds.title));
  },

  removed(link, _inbound, deps) {
    const said = { note: 'The issue was removed in Linear.', outcome: 'The issue is gone; the task is cancelled.' };
    return follow(link, { source: 'linear', ...said }, deps, ({ status }) =>
      status === 'completed' ? {} : { status: 'cancelled' },
    );
  },
};
