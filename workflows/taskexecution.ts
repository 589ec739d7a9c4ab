/**
 * Executes a task: one step for each integration, beside each other, each with waits of its own between its attempts. What was
 * done is in MongoDB; the waits are timers here, which operators see with the last error.
 */
import { proxyActivities, setCurrentDetails, sleep, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from './attributes.ts';
import { throughOutages } from './options.ts';
import type { ExecutionActivities, ExecutionRef, StepLeft } from '../activities/tasks/execution.ts';
import type { StepIntegration } from '../models/rules/tasks/execution.ts';

const { listSteps, endExecution } = proxyActivities<ExecutionActivities>({
  ...throughOutages,
  // They read and write one record.
  startToCloseTimeout: '1 minute',
});
const { advanceStep } = proxyActivities<ExecutionActivities>({
  ...throughOutages,
  // A look at what is there, at twenty pages of 15 s each at most, and then an attempt.
  startToCloseTimeout: '6 minutes',
});

export async function taskExecution(ref: ExecutionRef): Promise<void> {
  const rows = new Map<StepIntegration, string>();
  const show = (integration: StepIntegration, left: StepLeft): void => {
    const said = describe(left);
    if (said === undefined && !rows.delete(integration)) return;
    if (said !== undefined) {
      if (rows.size === 0) upsertSearchAttributes([{ key: searchAttributes.status, value: 'retrying' }]);
      rows.set(integration, said);
    }
    const table = [...rows].map(([name, row]) => `| ${name} | ${row} |`);
    setCurrentDetails(['| integration | attempts made | last error |', '| --- | --- | --- |', ...table].join('\n'));
  };
  async function take(integration: StepIntegration): Promise<string | undefined> {
    for (;;) {
      const left = await advanceStep({ ...ref, integration });
      show(integration, left);
      if (left.kind === 'done') return left.failed;
      await sleep(left.waitMs);
    }
  }
  const failures = await Promise.all((await listSteps(ref)).map(take));
  await endExecution(ref);
  const failed = failures.filter((failure) => failure !== undefined);
  if (failed.length > 0 || rows.size > 0)
    upsertSearchAttributes([{ key: searchAttributes.status, value: failed.length > 0 ? 'failed' : 'completed' }]);
}

function describe(left: StepLeft): string | undefined {
  if (left.kind === 'waiting') return `${left.attempt} of ${left.attempts} | ${left.error}`;
  return left.failed === undefined ? undefined : `given up | ${left.failed}`;
}
