/** Synchronization between a task and its issues in Linear and GitHub. Pure. */
import { inboundTriedForMs } from '../events/inbound.ts';
import { dueDay, type DueDate } from '../base/due.ts';
import { priorities } from '../base/priority.ts';
import { taskBounds, type TaskDetails, type TaskStatus } from './task.ts';
import { issueTitle, linearPriority } from './tasktext.ts';

/**
 * The last known content of an issue, from values that were sent to the issue or received from it. Only values that
 * differ from the known content are sent.
 */
export type IssueFacts = {
  title: string;
  text: string;
  priority?: number;
  /** The due date as a day (`2026-12-01`); null for no due date. */
  due?: string | null;
  status: TaskStatus;
};

/**
 * The known content of an issue, plus changes in flight. `coming`: values that were changed in the issue and are being
 * written into the task, since `coming_at`. `sending`: values that are being sent to the issue; Linear and GitHub
 * report them back as events like any change.
 */
export type IssueKnown = Partial<IssueFacts> & {
  coming?: Partial<IssueFacts> | null;
  coming_at?: Date | null;
  sending?: Partial<IssueFacts> | null;
};

/** The fields of a task that an issue shows. */
const shown = ['title', 'description', 'status', 'priority', 'due_date', 'assigned_to'];
export const concernsIssues = (changed: readonly string[]): boolean => shown.some((field) => changed.includes(field));

/** The task status for each type of workflow state in Linear. */
const ofLinear: Readonly<Record<string, TaskStatus>> = {
  triage: 'pending',
  backlog: 'pending',
  unstarted: 'pending',
  started: 'in_progress',
  completed: 'completed',
  canceled: 'cancelled',
  duplicate: 'cancelled',
};
export const statusOfLinear = (type: string): TaskStatus | undefined => ofLinear[type];

/** The Linear state types for each task status; the first type that the team has is used. */
export const linearTypes: Readonly<Record<TaskStatus, readonly string[]>> = {
  pending: ['unstarted', 'backlog', 'triage'],
  in_progress: ['started'],
  completed: ['completed'],
  cancelled: ['canceled'],
};

/** GitHub's version of a status: an issue is open, or closed as completed or not planned. */
export type GithubState = { state: 'open' | 'closed'; state_reason?: 'completed' | 'not_planned' | 'reopened' };
export function githubState(status: TaskStatus): GithubState {
  if (status === 'completed') return { state: 'closed', state_reason: 'completed' };
  if (status === 'cancelled') return { state: 'closed', state_reason: 'not_planned' };
  return { state: 'open' };
}
/**
 * The task status that GitHub's state implies for a task with status `now`. An open issue does not say whether work has
 * begun, so a task that is not closed keeps its status.
 */
function statusOfGithub(
  { state, state_reason: reason }: { state: string; state_reason?: string | null },
  now: TaskStatus,
): TaskStatus {
  if (state === 'closed') return reason === 'not_planned' || reason === 'duplicate' ? 'cancelled' : 'completed';
  return now === 'completed' || now === 'cancelled' ? 'pending' : now;
}

/**
 * The facts that must be sent to the issue.
 *
 * After an attempt without an answer, the issue may hold the value in `sending` or the value known before. So a wanted
 * value that differs from the value in `sending` is sent, even if it equals the value known before.
 *
 * `held`: true when some facts are held back, because somebody has changed them in the issue and that change is still
 * being written into the task. Sending them now would overwrite the change. When the change is not written within
 * `inboundTriedForMs`, the facts are sent after all.
 */
export function differing(
  wanted: IssueFacts,
  known: IssueKnown | undefined,
  now: Date,
): { news: Partial<IssueFacts>; held: boolean } {
  const { coming, coming_at: since, sending, ...facts } = known ?? {};
  const isComing = since ? now.getTime() - since.getTime() < inboundTriedForMs : false;
  const said = { ...facts, ...coming };
  const names = Object.keys(wanted) as (keyof IssueFacts)[];
  const isKnown = (name: keyof IssueFacts): boolean =>
    wanted[name] === said[name] && (sending?.[name] === undefined || sending[name] === wanted[name]);
  const all = names.filter((name) => !isKnown(name));
  const sent = isComing ? all.filter((name) => !(name in (coming ?? {}))) : all;
  return {
    news: Object.fromEntries(sent.map((name) => [name, wanted[name]])),
    held: sent.length < all.length,
  };
}

/**
 * The known content to store before `news` is sent to the issue. A value may have been sent without an answer before
 * another value replaces it. The earlier value then counts as known, because the issue may still report it later.
 */
export function noteOf(news: Partial<IssueFacts>, known: IssueKnown | undefined): IssueKnown {
  const unanswered = Object.entries(known?.sending ?? {}) as [keyof IssueFacts, unknown][];
  const followed = unanswered.filter(([name, value]) => name in news && news[name] !== value);
  return { ...(Object.fromEntries(followed) as Partial<IssueFacts>), sending: news };
}

