/** What events of a task's issue in Linear do to the task. */
import { follow } from './follow.ts';
import type { IssuePort } from '../events/inbound/linear.ts';
import { changeByLinear, statusOfLinear } from '../../models/rules/tasks/issues.ts';
import { taskBounds } from '../../models/rules/tasks/task.ts';

export const taskIssuePort: IssuePort = {
  moved(link, state, _event, _inbound, deps) {
    const status = statusOfLinear(state.type);
    if (status === undefined)
      return Promise.resolve({ ignored: `Nothing here knows states of the type ${state.type}.` });
    const said = { note: `Moved to “${state.name}” in Linear.`, outcome: `The task is ${status}.` };
    return follow(link, { source: 'linear', ...said }, deps, () => ({ change: { status }, facts: { status } }));
  },

  async changed(link, { details }, _inbound, deps) {
    const { names, facts, changeOf } = changeByLinear(details, link.known);
    if (names.length === 0) return { ignored: 'What changed of the issue is known already.' };
    const said = { note: 'Changed in Linear.', outcome: `The task took over: ${names.join(', ')}.` };
    return follow(link, { source: 'linear', ...said }, deps, (task) => ({
      change: changeOf(task, taskBounds.title),
      facts,
    }));
  },

  removed(link, _inbound, deps) {
    const said = {
      note: 'The issue was removed in Linear.',
      outcome: 'The issue is gone; a task that was not completed is cancelled.',
    };
    return follow(link, { source: 'linear', ...said }, deps, ({ status }) => ({
      change: status === 'completed' ? {} : { status: 'cancelled' },
      facts: {},
    }));
  },
};
