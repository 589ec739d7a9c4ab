/** Tasks: their states, their bounds, and what may be written into one. Pure. */
import { Problem } from '../base/errors.ts';
import { boolean, oneOf, optional, string, type RecordWith } from '../base/fields.ts';
import { taskPriorities } from '../base/priority.ts';
import { extractionBounds } from '../interviews/found.ts';

export const taskStatuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** In which a task is still to be done. */
export const openStatuses: readonly TaskStatus[] = ['pending', 'in_progress'];

export const executionStatuses = ['not_started', 'running', 'completed', 'failed'] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** Whether somebody had the task reviewed since it was last written, and what came of it. */
export const reviewStatuses = ['not_reviewed', 'needs_changes', 'ready'] as const;
export type ReviewStatus = (typeof reviewStatuses)[number];

/** Who changed a task: a member, a service that an issue of it lies with, or a part of this system. */
export const taskSources = [
  'member',
  'linear',
  'github',
  'execution',
  'extraction',
  'membership',
  'retention',
] as const;
export type TaskSource = (typeof taskSources)[number];

/** In characters, and the entries of its history that a task keeps. */
export const taskBounds = { title: extractionBounds.title, description: 10_000, type: 60, history: 100 } as const;

/** What people write into a task. */
export const taskDetails = {
  title: string,
  description: optional(string),
  /** A member's user id. */
  assigned_to: optional(string),
  /** Somebody outside the organization. */
  assignee_email: optional(string),
  priority: oneOf(taskPriorities),
  task_type: optional(string),
  status: oneOf(taskStatuses),
  /** A day (`2026-12-01`), or a moment in UTC with milliseconds. */
  due_date: optional(string),
  /** The meeting it comes from. */
  session_id: optional(string),
  email_execution_enabled: boolean,
};
export type TaskDetails = RecordWith<typeof taskDetails>;

/** What a review is about: when one of them changes, an earlier review no longer holds. */
const reviewed = ['title', 'description', 'assigned_to', 'assignee_email', 'due_date', 'priority'] as const;
export const outdatesReview = (changed: readonly string[]): boolean =>
  reviewed.some((field) => changed.includes(field));

/** Whether a review of one holds for the other. */
export const sameWords = (one: TaskDetails, other: TaskDetails): boolean =>
  reviewed.every((field) => one[field] === other[field]);

/**
 * A due date as it is stored: a day stays a day, a moment is written in UTC.
 * @throws Problem VALIDATION for a year that is none of ours.
 */
export function dueDateOf(given: string, path: (string | number)[]): string {
  const moment = new Date(given);
  const year = moment.getUTCFullYear();
  if (!(year >= 1970 && year < 3000)) {
    throw new Problem('VALIDATION', { details: [{ path, message: 'must lie between the years 1970 and 3000' }] });
  }
  return given.includes('T') ? moment.toISOString() : given;
}

/** The assignee must be one of these. @throws Problem VALIDATION */
export function checkAssignee(userId: string | null | undefined, memberIds: readonly string[]): void {
  if (userId === undefined || userId === null || memberIds.includes(userId)) return;
  const message = 'is no member of this organization; use `assignee_email` for somebody outside';
  throw new Problem('VALIDATION', { details: [{ path: ['body', 'assigned_to'], message }] });
}

/** A task that was made of a transcript stays with its meeting. @throws Problem CONFLICT */
export function checkLinking(
  { source_quote, session_id }: { source_quote?: string; session_id?: string },
  asked: string | null | undefined,
): void {
  if (source_quote === undefined || asked === undefined || asked === session_id) return;
  throw new Problem('CONFLICT', { message: 'A task that comes from a meeting stays linked to it.' });
}

/** A task that is taken up again after its assignee has left is nobody's. */
export function takenUpAgain(
  { assigned_to }: Pick<TaskDetails, 'assigned_to'>,
  asked: { status?: TaskStatus | undefined; assigned_to?: string | null | undefined },
  memberIds: readonly string[],
): { assigned_to?: null } {
  const reopens = asked.status !== undefined && openStatuses.includes(asked.status);
  const gone = assigned_to !== undefined && !memberIds.includes(assigned_to);
  return reopens && gone && (asked.assigned_to === undefined || asked.assigned_to === assigned_to)
    ? { assigned_to: null }
    : {};
}
