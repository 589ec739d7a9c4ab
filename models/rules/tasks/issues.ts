/** What a task and the issues that stand for it tell each other. Pure. */
import { inboundTriedForMs } from '../events/inbound.ts';
import { taskPriorities } from '../base/priority.ts';
import type { TaskDetails, TaskStatus } from './task.ts';
import { dueDay, issueTitle, linearPriority } from './tasktext.ts';

/** What an issue was last known to say, by what was sent there or came from there: only what differs from it is sent. */
export type IssueFacts = {
  title: string;
  text: string;
  priority?: number;
  /** A day; null for none. */
  due?: string | null;
  status: TaskStatus;
};

/**
 * What is noted of an issue beside that. `coming`: what came from there and is being written into the task, since `coming_at`.
 * `sending`: what is being sent there; Linear and GitHub tell of it as of any change.
 */
export type IssueKnown = Partial<IssueFacts> & {
  coming?: Partial<IssueFacts> | null;
  coming_at?: Date | null;
  sending?: Partial<IssueFacts> | null;
};

/** The fields of a task that an issue shows. */
const shown = ['title', 'description', 'status', 'priority', 'due_date', 'assigned_to'];
export const concernsIssues = (changed: readonly string[]): boolean => shown.some((field) => changed.includes(field));

/** The types of states that Linear's teams have, as a task's status. */
const ofLinear: Readonly<Record<string, TaskStatus>> = {
  triage: 'pending',
  backlog: 'pending',
  unstarted: 'pending',
  started: 'in_progress',
  completed: 'completed',
  canceled: 'cancelled',
  duplicate: 'cancelled',
};
/** Undefined for a type that Linear did not have when this was written. */
export const statusOfLinear = (type: string): TaskStatus | undefined => ofLinear[type];

/** The types of states that say this, the first that a team has is taken. */
export const linearTypes: Readonly<Record<TaskStatus, readonly string[]>> = {
  pending: ['unstarted', 'backlog', 'triage'],
  in_progress: ['started'],
  completed: ['completed'],
  cancelled: ['canceled'],
};

/** What GitHub knows of a status: an issue is open or closed, with or without success. */
export type GithubState = { state: 'open' | 'closed'; state_reason?: 'completed' | 'not_planned' | 'reopened' };
export function githubState(status: TaskStatus): GithubState {
  if (status === 'completed') return { state: 'closed', state_reason: 'completed' };
  if (status === 'cancelled') return { state: 'closed', state_reason: 'not_planned' };
  return { state: 'open' };
}
/** What GitHub's state means for a task that has this status. An open issue says nothing about whether it was begun. */
function statusOfGithub(
  { state, state_reason: reason }: { state: string; state_reason?: string | null },
  now: TaskStatus,
): TaskStatus {
  if (state === 'closed') return reason === 'not_planned' || reason === 'duplicate' ? 'cancelled' : 'completed';
  return now === 'completed' || now === 'cancelled' ? 'pending' : now;
}

/**
 * What of these facts is not known there. What was being sent when an attempt ended without an answer may stand there or not, so
 * another value is sent again. `held`: there is more, but the issue's own change of it is still being written into the task, and
 * would be undone; one that is not written when its event is given up is overruled.
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
 * What is noted of an issue before `news` is sent there. What an attempt sent without an answer, and is followed by another value,
 * counts as said: the issue may tell of it late.
 */
export function noteOf(news: Partial<IssueFacts>, known: IssueKnown | undefined): IssueKnown {
  const unanswered = Object.entries(known?.sending ?? {}) as [keyof IssueFacts, unknown][];
  const followed = unanswered.filter(([name, value]) => name in news && news[name] !== value);
  return { ...(Object.fromEntries(followed) as Partial<IssueFacts>), sending: news };
}

/** What an issue is known to say, and what it was just told to say: of neither it brings news. */
const knownThere = (known: IssueKnown | undefined): Partial<IssueFacts>[] => [known ?? {}, known?.sending ?? {}];

/** What somebody changed of an issue in Linear. */
export type LinearDetails = { title?: string; priority?: number; dueDate?: string | null };
type Written = Pick<TaskDetails, 'title' | 'priority' | 'due_date'>;

