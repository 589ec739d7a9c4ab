/** Tests the workflows that execute a task, and that update its linked issues. */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { detailsOf } from '../storyserver.ts';
import type { IssuesLeft } from '../../../activities/tasks/issues.ts';
import type { StepLeft } from '../../../activities/tasks/execution.ts';
import type { StepIntegration } from '../../../models/rules/tasks/execution.ts';
import { taskExecution } from '../../../workflows/tasks/taskexecution.ts';
import { taskChanged, taskIssues } from '../../../workflows/tasks/taskissues.ts';

const ref = { orgId: 'org_1', taskId: 'task_1', executionId: 'exec_1' };
const { tell } = stories();
const minute = 60_000;
const waiting = (waitMs: number): StepLeft => ({
  kind: 'waiting',
  waitMs,
  attempt: 1,
  attempts: 6,
});
const done: StepLeft = { kind: 'done' };

describe('taskExecution', () => {
  it('the task execution workflow runs the steps concurrently, each with its own pauses, until each succeeded or failed', async () => {
    const left: Record<string, StepLeft[]> = {
      linear: [done],
      github: [waiting(minute), waiting(15 * minute), done],
      slack: [waiting(minute), { kind: 'done', failed: true }],
    };
    const order: string[] = [];
    const { skippedMs, calls } = await tell(taskExecution, [ref], {
      listSteps: async () => Object.keys(left) as StepIntegration[],
      advanceStep: async ({ integration }) => {
        const next = left[integration]!.shift()!;
        if (next.kind === 'done') order.push(integration);
        return next;
      },
      endExecution: async () => void order.push('end'),
    });
    expect(order).toEqual(['linear', 'slack', 'github', 'end']);
    expect(calls.filter((name) => name === 'advanceStep')).toHaveLength(6);
    expect(skippedMs).toBeGreaterThanOrEqual(16 * minute);
  });

  it('the task execution workflow ends at once when there are no steps, for example of a deleted task', async () => {
    const { calls } = await tell(taskExecution, [ref], {
      listSteps: async () => [],
      endExecution: async () => undefined,
    });
    expect(calls).toEqual(['listSteps', 'endExecution']);
  });

  it('the task execution workflow retries every activity through an outage of the database', async () => {
    const failures = { listSteps: 2, advanceStep: 3, endExecution: 2 };
    const once = (name: keyof typeof failures) => {
      if (failures[name]-- > 0) throw new Error('MongoDB is away');
    };
    const { calls } = await tell(taskExecution, [ref], {
      listSteps: async () => (once('listSteps'), ['linear']),
      advanceStep: async () => (once('advanceStep'), done),
      endExecution: async () => once('endExecution'),
    });
    expect(calls).toHaveLength(10);
  });

  it('the task execution workflow shows operators the waiting steps, and finally the steps that were given up', async () => {
    const gate = Promise.withResolvers<void>();
    let details = '';
    let last = '';
    const left: StepLeft[] = [waiting(minute), { kind: 'done', failed: true }];
    await tell(
      taskExecution,
      [ref],
      {
        listSteps: async () => ['github', 'linear'],
        advanceStep: async ({ integration }) => {
          if (integration === 'linear') await gate.promise;
          return integration === 'linear' ? done : left.shift()!;
        },
        endExecution: async () => undefined,
      },
      async (handle) => {
        while (!details.includes('1 of 6')) details = await detailsOf(handle);
        gate.resolve();
        await handle.result();
        last = await detailsOf(handle);
      },
    );
    expect(details).toContain('| github | 1 of 6 |');
    expect(details).toContain('/result`');
    expect(last).toContain('| github | given up |');
  });
});

describe('taskIssues', () => {
  it('the workflow that sends a task’s changes to its issues waits longer after each failure, and finally gives up', async () => {
    const failed: IssuesLeft = { again: true, error: 'linear' };
    const { calls, skippedMs } = await tell(taskIssues, [ref], { carryToIssues: async () => failed });
    expect(calls).toHaveLength(7);
    expect(skippedMs).toBeGreaterThanOrEqual(155 * minute);
  });

  it('a changed task is sent to its issues at once, even while their workflow waits to retry', async () => {
    const waits = Promise.withResolvers<void>();
    const left: IssuesLeft[] = [{ again: true, error: 'linear', retryAfterMs: 50 * minute }, { again: false }];
    const { calls } = await tell(
      taskIssues,
      [ref],
      {
        carryToIssues: async () => {
          waits.resolve();
          return left.shift()!;
        },
      },
      async (handle) => {
        await waits.promise;
        await handle.signal(taskChanged);
      },
    );
    expect(calls).toHaveLength(2);
  });

  it('the workflow that sends a task’s changes to its issues ends when the remaining error cannot be retried', async () => {
    const { calls } = await tell(taskIssues, [ref], { carryToIssues: async () => ({ again: false, error: 'github' }) });
    expect(calls).toEqual(['carryToIssues']);
  });
});
