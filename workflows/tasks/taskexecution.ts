/**
 * Executes a task: one step per integration, in parallel, each with its own backoff. The results are stored in MongoDB.
 * The waits are timers of this workflow, which operators see together with the number of attempts.
 */
import { proxyActivities, setCurrentDetails, sleep, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../attributes.ts';
import { throughOutages } from '../base/options.ts';
import type { ExecutionActivities, ExecutionRef, StepLeft } from '../../activities/tasks/execution.ts';
import type { StepIntegration } from '../../models/rules/tasks/execution.ts';

const { listSteps, endExecution } = proxyActivities<ExecutionActivities>({
  ...throughOutages,
  // The activities read and write one record each.
  startToCloseTimeout: '1 minute',
});
const { advanceStep } = proxyActivities<ExecutionActivities>({
  ...throughOutages,
  // An attempt first searches for an earlier result, in up to twenty pages of 15 s each, and then sends.
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
  /** Runs a step until it is settled. Returns whether it failed. */
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
