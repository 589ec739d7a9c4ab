/** The interface for sending a task's changes to its issue in another service. */
import type { Starter } from './handled.ts';
import type { SenderDeps } from './sender.ts';
import type { Link } from '../../models/events/link.ts';
import type { Task } from '../../models/tasks/task.ts';
import type { IssueKnown } from '../../models/rules/tasks/issues.ts';
import type { TaskTold } from '../../models/rules/tasks/tasktext.ts';

export type IssueDeps = SenderDeps & Starter;

export type Carrying = {
  link: Link;
  known: IssueKnown | undefined;
  task: Task;
  told: TaskTold;
  deps: IssueDeps;
  signal: AbortSignal;
};

/**
 * Sends a task's changes to its issue. Returns true when some changes are held back for a later call. @throws
 * DeliveryRefused
 */
export type Carry = (carrying: Carrying) => Promise<boolean>;
