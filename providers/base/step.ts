/** A step of a task's execution, as the senders of the connected services get it. Types only. */
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
  /** The address of whoever is to do it. */
  email: string | undefined;
  organization: string;
  mode: Mode;
  /** Whether an earlier attempt may have arrived. */
  again: boolean;
};

export type StepSender = Sender<StepCall> & {
  /** Where it goes, as members see it. */
  destination(call: StepCall): Promise<string>;
};
