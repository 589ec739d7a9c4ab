/**
 * Tasks executed in Linear, GitHub, Slack and by mail: each step happens once, whatever is refused or lost on the way.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { MongoClient, Db } from 'mongodb';
import PostalMime from 'postal-mime';
import { openClient, proveAddresses } from '../kit/database.ts';
import { executing, type Step } from '../kit/executing.ts';
import { startGreenMail, type GreenMail } from '../kit/greenmail.ts';
import { until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';
import { slackCall, type Fault, type Sent } from '../kit/services.ts';
import { serviced, servicesEnv } from '../kit/serviced.ts';

const mail: GreenMail = await startGreenMail(['ada@out.example']);
const system = serviced((services) =>
  systemEnv('taskexecution', {
    ...servicesEnv(services),
    SMTP_URL: `smtp://127.0.0.1:${mail.smtpPort}`,
    MAIL_FROM: 'Support <support@example.com>',
    FLEETS: 'tasks,inbound',
  }),
);
const { newOrg, call, newTask, resultOf, ended, execute, statuses, stepOf, linearIssues, githubIssues } = executing(
  system,
  () => channel,
  provenUser,
);
let mongo: MongoClient;
let db: Db;
let channel: string;
/** A live organization with all services connected. */
let org: TestOrg;
/** A member whose e-mail address is in the Slack workspace. */
let kim: TestUser;

beforeAll(async () => {
  mongo = await openClient(process.env['TEST_MONGODB_URI']!);
  db = mongo.db('taskexecution');
  const { channels } = await slackCall(system.slack(), 'conversations.list');
  channel = (channels as { id: string; name: string }[]).find(({ name }) => name === 'support')!.id;
  org = await newOrg();
  kim = await provenUser('kim@example.com');
  await system.api().join(org, 'member', kim);
});
afterAll(async () => {
  await mongo.close();
  mail.close();
});
beforeEach(() => {
  for (const service of [system.slack(), system.linear(), system.github()]) service.heal();
});

async function provenUser(email?: string): Promise<TestUser> {
  const user = await system.api().newUser(email);
  await proveAddresses(db, user);
  return user;
}
const posts = (taskId: string): Sent[] =>
  system.slack().sent.filter(({ path, body }) => path.endsWith('chat.postMessage') && body.includes(taskId));
async function messages(of: string, taskId: string): Promise<{ text: string }[]> {
  const history = await slackCall(system.slack(), 'conversations.history', { channel: of, limit: 200 });
  return (history.messages as { text: string }[]).filter(({ text }) => text.includes(taskId));
}
const lost = (path: RegExp, has: string): Fault => ({
  // Loses only requests without an id: the emulated Linear ignores ids chosen by the client.
  fits: (sent) => path.test(sent.path) && sent.body.includes(has) && !sent.body.includes('"input":{"id"'),
  lose: true,
});