/**
 * What a change of an issue changes of its task. A value that was sent there, or came from there before, is no news: it comes
 * back as an event of its own. `names`: of the task's fields. `facts`: what the issue says now.
 */
export function changeByLinear(details: LinearDetails, known: IssueKnown | undefined) {
  const isNews = <F extends keyof IssueFacts>(name: F, value: IssueFacts[F]): boolean =>
    knownThere(known).every((facts) => facts[name] !== value);
  const { title, priority, dueDate } = details;
  const named = taskPriorities.find((one) => linearPriority[one] === priority);
  const facts: Partial<IssueFacts> = {
    ...(title !== undefined && isNews('title', title) ? { title } : {}),
    ...(named !== undefined && isNews('priority', priority) ? { priority: priority! } : {}),
    ...(dueDate !== undefined && isNews('due', dueDate) ? { due: dueDate } : {}),
  };
  const names = [
    ...('title' in facts ? ['title'] : []),
    ...('priority' in facts ? ['priority'] : []),
    ...('due' in facts ? ['due_date'] : []),
  ];
  const changeOf = (
    task: Written,
    maxTitle: number,
  ): Partial<Omit<Written, 'due_date'>> & { due_date?: string | null } => ({
    ...(facts.title === undefined || facts.title === issueTitle(task) ? {} : { title: facts.title.slice(0, maxTitle) }),
    ...('priority' in facts ? { priority: named! } : {}),
    ...(facts.due === undefined || facts.due === (dueDay(task.due_date) ?? null) ? {} : { due_date: facts.due }),
  });
  return { names, facts, changeOf };
}

/** How an issue of Linear stands. */
export type LinearStanding = {
  title: string;
  priority: number;
  dueDate: string | null;
  state: { id: string; type: string };
};
const spaced = (title: string): string => title.trim().replace(/\s+/g, ' ');

/**
 * What an issue, as it stands, changes of its task, beside what was just sent there. Somebody may have changed it in the moment
 * before, and the event of that is older than the answer. `stateId`: the state that it was last known to be in, since a team may
 * have none that says what the task says.
 */
export function changeByStanding(
  { title, priority, dueDate, state }: LinearStanding,
  known: IssueKnown,
  stateId: string | undefined,
) {
  // Linear may space a title in another way than it was sent.
  const isRenamed = knownThere(known).every((said) => said.title === undefined || spaced(said.title) !== spaced(title));
  const details = { ...(isRenamed && title.trim() !== '' ? { title } : {}), priority, dueDate };
  const { facts, changeOf } = changeByLinear(details, known);
  const status = state.id === stateId ? undefined : statusOfLinear(state.type);
  const moved = status !== undefined && knownThere(known).every((said) => said.status !== status) ? { status } : {};
  return {
    facts: { ...facts, ...moved },
    changeOf: (task: Written, maxTitle: number) => ({ ...changeOf(task, maxTitle), ...moved }),
  };
}

/** Waits after failed attempts to update an issue, in ms; there is none after the last one. */
const waits: readonly number[] = [1_000, 10_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000];
export function issueWaitMs(tries: number, retryAfterMs: number | undefined): number | undefined {
  const wait = waits[tries - 1];
  return wait === undefined ? undefined : Math.max(wait, Math.min(retryAfterMs ?? 0, 3_600_000));
}

/**
 * What an issue of GitHub, as it stands, changes of its task. What was sent there is no news, and neither is what was known
 * before.
 */
export function changeByGithub(
  issue: { title: string; state: string; state_reason?: string | null },
  known: IssueKnown | undefined,
) {
  const facts = knownThere(known);
  const moves = facts.every(({ status }) => status === undefined || githubState(status).state !== issue.state);
  const renamed = issue.title.trim() !== '' && facts.every(({ title }) => title !== issue.title);
  const changeOf = (task: Pick<TaskDetails, 'title' | 'status'>, maxTitle: number): Partial<typeof task> => ({
    ...(moves ? { status: statusOfGithub(issue, task.status) } : {}),
    ...(renamed && issue.title !== issueTitle(task) ? { title: issue.title.slice(0, maxTitle) } : {}),
  });
  return { moves, renamed, changeOf };
}
