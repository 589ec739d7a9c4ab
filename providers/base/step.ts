/** The interface for executing a step of a task in a connected service. */
import type { Sender } from './sender.ts';
import type { Task } from '../../models/tasks/task.ts';
import type { StepRef } from '../../models/tasks/execution.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import type { Step } from '../../models/rules/tasks/execution.ts';
import type { TaskTold } from '../../models/rules/tasks/tasktext.ts';

export type StepCall = {
  ref: StepRef;
  task: Task;
  step: Step;
  told: TaskTold;
  /** The assignee's mail address. */
  email: string | undefined;
  organization: string;
  mode: Mode;
  /** True when an earlier attempt may have succeeded, although no response arrived. */
  again: boolean;
};

export type StepSender = Sender<StepCall> & {
  /** The destination's name for members. */
  destination(call: StepCall): Promise<string>;
};
