/** What is started for tasks. What is slow there holds up nothing else, on a queue of its own. Pure. */
import { workOf, type Work } from '../base/work.ts';
import { announceWork } from '../events/work.ts';
import type { TaskEventType } from './events.ts';
import { concernsIssues } from './issues.ts';
import type { TaskSource } from './task.ts';

/** Carries out an execution; each has a workflow of its own. */
export const taskExecutionWork = (orgId: string, taskId: string, executionId: string) =>
  workOf({
    workflow: 'taskExecution',
    id: `task:${taskId}:execution:${executionId}`,
    queue: 'tasks',
    args: [{ orgId, taskId, executionId }],
  });

/** A task with issues has changed. */
export const taskChangedSignal = 'taskChanged';

/** Has the issues of a task say what the task says. */
export const taskIssuesWork = (orgId: string, taskId: string) =>
  workOf({
    workflow: 'taskIssues',
    id: `task:${taskId}:issues`,
    queue: 'tasks',
    args: [{ orgId, taskId }],
    signal: taskChangedSignal,
  });

/** Removes what was made of a task that was removed. */
export const eraseTaskWork = (taskId: string) =>
  workOf({ workflow: 'eraseTask', id: `task:${taskId}:erase`, queue: 'tasks', args: [{ taskId }] });

/** A change that was decided, before it is stored. */
export type TaskMove = {
  orgId: string;
  taskId: string;
  source: TaskSource;
  /** What happened, in the order of the list of types. */
  events: readonly TaskEventType[];
  /** The fields that people write and that differ. */
  changed: readonly string[];
  /** Whether the task was removed by this. */
  removed: boolean;
  /** Whether issues of other services stand for the task. */
  linked: boolean;
  /** The execution that begins with this. */
  execution?: string;
};

/**
 * The work that a change asks for. Its intents are stored by the write that makes the change, so none is lost; whoever made
 * the change starts them at once.
 */
export function workOfMove({ orgId, taskId, execution, linked, changed, events, removed }: TaskMove): Work[] {
  // What was changed while the issues were being made is not in them yet.
  const tellsIssues = linked && (concernsIssues(changed) || events.includes('task_executed'));
  return [
    ...(execution === undefined ? [] : [taskExecutionWork(orgId, taskId, execution)]),
    ...(tellsIssues ? [taskIssuesWork(orgId, taskId)] : []),
    ...(events.length > 0 ? [announceWork({ orgId, taskId })] : []),
    ...(removed ? [eraseTaskWork(taskId)] : []),
  ];
}
