/** Tasks: states, limits, fields, and validation of changes. Pure. */
import { invalid, Problem } from '../base/errors.ts';
import { boolean, oneOf, optional, string, type RecordWith } from '../base/fields.ts';
import { priorities } from '../base/priority.ts';
import { extractionBounds } from '../interviews/found.ts';

export const taskStatuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** The statuses in which a task still has to be done. */
export const openStatuses: readonly TaskStatus[] = ['pending', 'in_progress'];

export const executionStatuses = ['not_started', 'running', 'completed', 'failed'] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** Whether the task was reviewed since its last change, and the result of the review. */
export const reviewStatuses = ['not_reviewed', 'needs_changes', 'ready'] as const;
export type ReviewStatus = (typeof reviewStatuses)[number];

/**
 * Who changed a task: a member, a service in which the task has an issue (`linear`, `github`), or a part of this
 * system.
 */
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

/** Maximum lengths in characters; `history` is the maximum number of history entries. */
export const taskBounds = { title: extractionBounds.title, description: 10_000, type: 60, history: 100 } as const;

/** The fields of a task that people edit. */
export const taskDetails = {
  title: string,
  description: optional(string),
  /** The user id of the assigned member. */
  assigned_to: optional(string),
  /** The address of an assignee outside the organization. */
  assignee_email: optional(string),
  priority: oneOf(priorities),
  task_type: optional(string),
  status: oneOf(taskStatuses),
  /** The due date: a day (`2026-12-01`), or a moment in UTC with milliseconds. */
  due_date: optional(string),
  /** The id of the meeting that the task belongs to. */
  session_id: optional(string),
  email_execution_enabled: boolean,
};
export type TaskDetails = RecordWith<typeof taskDetails>;

/** The fields that a review covers; changing one of them invalidates the review. */
const reviewed = ['title', 'description', 'assigned_to', 'assignee_email', 'due_date', 'priority'] as const;
export const outdatesReview = (changed: readonly string[]): boolean =>
  reviewed.some((field) => changed.includes(field));

/** Whether two versions of a task are equal in all reviewed fields. */
export const sameWords = (one: TaskDetails, other: TaskDetails): boolean =>
  reviewed.every((field) => one[field] === other[field]);

/**
 * The stored form of a due date: a day stays a day, and a moment is converted to UTC.
 * @throws Problem VALIDATION for a year before 1970 or after 2999.
 */
export function dueDateOf(given: string, path: (string | number)[]): string {
  const moment = new Date(given);
  const year = moment.getUTCFullYear();
  if (!(year >= 1970 && year < 3000)) {
    throw invalid(path, 'must lie between the years 1970 and 3000');
  }
  return given.includes('T') ? moment.toISOString() : given;
}

/** Checks that an assignee is a member. @throws Problem VALIDATION */
export function checkAssignee(userId: string | null | undefined, memberIds: readonly string[]): void {
  if (userId === undefined || userId === null || memberIds.includes(userId)) return;
  throw invalid(
    ['body', 'assigned_to'],
    'is no member of this organization; use `assignee_email` for somebody outside',
  );
}

/** Checks that a task extracted from a transcript stays linked to its meeting. @throws Problem CONFLICT */
export function checkLinking(
  { source_quote, session_id }: { source_quote?: string; session_id?: string },
  asked: string | null | undefined,
): void {
  if (source_quote === undefined || asked === undefined || asked === session_id) return;
  throw new Problem('CONFLICT', { message: 'A task that comes from a meeting stays linked to it.' });
}

/**
 * The change that removes the assignee of a reopened task, when the assignee is not a member any more and the asked
 * change names no new assignee; otherwise empty.
 */
export function takenUpAgain(
  { assigned_to }: Pick<TaskDetails, 'assigned_to'>,
  asked: { status?: TaskStatus | null | undefined; assigned_to?: string | null | undefined },
  memberIds: readonly string[],
): { assigned_to?: null } {
  const reopens = openStatuses.some((status) => status === asked.status);
  const gone = assigned_to !== undefined && !memberIds.includes(assigned_to);
  return reopens && gone && (asked.assigned_to === undefined || asked.assigned_to === assigned_to)
    ? { assigned_to: null }
    : {};
}
