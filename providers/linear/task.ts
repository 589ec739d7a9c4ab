/**
 * Synchronizes a task with its Linear issue. The link stores the last known content of the issue. So only changes made
 * in this system are sent to the issue, and changes that came from Linear are not sent back.
 */
import type { LinearIssue } from './client.ts';
import type { LinearCredentials } from './connect.ts';
import { found } from './issue.ts';
import type { IssuePort } from './receive.ts';
import { linearFacts } from './step.ts';
import { follow, removedIn } from '../base/follow.ts';
import type { Carry, IssueDeps } from '../base/issue.ts';
import { connection, guarded } from '../base/connected.ts';
import { findLink, noteIssue, noteRemoved, noteState, type Link } from '../../models/events/link.ts';
import type { Task } from '../../models/tasks/task.ts';
import {
  changeByLinear,
  changeByStanding,
  differing,
  linearTypes,
  noteOf,
  statusOfLinear,
} from '../../models/rules/tasks/issues.ts';
import { defined } from '../../models/rules/base/defined.ts';

export const carryToLinear: Carry = async ({ link, known, task, told, deps, signal }) => {
  const { news, held } = differing(linearFacts(told, task.status), known, deps.clock());
  if (Object.keys(news).length === 0) return held;
  const { integration, credentials } = await connection(task.org_id, 'linear', deps);
  // The connection reaches no issue in another workspace, so Linear would report the issue as not found.
  if (link.workspace !== undefined && link.workspace !== integration.workspace) return false;
  const { api_key: key } = credentials as LinearCredentials;
  return guarded({ integration, deps, signal }, async () => {
    const issue = await found(deps.linear.issue(key, link.external, signal));
    if (!issue) {
      // A link without a state belongs to an issue that is not created yet, or that could not be created.
      if (link.state_id !== undefined) await noteRemoved(link._id, deps.clock());
      return false;
    }
    const stateId =
      news.status === undefined || statusOfLinear(issue.state.type) === news.status
        ? undefined
        : await stateFor(news.status);
    // An earlier attempt without a response has changed the status. Linear's event about that change, which may arrive
    // late, must be ignored.
    if (known?.sending?.status !== undefined && known.sending.status === statusOfLinear(issue.state.type))
      await noteState(link._id, { seenAt: new Date(issue.updatedAt) });
    // The new content is noted before the request, because Linear's event about this change may arrive before the
    // response and must be ignored.
    await noteIssue(link._id, noteOf(news, known));
    await noteState(link._id, { stateId });
    const change = {
      ...defined({ title: news.title, description: news.text, priority: news.priority, dueDate: news.due, stateId }),
    };
    const changed =
      Object.keys(change).length === 0 ? issue : await deps.linear.updateIssue(key, issue.id, change, signal);
    await takeOver(link, changed, deps);
    if (changed !== issue) await noteState(link._id, { seenAt: new Date(changed.updatedAt) });
    await noteIssue(link._id, { ...news, sending: null });
    return held;
  });

  /** The id of the team's first state that corresponds to the status; undefined when the team has none. */
  async function stateFor(status: Task['status']): Promise<string | undefined> {
    const states = await deps.linear.states(key, String(integration.settings['team_id']), signal);
    return linearTypes[status].map((type) => states.find((state) => state.type === type)?.id).find(Boolean);
  }
};

/**
 * Applies to the task what a person has just changed in Linear. Linear's event about that change is then ignored as
 * stale. If the process dies before the change is noted in the link, the retry applies the change again.
 */
async function takeOver({ external }: Link, issue: LinearIssue, deps: IssueDeps): Promise<void> {
  // The link is read again, because an event that arrived meanwhile may have changed it.
  const link = await findLink('linear', external);
  if (!link?.known) return;
  // The link already knows a later change, so `issue` is outdated and is not applied.
  if (link.seen_at && new Date(issue.updatedAt) < link.seen_at) return;
  const { facts, changeOf } = changeByStanding(issue, link.known, link.state_id);
  if (Object.keys(facts).length > 0) {
    const said = { source: 'linear', note: 'Changed in Linear.', outcome: '' } as const;
    await follow(link, said, deps, (task) => ({ change: changeOf(task), facts }));
  }
  await noteState(link._id, { stateId: issue.state.id });
}

/** How events of a linked issue change the task. */
export const taskIssuePort: IssuePort = {
  moved(link, state, _inbound, deps) {
    const status = statusOfLinear(state.type);
    if (status === undefined)
      return Promise.resolve({ ignored: `Nothing here knows states of the type ${state.type}.` });
    const said = { note: `Moved to “${state.name}” in Linear.`, outcome: `The task is ${status}.` };
    return follow(link, { source: 'linear', ...said }, deps, () => ({ change: { status }, facts: { status } }));
  },

  async changed(link, { details }, deps) {
    const { names, facts, changeOf } = changeByLinear(details, link.known);
    if (names.length === 0) return { ignored: 'What changed of the issue is known already.' };
    const said = { note: 'Changed in Linear.', outcome: `The task took over: ${names.join(', ')}.` };
    return follow(link, { source: 'linear', ...said }, deps, (task) => ({ change: changeOf(task), facts }));
  },

  removed: removedIn('linear'),
};
