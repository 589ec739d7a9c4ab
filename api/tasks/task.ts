/** Tasks as members see them, and how members change them. */
import { startSaved, type Starter } from '../../workflows/start.ts';
import { afterPlace } from '../http/cursor.ts';
import { findMeeting } from '../../models/interviews/meeting.ts';
import { findTask, TaskModel, type Cause, type Changed, type Task } from '../../models/tasks/task.ts';
import { invalid, noSuch, sought } from '../../models/rules/base/errors.ts';

/** @throws Problem NOT_FOUND */
export const foundTask = (orgId: string, taskId: string): Promise<Task> => sought(findTask(orgId, taskId), 'task');

export const viewTask = (task: Task) => ({ ...task, task_id: task._id });

/**
 * A position in a list: the last task of the previous page, and the number of all tasks. The tasks are counted only for
 * the first page, because there may be 100,000.
 */
export const placeOf = (id: string, count: number): string => `${id}:${count}`;
export function placeAfter(cursor: string | undefined): { id: string; count: number } | undefined {
  const place = afterPlace(cursor, /^task_[0-9A-Z]{26}:\d{1,9}$/);
  if (place === undefined) return undefined;
  const [id, count] = place.split(':') as [string, string];
  return { id, count: Number(count) };
}

export const byMember = (actor: string, now: Date): Cause => ({ source: 'member', actor, now });

/**
 * Starts the workflows that a change needs, and returns the task. @throws Problem NOT_FOUND when nothing was changed.
 */
export async function carriedOut(ctx: Starter, changed: Changed | null): Promise<Task> {
  if (!changed) throw noSuch('task');
  await startSaved(ctx, TaskModel, changed.task, changed.intents);
  return changed.task;
}

/**
 * A member may link a task only to a meeting of their own, because nobody else may know of a meeting. @throws Problem
 * VALIDATION
 */
export async function checkSession(userId: string, sessionId: string | null | undefined): Promise<void> {
  if (sessionId === undefined || sessionId === null || (await findMeeting(userId, sessionId))) return;
  throw invalid(['body', 'session_id'], 'is no meeting of yours');
}

type Optional<T> = { [F in keyof T]-?: undefined extends T[F] ? F : never }[keyof T];
type Present<T> = Omit<T, Optional<T>> & { [F in Optional<T>]?: NonNullable<T[F]> };

/** The fields that have a value; null counts as absent. */
export const present = <T extends object>(given: T): Present<T> =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  ) as unknown as Present<T>;