describe('POST /orgs/{orgId}/tasks/{taskId}/execute', () => {
  it('executing a task creates issues in Linear and GitHub, notifies the assignee in Slack, and sends a mail', async () => {
    const details = {
      description: 'About *rates*.',
      priority: 'high',
      due_date: '2026-12-24',
      assigned_to: kim.userId,
    };
    const { taskId, title } = await newTask(org, details, {
      email_execution_enabled: true,
      assignee_email: 'ada@out.example',
    });
    const result = await execute(org, taskId);
    // An assignee outside the organization is not in Slack.
    expect(result).toEqual({
      task_id: taskId,
      execution_status: 'completed',
      executed_at: expect.any(String),
      steps: ['linear', 'github', 'slack', 'email'].map((integration) => ({
        integration,
        status: 'succeeded',
        attempts: 1,
        delivered_at: expect.any(String),
        ...(integration === 'email' ? {} : { url: expect.stringMatching(/^https?:/) }),
      })),
    });
    const [issue, ...others] = await linearIssues(taskId);
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ title, priority: 2, dueDate: '2026-12-24' });
    expect(issue!.description).toContain('About *rates*.');
    const [inGithub, ...more] = await githubIssues(taskId);
    expect(more).toEqual([]);
    expect(inGithub).toMatchObject({ title, body: expect.stringContaining('Priority high · Due 2026-12-24') });
    const task = (await call(org, 'GET', `/${taskId}`)).body.data;
    expect(task.external_links.map(({ provider }: { provider: string }) => provider).toSorted()).toEqual([
      'github',
      'linear',
    ]);
    expect(task.external_links).toContainEqual({
      provider: 'github',
      id: String(inGithub!.number),
      url: stepOf(result, 'github').url,
    });
    const [mailed, ...again] = (await mail.mailsOf('ada@out.example')).filter((text) => text.includes(taskId));
    expect(again).toEqual([]);
    expect(mailed).toMatch(/^Auto-Submitted: auto-generated/im);
    expect(mailed).toContain(`Subject: Task: ${title}`);
    expect(mailed).toContain('\r\nTo: ada@out.example\r\n');
    expect(mailed).toContain(`<${taskId}.exec_`);
  });

  it('executing a task mails an assignee outside the organization at most ten times a day, until the assignee objects', async () => {
    const own = await newOrg({ slack: false, linear: false, github: false });
    const outside = `${randomUUID()}@out.example`;
    const mailTo = async (to: string) => {
      const { taskId } = await newTask(own, {}, { assignee_email: to, email_execution_enabled: true });
      return { ...stepOf(await execute(own, taskId), 'email'), taskId };
    };
    expect((await mailTo(outside)).status).toBe('succeeded');
    const { headers, text = '' } = await PostalMime.parse((await mail.mailsOf(outside))[0]!);
    expect(text).toContain('“Test Organization” sends you this through 127.0.0.1:3000, because somebody there entered');
    const of = (name: string) => headers.find(({ key }) => key === name)?.value;
    expect(of('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const path = /^<http:\/\/127\.0\.0\.1:3000(\/v1\/mail\/objections\/[\w.-]+)>$/.exec(of('list-unsubscribe')!)![1]!;
    expect(text).toContain(`/account#mail_stop=${path.split('/').at(-1)}`);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const stopped = await system.api().request('POST', path, { raw: 'List-Unsubscribe=One-Click', headers: form });
    expect([stopped.status, stopped.body.data]).toEqual([200, { stopped: 'organization' }]);
    expect(await mailTo(outside)).toMatchObject({ status: 'failed', error: expect.stringMatching(/wants no more/) });

    const other = `${randomUUID()}@out.example`;
    const ended = [];
    for (let i = 0; i < 11; i++) ended.push((await mailTo(other)).status);
    expect(ended).toEqual([...Array.from({ length: 10 }, () => 'succeeded'), 'failed']);
    expect(await mail.mailsOf(other)).toHaveLength(10);
    expect(await mail.mailsOf(outside)).toHaveLength(1);
  });

  it('executing a task messages the assignee directly, or in the channel when the assignee is not in the workspace', async () => {
    const own = await newOrg({ linear: false, github: false });
    await system.api().join(own, 'member', kim);
    const [direct, open] = [await newTask(own, { assigned_to: kim.userId }), await newTask(own)];
    expect(statuses(await execute(own, direct.taskId))).toEqual({
      linear: 'skipped',
      github: 'skipped',
      slack: 'succeeded',
      email: 'skipped',
    });
    expect(new URLSearchParams(posts(direct.taskId)[0]!.body).get('channel')).toMatch(/^D/);
    expect(await messages(channel, direct.taskId)).toEqual([]);
    await execute(own, open.taskId);
    expect(await messages(channel, open.taskId)).toHaveLength(1);
    // An app installed before it had the scope for direct messages mentions the assignee in the channel.
    const older = await newTask(own, { assigned_to: kim.userId });
    system.slack().fault({
      fits: ({ path }) => path.endsWith('conversations.open'),
      body: { ok: false, error: 'missing_scope' },
    });
    await execute(own, older.taskId);
    expect((await messages(channel, older.taskId))[0]!.text).toMatch(/<@U[A-Z0-9]+>/);
  });

  it('after a failed execution of a task, the next execution messages the current assignee or, without one, the current channel', async () => {
    const own = await newOrg({ linear: false, github: false });
    await system.api().join(own, 'member', kim);
    const { taskId } = await newTask(own, { assigned_to: kim.userId });
    const fail = async () => {
      system.slack().fault({
        fits: ({ path }) => path.endsWith('chat.postMessage'),
        body: { ok: false, error: 'restricted_action' },
      });
      expect(stepOf(await execute(own, taskId), 'slack')).toMatchObject({ status: 'failed' });
    };
    await fail();
    // The destination stays while nothing that it depends on changes, also when Slack no longer finds the assignee.
    system.slack().fault({
      fits: ({ path }) => path.endsWith('users.lookupByEmail'),
      body: { ok: false, error: 'users_not_found' },
    });
    await fail();
    expect((await call(own, 'PUT', `/${taskId}`, { assigned_to: null })).status).toBe(200);
    await fail();
    const { channels } = await slackCall(system.slack(), 'conversations.list');
    const other = (channels as { id: string; name: string }[]).find(({ name }) => name === 'elsewhere')!.id;
    expect((await system.put(own, 'slack', { channel_id: other })).status).toBe(200);
    expect(statuses(await execute(own, taskId))).toMatchObject({ slack: 'succeeded' });
    const sentTo = posts(taskId).map(({ body }) => new URLSearchParams(body).get('channel'));
    const direct = expect.stringMatching(/^D/);
    expect(sentTo).toEqual([direct, direct, channel, other]);
    expect(await messages(other, taskId)).toHaveLength(1);
  });

  it('the execution of a task in test mode sends nothing, and stores the suppressed requests without secrets', async () => {
    const own = await newOrg({ live: false });
    const { taskId, title } = await newTask(
      own,
      {},
      { assignee_email: 'ada@out.example', email_execution_enabled: true },
    );
    const before = [system.linear(), system.github(), system.slack()].map(({ sent }) => sent.length);
    const result = await execute(own, taskId);
    expect(result.execution_status).toBe('completed');
    expect(new Set(Object.values(statuses(result)))).toEqual(new Set(['suppressed']));
    expect([system.linear(), system.github(), system.slack()].map(({ sent }) => sent.length)).toEqual(before);
    const path = `/support/outbox/orgs/${own.orgId}/deliveries`;
    const { body } = await system.api().request('GET', path, { token: own.owner.token });
    const deliveries = body.deliveries as { kind: string; status: string; request: { url: string; body: string } }[];
    expect(deliveries.map(({ kind, status }) => [kind, status]).toSorted()).toEqual(
      ['email', 'github', 'linear', 'slack'].map((kind) => [kind, 'suppressed']),
    );
    for (const { kind, request } of deliveries) {
      expect([kind, decodeURIComponent(request.body.replaceAll('+', ' '))]).toEqual([
        kind,
        expect.stringContaining(title),
      ]);
    }
    expect(JSON.stringify(deliveries)).not.toMatch(/ghp_|lin_api_|xoxb-/);
    const github = deliveries.find(({ kind }) => kind === 'github')! as unknown as { delivery_id: string };
    const again = { token: own.owner.token, body: {} };
    const refused = await system.api().request('POST', `${path}/${github.delivery_id}/redeliver`, again);
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('execute the task again')]);
    // Once the organization is live, the next execution sends what was suppressed.
    await system.api().goLive(own);
    expect(new Set(Object.values(statuses(await execute(own, taskId))))).toEqual(new Set(['succeeded']));
  });

  it('the execution of a task does nothing, and gives the reason, when no service is connected', async () => {
    const own = await newOrg({ slack: false, linear: false, github: false });
    const { taskId } = await newTask(own);
    expect(await resultOf(own, taskId)).toEqual({
      task_id: taskId,
      execution_status: 'not_started',
      steps: [],
      executed_at: null,
    });
    const { status, body } = await call(own, 'POST', `/${taskId}/execute`);
    expect([status, body.data.execution_status]).toEqual([202, 'failed']);
    expect(body.data.steps.map(({ status: one, error }: Step) => [one, error])).toEqual([
      ['skipped', 'Linear is not connected.'],
      ['skipped', 'GitHub is not connected.'],
      ['skipped', 'Slack is not connected.'],
      ['skipped', expect.stringContaining('email_execution_enabled')],
    ]);
    await call(own, 'PUT', `/${taskId}`, { status: 'cancelled' });
    expect((await call(own, 'POST', `/${taskId}/execute`)).status).toBe(409);
    expect((await call(own, 'POST', '/task_unknown/execute')).status).toBe(404);
    expect((await call(own, 'GET', '/task_unknown/result')).status).toBe(404);
  });

  it('of concurrent requests to execute a task, one starts the execution, and the others get 409', async () => {
    const { taskId } = await newTask(org);
    const gate = Promise.withResolvers<void>();
    system.github().fault({ fits: ({ path, body }) => path.endsWith('/issues') && body !== '', until: gate.promise });
    const begun = await Promise.all([1, 2, 3, 4].map(() => call(org, 'POST', `/${taskId}/execute`)));
    expect(begun.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409]);
    expect((await resultOf(org, taskId)).execution_status).toBe('running');
    gate.resolve();
    expect((await ended(org, taskId)).execution_status).toBe('completed');
    expect([(await linearIssues(taskId)).length, (await githubIssues(taskId)).length]).toEqual([1, 1]);
    expect(posts(taskId)).toHaveLength(1);
  });

  it('executing a task keeps the successful steps, and repeats only the failed ones in the next execution', async () => {
    const { taskId } = await newTask(org);
    const body = { message: 'Validation Failed' };
    system.github().fault({ fits: (sent) => sent.path.endsWith('/issues') && sent.body !== '', status: 422, body });
    const first = await execute(org, taskId);
    expect([first.execution_status, statuses(first)]).toEqual([
      'failed',
      { linear: 'succeeded', github: 'failed', slack: 'succeeded', email: 'skipped' },
    ]);
    expect(stepOf(first, 'github')).toMatchObject({ attempts: 1, error: 'GitHub says: Validation Failed' });
    const second = await execute(org, taskId);
    expect([second.execution_status, stepOf(second, 'github').attempts, stepOf(second, 'linear').attempts]).toEqual([
      'completed',
      2,
      1,
    ]);
    const third = await call(org, 'POST', `/${taskId}/execute`);
    expect([third.status, third.body.data.execution_status]).toEqual([202, 'completed']);
    expect([(await linearIssues(taskId)).length, (await githubIssues(taskId)).length]).toEqual([1, 1]);
    expect(posts(taskId)).toHaveLength(1);
  });

  it('executing a task creates nothing twice when responses are lost, and waits as long as a service requests', async () => {
    const { taskId } = await newTask(org, { assigned_to: kim.userId });
    system.linear().fault(lost(/graphql/, 'issueCreate'));
    system.github().fault(lost(/\/issues$/, taskId));
    system.slack().fault(lost(/chat\.postMessage$/, taskId));
    const limited = await newTask(org);
    const body = { message: 'You have exceeded a secondary rate limit' };
    const fits = (sent: Sent): boolean => sent.path.endsWith('/issues') && sent.body.includes(limited.taskId);
    system.github().fault({ fits, status: 429, headers: { 'retry-after': '2' }, body });
    const [result, after] = await Promise.all([execute(org, taskId), execute(org, limited.taskId)]);
    for (const { execution_status } of [result, after]) expect(execution_status).toBe('completed');
    for (const name of ['linear', 'github', 'slack'])
      expect([name, stepOf(result, name).attempts]).toEqual([name, expect.any(Number)]);
    expect(stepOf(result, 'github').attempts).toBeGreaterThan(1);
    expect(stepOf(after, 'github').attempts).toBe(2);
    for (const id of [taskId, limited.taskId])
      expect([(await linearIssues(id)).length, (await githubIssues(id)).length]).toEqual([1, 1]);
    // The message whose response was lost is not sent again.
    expect(posts(taskId)).toHaveLength(1);
  });

  it('executing a task marks the connection as broken when its token is refused, notifies the members, and ends the step', async () => {
    const own = await newOrg({ slack: false });
    const [{ taskId }, other] = [await newTask(own), await newTask(own)];
    system.github().lasting({ status: 401, body: { message: 'Bad credentials' } });
    const result = await execute(own, taskId);
    expect([result.execution_status, stepOf(result, 'github')]).toMatchObject([
      'failed',
      { status: 'failed', attempts: 1, error: 'GitHub says: Bad credentials' },
    ]);
    expect(await system.list(own, 'github')).toMatchObject([{ status: 'broken' }]);
    // The members may also have a notification about the execution.
    const broken = { org_id: own.orgId, kind: 'integration_broken' };
    const told = await db.collection('notifications').find(broken).toArray();
    expect(told).toMatchObject([{ user_id: own.owner.userId }]);
    const again = await execute(own, other.taskId);
    expect(stepOf(again, 'github')).toMatchObject({ status: 'failed', attempts: 0, error: /connected again/ as never });
    system.github().heal();
    await system.connectGithub(own);
    expect((await execute(own, taskId)).execution_status).toBe('completed');
  });

  it('the execution of a task that is deleted meanwhile ends, and creates nothing further', async () => {
    const { taskId } = await newTask(org);
    const body = { message: 'Server Error' };
    const fits = (sent: Sent): boolean => sent.path.endsWith('/issues') && sent.body.includes(taskId);
    const gate = Promise.withResolvers<void>();
    system.github().fault({ fits, status: 502, body, until: gate.promise });
    expect((await call(org, 'POST', `/${taskId}/execute`)).status).toBe(202);
    await until(async () => system.github().sent.some(fits), 'the attempt');
    expect((await call(org, 'DELETE', `/${taskId}`)).status).toBe(200);
    gate.resolve();
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    const client = new Client({ connection });
    const { execution_id: id } = (await db.collection('tasks').findOne({ _id: taskId as never }))!;
    await client.workflow.getHandle(`task:${taskId}:execution:${String(id)}`).result();
    await connection.close();
    expect(await githubIssues(taskId)).toEqual([]);
    expect((await call(org, 'GET', `/${taskId}/result`)).status).toBe(404);
  });

  it('the execution of a task can be repeated when an operator terminated its workflow', async () => {
    const { taskId } = await newTask(org);
    const fits = (sent: Sent): boolean => sent.path.endsWith('/issues') && sent.body.includes(taskId);
    system.github().fault({ fits, status: 429, headers: { 'retry-after': '600' }, body: { message: 'Later' } });
    expect((await call(org, 'POST', `/${taskId}/execute`)).status).toBe(202);
    await until(async () => system.github().sent.some(fits), 'the attempt');
    await until(async () => {
      const { linear, slack } = statuses(await resultOf(org, taskId));
      return linear === 'succeeded' && slack === 'succeeded';
    }, 'the other steps');
    expect((await call(org, 'POST', `/${taskId}/execute`)).status).toBe(409);
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    const client = new Client({ connection });
    const { execution_id: id } = (await db.collection('tasks').findOne({ _id: taskId as never }))!;
    await client.workflow.getHandle(`task:${taskId}:execution:${String(id)}`).terminate('an operator');
    await connection.close();
    expect((await execute(org, taskId)).execution_status).toBe('completed');
    expect([(await linearIssues(taskId)).length, (await githubIssues(taskId)).length]).toEqual([1, 1]);
    expect(posts(taskId)).toHaveLength(1);
  });

  it('executing a task leaves no secret in a history, log or response', async () => {
    const own = await newOrg();
    await system.connectGithub(own, { token: 'ghp_SECRET' });
    await system.connectLinear(own, { api_key: 'lin_api_SECRET' });
    const { taskId } = await newTask(own, { description: 'Nobody else is to read this.' });
    await execute(own, taskId);
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    const client = new Client({ connection });
    const { execution_id: id } = (await db.collection('tasks').findOne({ _id: taskId as never }))!;
    const history = await client.workflow.getHandle(`task:${taskId}:execution:${String(id)}`).fetchHistory();
    const text = JSON.stringify(history, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
    );
    await connection.close();
    expect(text).toContain(taskId);
    expect(text).not.toMatch(/SECRET|xoxb-|Nobody else/);
    for (const { output } of system.processes()) expect(output()).not.toMatch(/SECRET|xoxb-|lin_api_|ghp_|Nobody else/);
    expect(JSON.stringify(await resultOf(own, taskId))).not.toMatch(/SECRET|xoxb-/);
  });
});
