import { planSteps, type Executable, type Step, type StepIntegration } from './execution.ts';
import type { ExecutionStatus } from './task.ts';

export type Executability = {
  possible: boolean;
  /** Why the task cannot be executed; empty when it can. */
  reasons: string[];
  steps: { integration: StepIntegration; applies: boolean; reason?: string }[];
};

/** Whether executing the task now would have an effect, and which steps would be taken. */
export function executabilityOf(
  {
    status,
    execution_status,
    steps = [],
  }: { status: string; execution_status: ExecutionStatus; steps?: readonly Step[] },
  executable: Executable,
): Executability {
  const planned = planSteps(steps, executable).map(({ integration, status: step, error }) => ({
    integration,
    applies: step === 'running',
    ...(step === 'succeeded' ? { reason: 'It has succeeded already.' } : {}),
    ...(step !== 'running' && error !== undefined ? { reason: error } : {}),
  }));
  const none = planned.every(({ applies }) => !applies);
  const reasons = [
    ...(execution_status === 'running' ? ['It is being executed.'] : []),
    ...(status === 'cancelled' ? ['The task is cancelled.'] : []),
    ...(none ? planned.flatMap(({ reason }) => reason ?? []) : []),
  ];
  return { possible: reasons.length === 0, reasons, steps: planned };
}
