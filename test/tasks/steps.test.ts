/** Steps of task executions that change at the same moment as their task: the models on a real database. */
import { expect, it } from '@jest/globals';
import { modelsIn } from '../kit/database.ts';
import { newId } from '../../models/base/ids.ts';
import { beginExecution, claimStep, endExecution, settleStep, stepOf } from '../../models/tasks/execution.ts';
import { createTask, findTask, type Cause } from '../../models/tasks/task.ts';

modelsIn('steps');

const orgId = newId('org');
const now = new Date();
const member = newId('user');
const cause: Cause = { source: 'member', actor: member, now };
const executable = { connections: { linear: 'connected' }, email_execution_enabled: false, mailable: false } as const;

it('a step that succeeds late, while the next execution begins, stays succeeded', async () => {
  for (let round = 0; round < 30; round += 1) {
    const fields = { title: 'Send it', priority: 'medium', status: 'pending', email_execution_enabled: false } as const;
    const { task } = await createTask({ ...fields, org_id: orgId, mode: 'test', created_by: member }, cause);
    const taskId = task._id;
    const begun = (await beginExecution(orgId, taskId, executable, cause))!.task;
    const ref = { orgId, taskId, executionId: begun.execution_id!, integration: 'linear' } as const;
    const late = (await claimStep(ref, stepOf(begun, 'linear')!, now))!;
    // A second attempt takes over and fails, so the execution ends before the first attempt reports its success.
    const took = new Date(now.getTime() + 1);
    await claimStep(ref, stepOf(late, 'linear')!, took);
    await settleStep(ref, took, { status: 'failed', error: 'Linear refused it.' }, took);
    await endExecution(ref, took);
    await Promise.all([
      beginExecution(orgId, taskId, executable, cause),
      settleStep(ref, now, { status: 'succeeded', url: 'https://linear.example/1' }, took),
    ]);
    expect(stepOf((await findTask(orgId, taskId))!, 'linear')).toMatchObject({ status: 'succeeded' });
  }
});
