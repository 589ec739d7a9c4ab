/** How what a task says reaches an issue that stands for it. Types only. */
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

/** Tells an issue what changed. Whether there is more to tell than could be told now. @throws DeliveryRefused */
export type Carry = (carrying: Carrying) => Promise<boolean>;
