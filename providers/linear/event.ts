import { z } from 'zod';
import { linearVerb } from './rules.ts';

export type IssueEvent = {
  action: string;
  issueId: string;
  /** The id of the issue's current state. */
  stateId: string | undefined;
  /** Missing when the event contains only the state's id. */
  state: { id: string; name: string; type: string } | undefined;
  /** Whether this event reports a status change. */
  moves: boolean;
  updatedAt: Date | undefined;
  /** The changed fields other than the state, limited to those that tasks have. */
  details: { title?: string; priority?: number; dueDate?: string | null };
};

const text = z.string().nullish();
/** The event as Linear sends it: the fields that `readIssueEvent` reads. */
export const sentIssueEvent = z.object({
  action: z.string(),
  data: z.object({
    id: z.string().min(1).max(200),
    stateId: text,
    state: z.object({ id: text, name: text, type: text }).nullish(),
    updatedAt: text,
    title: text,
    priority: z.number().nullish(),
    /** A date, `YYYY-MM-DD`. */
    dueDate: text,
  }),
  /** The previous values of the changed fields. Some events list all fields, and some list none. */
  updatedFrom: z.record(z.string(), z.unknown()).nullish(),
});
type SentIssueEvent = z.infer<typeof sentIssueEvent>;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export function readIssueEvent({ action, data, updatedFrom }: SentIssueEvent): IssueEvent {
  const stateId = textOf(data.stateId) ?? textOf(data.state?.id);
  const type = textOf(data.state?.type);
  const updatedAt = new Date(textOf(data.updatedAt) ?? Number.NaN);
  return {
    action: linearVerb(action),
    issueId: data.id,
    // A state without an id is identified by its type.
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

/**
 * Whether an event reports a status change. An event without previous values counts as a status change, because the
 * state may have changed.
 */
function movesState(updatedFrom: SentIssueEvent['updatedFrom'], stateId: string | undefined): boolean {
  if (!updatedFrom || Object.keys(updatedFrom).length === 0) return true;
  if (isRecord(updatedFrom['state'])) return textOf(updatedFrom['state']['id']) !== stateId;
  return 'stateId' in updatedFrom && updatedFrom['stateId'] !== stateId;
}

/**
 * Whether this change or a later one is already known. Events may arrive out of order, and events for this system's own
 * changes may arrive after the next change has begun.
 */
export const isStale = ({ updatedAt }: Pick<IssueEvent, 'updatedAt'>, seenAt: Date | undefined): boolean =>
  updatedAt !== undefined && seenAt !== undefined && updatedAt <= seenAt;