/**
 * The values that the issue is known to have, and the values that are being sent to it. An event with one of these
 * values brings no news.
 */
const knownThere = (known: IssueKnown | undefined): Partial<IssueFacts>[] => [known ?? {}, known?.sending ?? {}];

/** The changed fields of a Linear issue, as an event reports them. */
export type LinearDetails = { title?: string; priority?: number; dueDate?: string | null };
type Written = Pick<TaskDetails, 'title' | 'priority'> & DueDate;

/**
 * The change of a task that a change of its Linear issue causes. Values that were sent to the issue, or received
 * before, are ignored, because Linear reports them back as events. `names`: the changed fields of the task. `facts`:
 * the changed content of the issue. `changeOf`: returns the change for a given task.
 */
export function changeByLinear(details: LinearDetails, known: IssueKnown | undefined) {
  const isNews = <F extends keyof IssueFacts>(name: F, value: IssueFacts[F]): boolean =>
    knownThere(known).every((facts) => facts[name] !== value);
  const { title, priority, dueDate } = details;
  const named = priorities.find((one) => linearPriority[one] === priority);
  const facts: Partial<IssueFacts> = {
    ...(title !== undefined && isNews('title', title) ? { title } : {}),
    ...(named !== undefined && isNews('priority', priority) ? { priority: priority! } : {}),
    ...(dueDate !== undefined && isNews('due', dueDate) ? { due: dueDate } : {}),
  };
  const names = Object.keys(facts).map((name) => (name === 'due' ? 'due_date' : name));
  const changeOf = (task: Written): Partial<Omit<Written, keyof DueDate>> & { due_date?: string | null } => ({
    ...(facts.title === undefined || facts.title === issueTitle(task)
      ? {}
      : { title: facts.title.slice(0, taskBounds.title) }),
    ...('priority' in facts ? { priority: named! } : {}),
    ...(facts.due === undefined || facts.due === (dueDay(task) ?? null) ? {} : { due_date: facts.due }),
  });
  return { names, facts, changeOf };
}

/** The current content of a Linear issue. */
export type LinearStanding = {
  title: string;
  priority: number;
  dueDate: string | null;
  state: { id: string; type: string };
};
const spaced = (title: string): string => title.trim().replace(/\s+/g, ' ');

/**
 * The change of a task that the current content of its Linear issue causes. This comparison also finds a change that
 * somebody made in Linear just before this system updated the issue. The event of such a change may arrive too late.
 * `stateId`: the id of the last known state. An issue in this state brings no new status, because a team may have no
 * state that matches the task's status.
 */
export function changeByStanding(
  { title, priority, dueDate, state }: LinearStanding,
  known: IssueKnown,
  stateId: string | undefined,
) {
  // Linear may change the blanks in a title.
  const isRenamed = knownThere(known).every((said) => said.title === undefined || spaced(said.title) !== spaced(title));
  const details = { ...(isRenamed && title.trim() !== '' ? { title } : {}), priority, dueDate };
  const { facts, changeOf } = changeByLinear(details, known);
  const status = state.id === stateId ? undefined : statusOfLinear(state.type);
  const moved = status !== undefined && knownThere(known).every((said) => said.status !== status) ? { status } : {};
  return {
    facts: { ...facts, ...moved },
    changeOf: (task: Written) => ({ ...changeOf(task), ...moved }),
  };
}

/** The backoff after each failed update of an issue, in ms; an update has one attempt more than there are waits. */
const waits: readonly number[] = [1_000, 10_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000];
export function issueWaitMs(tries: number, retryAfterMs: number | undefined): number | undefined {
  const wait = waits[tries - 1];
  return wait === undefined ? undefined : Math.max(wait, Math.min(retryAfterMs ?? 0, 3_600_000));
}

/**
 * The change of a task that the current content of its GitHub issue causes. Values that were sent to the issue, or
 * known before, are ignored.
 */
export function changeByGithub(
  issue: { title: string; state: string; state_reason?: string | null },
  known: IssueKnown | undefined,
) {
  const facts = knownThere(known);
  const moves = facts.every(({ status }) => status === undefined || githubState(status).state !== issue.state);
  const renamed = issue.title.trim() !== '' && facts.every(({ title }) => title !== issue.title);
  const changeOf = (task: Pick<TaskDetails, 'title' | 'status'>): Partial<typeof task> => ({
    ...(moves ? { status: statusOfGithub(issue, task.status) } : {}),
    ...(renamed && issue.title !== issueTitle(task) ? { title: issue.title.slice(0, taskBounds.title) } : {}),
  });
  return { moves, renamed, changeOf };
}
