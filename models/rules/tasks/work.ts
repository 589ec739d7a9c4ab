/**
 * The workflows of tasks. These workflows have a queue of their own, so that slow services do not hold up other
 * workflows. Pure.
 */
import { workOf, type Work } from '../base/work.ts';
import { announceWork } from '../events/work.ts';
import type { TaskEventType } from './events.ts';
import { concernsIssues } from './issues.ts';

/** The workflow that runs an execution of a task; each execution has a workflow of its own. */
export const taskExecutionWork = (orgId: string, taskId: string, executionId: string) =>
  workOf('taskExecution', 'tasks', `task:${taskId}:execution:${executionId}`, [{ orgId, taskId, executionId }]);

/** The signal that a task with issues has changed. */
export const taskChangedSignal = 'taskChanged';

/** The workflow that updates the issues of a task after the task has changed. */
export const taskIssuesWork = (orgId: string, taskId: string) =>
  workOf('taskIssues', 'tasks', `task:${taskId}:issues`, [{ orgId, taskId }], taskChangedSignal);

/** The workflow that erases the copies of a removed task's content, such as the text of notifications. */
export const eraseTaskWork = (taskId: string) => workOf('eraseTask', 'tasks', `task:${taskId}:erase`, [{ taskId }]);

/** A change of a task that is decided but not stored yet; never the removal of a task. */
type TaskMove = {
  orgId: string;
  taskId: string;
  /** The events of the change, in the order of `taskEventTypes`. */
  events: readonly TaskEventType[];
  /** The changed fields, among those that people edit. */
  changed: readonly string[];
  /** Whether the task has issues in other services. */
  linked: boolean;
  /** The id of the execution that the change begins. */
  execution?: string;
};

/**
 * The workflows that a change requires. The intents to start these workflows are stored in the same write as the
 * change, so that no workflow is lost. The caller then starts the workflows at once.
 */
export function workOfMove({ orgId, taskId, execution, linked, changed, events }: TaskMove): Work[] {
  // The end of an execution also updates the issues, because changes made while the issues were being created are not
  // in them yet.
  const tellsIssues = linked && (concernsIssues(changed) || events.includes('task_executed'));
  return [
    ...(execution === undefined ? [] : [taskExecutionWork(orgId, taskId, execution)]),
    ...(tellsIssues ? [taskIssuesWork(orgId, taskId)] : []),
    ...(events.length > 0 ? [announceWork({ orgId, taskId })] : []),
  ];
}
