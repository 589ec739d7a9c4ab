/**
 * Executes a task: one step for each integration, beside each other, each with waits of its own between its attempts. What was
 * done is in MongoDB; the waits are timers here, which operators see with the number of attempts.
 */
import { proxyActivities, setCurrentDetails, sleep, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../attributes.ts';
import { throughOutages } from '../base/options.ts';
import type { ExecutionActivities, ExecutionRef, StepLeft } from '../../activities/tasks/execution.ts';
import type { StepIntegration } from '../../models/rules/tasks/execution.ts';

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
    const result = 'What the services said: `GET /v1/orgs/{orgId}/tasks/{taskId}/result`.';
    setCurrentDetails(['| integration | attempts made |', '| --- | --- |', ...table, '', result].join('\n'));
  };
  /** Whether the step failed. */
  async function take(integration: StepIntegration): Promise<boolean> {
    for (;;) {
      const left = await advanceStep({ ...ref, integration });
      show(integration, left);
      if (left.kind === 'done') return left.failed !== undefined;
      await sleep(left.waitMs);
    }
  }
  const failed = (await Promise.all((await listSteps(ref)).map(take))).includes(true);
  await endExecution(ref);
  if (failed || rows.size > 0)
    upsertSearchAttributes([{ key: searchAttributes.status, value: failed ? 'failed' : 'completed' }]);
}

function describe(left: StepLeft): string | undefined {
  if (left.kind === 'waiting') return `${left.attempt} of ${left.attempts}`;
  return left.failed === undefined ? undefined : 'given up';
}
