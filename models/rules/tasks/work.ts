/** What is started when a task changes, by the names that records and workflows share. Pure. */
import type { TaskEventType } from './events.ts';
import { executionWork, tasksQueue } from './execution.ts';
import { concernsIssues, issuesWork } from './issues.ts';
import type { TaskSource } from './task.ts';
import { taskAnnouncement } from '../events/announcement.ts';

/** What is started, as models/base/pending.ts takes it. */
type Work = { workflow: string; id: string; queue: string; args: unknown[]; signal?: string };

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

/** To remove what was made of a task that was removed. */
const erasureWork = (taskId: string): Work => ({
  workflow: 'eraseTask',
  id: `task:${taskId}:erase`,
  queue: tasksQueue,
  args: [{ taskId }],
});

/**
 * The work that a change asks for. Its intents are stored by the write that makes the change, so none is lost; whoever made
 * the change starts them at once.
 */
export function taskWork({ orgId, taskId, execution, linked, changed, events, removed }: TaskMove): Work[] {
  // What was changed while the issues were being made is not in them yet.
  const tellsIssues = linked && (concernsIssues(changed) || events.includes('task_executed'));
  return [
    ...(execution === undefined ? [] : [executionWork(orgId, taskId, execution)]),
    ...(tellsIssues ? [issuesWork(orgId, taskId)] : []),
    ...(events.length > 0 ? [taskAnnouncement(orgId, taskId)] : []),
    ...(removed ? [erasureWork(taskId)] : []),
  ];
}
