/**
 * Steps of task executions that change at the same moment as their task, and whom an execution reaches: the models on a
 * real database.
 */
import { expect, it } from '@jest/globals';
import { modelsIn } from '../kit/database.ts';
import { toldOf } from '../../activities/tasks/told.ts';
import { executableOf } from '../../api/tasks/execution.ts';
import { createOrganization, newOrganization } from '../../models/access/organization.ts';
import { createUser } from '../../models/access/user.ts';
import { newId } from '../../models/base/ids.ts';
import { beginExecution, claimStep, endExecution, settleStep, stepOf } from '../../models/tasks/execution.ts';
import { createTask, findTask, type Cause } from '../../models/tasks/task.ts';

modelsIn('steps');

const orgId = newId('org');
const now = new Date();
const member = newId('user');
const cause: Cause = { source: 'member', actor: member, now };
const executable = { connections: { linear: 'connected' }, email_execution_enabled: false, mailable: false } as const;

it('a step that reports its success late, while the next execution of the task begins, stays succeeded', async () => {
  for (let round = 0; round < 30; round += 1) {
    const fields = { title: 'Send it', priority: 'medium', email_execution_enabled: false } as const;
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

it('the execution of a task uses the assignee’s name and account address only while the assignee is a member', async () => {
  const [own, staying, left] = [newId('org'), newId('user'), newId('user')];
  await createOrganization(newOrganization(own, 'Bank', staying, now));
  for (const _id of [staying, left])
    await createUser({
      _id,
      email: `${_id}@example.com`.toLowerCase(),
      email_verified: true,
      name: `Name of ${_id}`,
      identities: [],
      epoch: 0,
      created_at: now,
    });
  const fields = { title: 'Send it', priority: 'medium', email_execution_enabled: true } as const;
  const reached = async (more: { assigned_to: string; assignee_email?: string }) => {
    const created = await createTask({ ...fields, ...more, org_id: own, mode: 'test', created_by: staying }, cause);
    const task = { ...created.task, status: 'completed' as const };
    const [{ told, email }, { mailable }] = await Promise.all([toldOf(task), executableOf(task)]);
    return { assignee: told.assignee, email, mailable };
  };
  expect(await reached({ assigned_to: staying })).toEqual({
    assignee: `Name of ${staying}`,
    email: `${staying}@example.com`.toLowerCase(),
    mailable: true,
  });
  expect(await reached({ assigned_to: left })).toEqual({ assignee: undefined, email: undefined, mailable: false });
  expect(await reached({ assigned_to: left, assignee_email: 'eve@out.example' })).toEqual({
    assignee: undefined,
    email: 'eve@out.example',
    mailable: true,
  });
});
