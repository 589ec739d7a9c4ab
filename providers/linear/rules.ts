/** What events of Linear's issues mean. Pure. */

/** Whose the events of a team are. */
export const linearExternal = (teamId: string): string => `team:${teamId}`;

/** Linear says `remove`; the specification calls the same event `Issue.delete`. */
export const linearVerb = (action: string | undefined): string =>
  action === 'delete' ? 'remove' : (action ?? 'unknown');

export type IssueEvent = {
  action: string;
  issueId: string;
  /** The state that the issue is in now. */
  stateId: string | undefined;
  /** Absent where the event names it by its id alone. */
  state: { id: string; name: string; type: string } | undefined;
  /** Whether this event moved it there. */
  moves: boolean;
  updatedAt: Date | undefined;
  /** What else this event changed, as far as tasks have it. */
  details: { title?: string; priority?: number; dueDate?: string | null };
};

type Sent<T> = T | null | undefined;
type Named = { id?: Sent<string>; name?: Sent<string>; type?: Sent<string> };
/** An event of an issue, as it was sent. */
export type SentIssueEvent = {
  action: string;
  data: {
    id: string;
    stateId?: Sent<string>;
    state?: Sent<Named>;
    updatedAt?: Sent<string>;
    title?: Sent<string>;
    priority?: Sent<number>;
    /** A day. */
    dueDate?: Sent<string>;
  };
  /** The former values of what changed; some senders give all values, and some none at all. */
  updatedFrom?: Sent<Readonly<Record<string, unknown>>>;
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export function readIssueEvent({ action, data, updatedFrom }: SentIssueEvent): IssueEvent {
  const stateId = textOf(data.stateId) ?? textOf(data.state?.id);
  const type = textOf(data.state?.type);
  const updatedAt = new Date(textOf(data.updatedAt) ?? Number.NaN);
  return {
    action: linearVerb(action),
    issueId: data.id,
    // A state without an id is still one.
    stateId: stateId ?? type,
    state: type === undefined ? undefined : { id: stateId ?? type, name: textOf(data.state?.name) ?? type, type },
    moves: movesState(updatedFrom, stateId),
    details: detailsOf(data, updatedFrom ?? {}),
    updatedAt: Number.isNaN(updatedAt.getTime()) ? undefined : updatedAt,
  };
}

function detailsOf(
  data: SentIssueEvent['data'],
  before: NonNullable<SentIssueEvent['updatedFrom']>,
): IssueEvent['details'] {
  const changed = (name: 'title' | 'priority' | 'dueDate'): boolean =>
    name in before && (before[name] ?? null) !== (data[name] ?? null);
  const { title, priority, dueDate } = data;
  return {
    ...(changed('title') && title?.trim() ? { title } : {}),
    ...(changed('priority') && typeof priority === 'number' ? { priority } : {}),
    ...(changed('dueDate') && (!dueDate || isDay(dueDate)) ? { dueDate: dueDate ?? null } : {}),
  };
}
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** An event without former values may be a move. */
function movesState(updatedFrom: SentIssueEvent['updatedFrom'], stateId: string | undefined): boolean {
  if (!updatedFrom || Object.keys(updatedFrom).length === 0) return true;
  if (isRecord(updatedFrom['state'])) return textOf(updatedFrom['state']['id']) !== stateId;
  return 'stateId' in updatedFrom && updatedFrom['stateId'] !== stateId;
}

/**
 * Whether this change, or a later one, is known already: an event that is sent again may come after those of later changes, and
 * that of a change made here after the next one has begun.
 */
export const isStale = ({ updatedAt }: Pick<IssueEvent, 'updatedAt'>, seenAt: Date | undefined): boolean =>
  updatedAt !== undefined && seenAt !== undefined && updatedAt <= seenAt;
