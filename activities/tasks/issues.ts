/**
 * Has the issues that stand for a task say what the task says. What an issue is known to say is kept with its link, so that only
 * what changed here is sent, and what came from there does not go back.
 */
import { withHeartbeat } from '../base/heartbeat.ts';
import { follow } from './follow.ts';
import { toldOf } from './told.ts';
import { githubFacts } from './steps/github.ts';
import { linearFacts } from './steps/linear.ts';
import { connectionTo, refusedBy, StepRefused, type StepDeps } from './steps/step.ts';
import type { GithubCredentials } from '../events/connectors/github.ts';
import type { LinearCredentials } from '../events/connectors/linear.ts';
import type { Starter } from '../events/inbound/handled.ts';
import { found as existing } from '../events/linearissue.ts';
import { GithubError } from '../../clients/github/github.ts';
import { LinearError, type LinearIssue } from '../../clients/linear/linear.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { findLink, noteIssue, noteRemoved, noteState, type Link } from '../../models/events/link.ts';
import { findTaskWithLinks, type Task } from '../../models/tasks/task.ts';
import { numberOfIssue } from '../../models/rules/events/github.ts';
import {
  changeByStanding,
  differing,
  githubState,
  linearTypes,
  noteOf,
  statusOfLinear,
  type IssueKnown,
} from '../../models/rules/tasks/issues.ts';
import { taskBounds } from '../../models/rules/tasks/task.ts';
import type { TaskTold } from '../../models/rules/tasks/tasktext.ts';

export type IssuesRef = { orgId: string; taskId: string };
/** `again`: an issue could not be changed now. `error`: at which service; what it said stands in the log of the worker. */
export type IssuesLeft = { again: boolean; error?: Link['provider']; retryAfterMs?: number };
export type IssueDeps = StepDeps & Starter;
export type IssueActivities = ReturnType<typeof createIssueActivities>;

type Carrying = {
  link: Link;
  known: IssueKnown | undefined;
  task: Task;
  told: TaskTold;
  deps: IssueDeps;
  signal: AbortSignal;
};

/** Whether there is more to tell than could be told now. */
async function toLinear({ link, known, task, told, deps, signal }: Carrying): Promise<boolean> {
  const { news, held } = differing(linearFacts(told, task.status), known, deps.clock());
  if (Object.keys(news).length === 0) return held;
  const { integration, credentials } = await connectionTo(task.org_id, 'linear', deps);
  const { api_key: key } = credentials as LinearCredentials;
  try {
    const issue = await existing(deps.linear.issue(key, link.external, signal));
    if (!issue) {
      await noteRemoved(link._id, deps.clock());
      return false;
    }
    const stateId =
      news.status === undefined || statusOfLinear(issue.state.type) === news.status
        ? undefined
        : await stateFor(news.status);
    // An attempt that had no answer has moved it: what Linear tells of that, maybe late, is no news.
    if (known?.sending?.status !== undefined && known.sending.status === statusOfLinear(issue.state.type))
      await noteState(link._id, { seenAt: new Date(issue.updatedAt) });
    // Noted first: Linear tells of the change, maybe before it answers, and that must change nothing here.
    await noteIssue(link._id, noteOf(news, known));
    await noteState(link._id, { stateId });
    const change = {
      ...(news.title === undefined ? {} : { title: news.title }),
      ...(news.text === undefined ? {} : { description: news.text }),
      ...(news.priority === undefined ? {} : { priority: news.priority }),
      ...(news.due === undefined ? {} : { dueDate: news.due }),
      ...(stateId === undefined ? {} : { stateId }),
    };
    const changed =
      Object.keys(change).length === 0 ? issue : await deps.linear.updateIssue(key, issue.id, change, signal);
    await takeOver(link, changed, deps);
    if (changed !== issue) await noteState(link._id, { seenAt: new Date(changed.updatedAt) });
    await noteIssue(link._id, { ...news, sending: null });
    return held;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LinearError) throw await refusedBy(error, integration, deps);
    throw error;
  }

  /** The first state of the team that says this; undefined where it has none. */
  async function stateFor(status: Task['status']): Promise<string | undefined> {
    const states = await deps.linear.states(key, String(integration.settings['team_id']), signal);
    return linearTypes[status].map((type) => states.find((state) => state.type === type)?.id).find(Boolean);
  }
}

