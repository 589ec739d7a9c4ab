/** Maps a change of a task to the events that are announced. Pure. */
import { taskDetails, type ExecutionStatus, type TaskDetails } from './task.ts';

const taskEventTypes = ['task_created', 'task_assigned', 'task_updated', 'task_completed', 'task_executed'] as const;
export type TaskEventType = (typeof taskEventTypes)[number];

export type TaskFacts = Readonly<TaskDetails> & { readonly execution_status: ExecutionStatus };

/** The fields that people edit and that differ between the two versions of a task. */
export const changedFields = (before: TaskFacts, after: TaskFacts): (keyof TaskDetails)[] =>
  (Object.keys(taskDetails) as (keyof TaskDetails)[]).filter((field) => before[field] !== after[field]);

/**
 * The events of a change. A new assignee and the completion have events of their own; `task_updated` is any other
 * change, including the removal of the assignee. For a new task, `before` is undefined.
 */
export function taskEvents(before: TaskFacts | undefined, after: TaskFacts): TaskEventType[] {
  const assigned = after.assigned_to !== undefined && after.assigned_to !== before?.assigned_to;
  const completed = after.status === 'completed' && before?.status !== 'completed';
  const executed =
    before?.execution_status === 'running' &&
    (after.execution_status === 'completed' || after.execution_status === 'failed');
  const others = before
    ? changedFields(before, after).filter(
        (field) => !(field === 'assigned_to' && assigned) && !(field === 'status' && completed),
      )
    : [];
  return [
    ...(before ? [] : (['task_created'] as const)),
    ...(assigned ? (['task_assigned'] as const) : []),
    ...(others.length > 0 ? (['task_updated'] as const) : []),
    ...(completed ? (['task_completed'] as const) : []),
    ...(executed ? (['task_executed'] as const) : []),
  ];
}
