/**
 * Steps of task executions that change at the same moment as their task, and whom an execution reaches: the models on a
 * real database.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { modelsIn } from '../kit/database.ts';
import { toldOf } from '../../activities/tasks/told.ts';
import { executableOf } from '../../api/tasks/execution.ts';
import { createOrganization, newOrganization } from '../../models/access/organization.ts';
import { createUser } from '../../models/access/user.ts';
import { newId } from '../../models/base/ids.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { admitToAddress } from '../../models/events/outsidemail.ts';
import { beginExecution, claimStep, endExecution, settleStep, stepOf } from '../../models/tasks/execution.ts';
import { changeTask, createTask, findTask, type Cause, type TaskChange } from '../../models/tasks/task.ts';
import { dueDay } from '../../models/rules/base/due.ts';
import { outsideRefusals, taskMailsToMemberPerDay } from '../../models/rules/events/outsidemail.ts';
import type { SenderDeps } from '../../providers/base/sender.ts';
import type { StepCall } from '../../providers/base/step.ts';
import { email as mailStep } from '../../providers/mail/step.ts';

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

it('the execution of a task mails a member at most a hundred times a day, and counts all attempts of an execution once', async () => {
  const secrets = createSecretBox([randomBytes(32)]);
  const taken: string[] = [];
  const deps = {
    secrets,
    clock: () => now,
    publicUrl: 'http://127.0.0.1:3000',
    mail: {
      server: { secure: false, host: '127.0.0.1', port: 25 },
      from: { name: 'Bank', address: 'support@bank.example' },
      replyDomain: undefined,
      outsidePerDay: 100,
    },
    mailer: {
      send: async (_route, { to }) => {
        taken.push(to.address);
        return { status: 250, reply: '250 OK' };
      },
      check: async () => undefined,
    },
  } as Partial<SenderDeps> as SenderDeps;
  const address = `${randomUUID()}@in.example`;
  for (let mails = 1; mails < taskMailsToMemberPerDay; mails += 1)
    expect(await admitToAddress('member', { orgId, address, use: newId('event') }, secrets, now)).toBeUndefined();
  const fields = { title: 'Send it', priority: 'medium', email_execution_enabled: true } as const;
  const { task } = await createTask({ ...fields, org_id: orgId, mode: 'live', created_by: member }, cause);
  const { told } = await toldOf(task);
  const mailTo = (executionId: string) => {
    const ref = { orgId, taskId: task._id, executionId, integration: 'email' } as const;
    const call = { ref, task, told, email: address, organization: 'Bank', mode: 'live', again: false } as StepCall;
    return mailStep.send(call, deps, new AbortController().signal);
  };
  await mailTo('exec_1');
  await mailTo('exec_1');
  await expect(mailTo('exec_2')).rejects.toThrow(outsideRefusals.address);
  expect(taken).toEqual([address, address]);
});

it('a task from a meeting in Los Angeles is executed with the due day there, until its due date changes', async () => {
  const fields = { title: 'Send it', priority: 'medium', email_execution_enabled: false } as const;
  const due = { due_date: '2026-12-05T01:00:00.000Z', due_day: '2026-12-04' };
  const { task } = await createTask({ ...fields, ...due, org_id: orgId, mode: 'test', created_by: member }, cause);
  const dayAfter = async (change: TaskChange) => {
    const changed = await changeTask(orgId, task._id, cause, () => change);
    return dueDay((await toldOf(changed!.task)).told);
  };
  expect(await dayAfter({ title: 'Send it at once', due_date: due.due_date })).toBe('2026-12-04');
  expect(await dayAfter({ due_date: '2026-12-06T01:00:00.000Z' })).toBe('2026-12-06');
  expect((await findTask(orgId, task._id))!.due_day).toBeUndefined();
});
