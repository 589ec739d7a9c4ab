/**
 * Executes a task: one step per integration, in parallel, each with its own backoff. The results are stored in MongoDB.
 * The waits are timers of this workflow, which operators see together with the number of attempts.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { show } from '../base/board.ts';
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
  // An attempt first searches the service for the result of an earlier attempt, in up to twenty pages that take at most
  // 15 s each. Then it sends its request.
  startToCloseTimeout: '6 minutes',
});

export async function taskExecution(ref: ExecutionRef): Promise<void> {
  const rows = new Map<StepIntegration, string>();
  const note = (integration: StepIntegration, left: StepLeft): void => {
    const said = describe(left);
    if (said === undefined && !rows.delete(integration)) return;
    if (said !== undefined) {
      rows.set(integration, said);
    }
    const table = [...rows].map(([name, row]) => `| ${name} | ${row} |`);
    show({
      status: 'retrying',
      providers: [...rows.keys()],
      can: ['Read what the services said: `GET /v1/orgs/{orgId}/tasks/{taskId}/result`.'],
      more: ['| integration | attempts made |', '| --- | --- |', ...table].join('\n'),
    });
  };
  /** Runs a step until it has succeeded or is given up. Returns whether it failed. */
  async function take(integration: StepIntegration): Promise<boolean> {
    for (;;) {
      const left = await advanceStep({ ...ref, integration });
      note(integration, left);
      if (left.kind === 'done') return left.failed !== undefined;
      await sleep(left.waitMs, { summary: `the next attempt at ${integration}` });
    }
  }
  const failed = (await Promise.all((await listSteps(ref)).map(take))).includes(true);
  await endExecution(ref);
  if (failed || rows.size > 0) show({ status: failed ? 'failed' : 'completed' });
}

function describe(left: StepLeft): string | undefined {
  if (left.kind === 'waiting') return `${left.attempt} of ${left.attempts}`;
  return left.failed === undefined ? undefined : 'given up';
}
