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

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The event in a body as it was sent; undefined when it is not about an issue. */
export function readIssueEvent(body: string): IssueEvent | undefined {
  const event = JSON.parse(body) as unknown;
  if (!isRecord(event) || event['type'] !== 'Issue' || !isRecord(event['data'])) return undefined;
  const { data, updatedFrom } = event;
  const issueId = textOf(data['id']);
  if (issueId === undefined) return undefined;
  const given = isRecord(data['state']) ? data['state'] : {};
  const stateId = textOf(data['stateId']) ?? textOf(given['id']);
  const type = textOf(given['type']);
  const updatedAt = new Date(textOf(data['updatedAt']) ?? Number.NaN);
  return {
    action: linearVerb(textOf(event['action'])),
    issueId,
    // A state without an id is still one.
    stateId: stateId ?? type,
    state: type === undefined ? undefined : { id: stateId ?? type, name: textOf(given['name']) ?? type, type },
    moves: movesState(updatedFrom, stateId),
    details: detailsOf(data, updatedFrom),
    updatedAt: Number.isNaN(updatedAt.getTime()) ? undefined : updatedAt,
  };
}

function detailsOf(data: Record<string, unknown>, updatedFrom: unknown): IssueEvent['details'] {
  const before = isRecord(updatedFrom) ? updatedFrom : {};
  const changed = (name: string): boolean => name in before && (before[name] ?? null) !== (data[name] ?? null);
  const { title, priority, dueDate = null } = data;
  return {
    ...(changed('title') && typeof title === 'string' && title.trim() !== '' ? { title } : {}),
    ...(changed('priority') && typeof priority === 'number' ? { priority } : {}),
    ...(changed('dueDate') && (dueDate === null || isDay(dueDate)) ? { dueDate } : {}),
  };
}
const isDay = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);

/** `updatedFrom` has the former values of what changed; some senders give all values, and some none at all. */
function movesState(updatedFrom: unknown, stateId: string | undefined): boolean {
  if (!isRecord(updatedFrom) || Object.keys(updatedFrom).length === 0) return true;
  if (isRecord(updatedFrom['state'])) return textOf(updatedFrom['state']['id']) !== stateId;
  return 'stateId' in updatedFrom && updatedFrom['stateId'] !== stateId;
}

/**
 * Whether this change, or a later one, is known already: an event that is sent again may come after those of later changes, and
 * that of a change made here after the next one has begun.
 */
export const isStale = ({ updatedAt }: Pick<IssueEvent, 'updatedAt'>, seenAt: Date | undefined): boolean =>
  updatedAt !== undefined && seenAt !== undefined && updatedAt <= seenAt;