/**
 * Takes over what somebody changed in Linear just before: from now on the event of that counts as old. An attempt that dies before
 * this is made again.
 */
async function takeOver({ external }: Link, issue: LinearIssue, deps: IssueDeps): Promise<void> {
  // Read again, since what came in meanwhile is known now.
  const link = await findLink('linear', external);
  if (!link?.known) return;
  // A later change has come in already.
  if (link.seen_at && new Date(issue.updatedAt) < link.seen_at) return;
  const { facts, changeOf } = changeByStanding(issue, link.known, link.state_id);
  if (Object.keys(facts).length > 0) {
    const said = { source: 'linear', note: 'Changed in Linear.', outcome: '' } as const;
    await follow(link, said, deps, (task) => ({ change: changeOf(task, taskBounds.title), facts }));
  }
  await noteState(link._id, { stateId: issue.state.id });
}

/** Whether there is more to tell than could be told now. */
async function toGithub({ link, known, task, told, deps, signal }: Carrying): Promise<boolean> {
  const { news, held } = differing(githubFacts(told, task.status), known, deps.clock());
  if (Object.keys(news).length === 0) return held;
  const { title, text, status } = news;
  const state = githubState(task.status);
  const said = [known?.status, known?.sending?.status].filter((one) => one !== undefined);
  const moves =
    status !== undefined &&
    (known?.status === undefined || state.state === 'closed' || said.some((one) => githubState(one).state !== 'open'));
  const change = {
    ...(title === undefined ? {} : { title }),
    ...(text === undefined ? {} : { body: text }),
    ...(moves ? state : {}),
  };
  if (Object.keys(change).length > 0) {
    const { integration, credentials } = await connectionTo(task.org_id, 'github', deps);
    const { token } = credentials as GithubCredentials;
    try {
      await noteIssue(link._id, noteOf(news, known));
      const number = numberOfIssue(link.external);
      await deps.github.updateIssue(token, String(integration.settings['repository']), number, change, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof GithubError)) throw error;
      if (error.status !== 404 && error.status !== 410) throw await refusedBy(error, integration, deps);
      await noteRemoved(link._id, deps.clock());
      return false;
    }
  }
  await noteIssue(link._id, { ...news, sending: null });
  return held;
}

const carriers: Partial<Record<Link['provider'], (carrying: Carrying) => Promise<boolean>>> = {
  linear: toLinear,
  github: toGithub,
};

export function createIssueActivities(deps: IssueDeps) {
  async function carry({ orgId, taskId }: IssuesRef, signal: AbortSignal): Promise<IssuesLeft> {
    // Read together: otherwise what an issue has just changed of the task looks like a change that the issue lacks.
    const [found, org] = await Promise.all([findTaskWithLinks(orgId, taskId), findOrganization(orgId)]);
    // In test mode nothing leaves.
    if (!found || org?.environment !== 'production') return { again: false };
    const { task, links } = found;
    const { told } = await toldOf(task);
    let left: IssuesLeft = { again: false };
    for (const link of links) {
      try {
        const to = carriers[link.provider];
        if (!to) continue;
        const known = link.known;
        if (await to({ link, known, task, told, deps, signal })) left = { ...left, again: true };
      } catch (error) {
        if (!(error instanceof StepRefused)) throw error;
        const { message, permanent, retryAfterMs } = error;
        deps.log.info(
          { org_id: orgId, task_id: taskId, provider: link.provider, reason: message },
          'issue not changed',
        );
        const again = left.again || !permanent;
        left = { again, error: link.provider, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
      }
    }
    return left;
  }

  return {
    /** Tells all issues of a task what changed since they were last told. */
    carryToIssues: (ref: IssuesRef) => withHeartbeat((signal) => carry(ref, signal)),
  };
}
