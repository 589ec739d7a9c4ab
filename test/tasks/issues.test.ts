/** A task and its linked issues in other services: changes are synchronized in both directions, without loops. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { executing } from '../kit/executing.ts';
import { until, type TestOrg } from '../kit/harness.ts';
import { hmac, linearEvent, linearSecret, sendLinear } from '../kit/inbound.ts';
import { systemEnv } from '../kit/processes.ts';
import {
  githubCall,
  githubRepository,
  linearCall,
  linearStates,
  linearTeam,
  otherGithubRepository,
  type Sent,
} from '../kit/services.ts';
import { serviced, servicesEnv } from '../kit/serviced.ts';
import { defined } from '../../models/rules/base/defined.ts';

const system = serviced((services) => systemEnv('taskissues', { ...servicesEnv(services), FLEETS: 'tasks,inbound' }));
const { newOrg, call, newTask, execute, githubIssues } = executing(system, () => '');
const githubSecret = 'the secret of a webhook';
let mongo: MongoClient;
let db: Db;
let org: TestOrg;
beforeAll(async () => {
  mongo = await openClient(process.env['TEST_MONGODB_URI']!);
  db = mongo.db('taskissues');
  org = await newOrg({ slack: false });
  // The emulator sends a webhook for every change of an issue, as Linear does.
  const made = await linearCall(
    system.linear(),
    'mutation M($input: WebhookCreateInput!) { webhookCreate(input: $input) { success } }',
    { input: { url: `${system.api().url}/v1/webhooks/linear`, secret: linearSecret, resourceTypes: ['Issue'] } },
  );
  expect(made.errors).toBeUndefined();
  expect((await system.connectGithub(org, { webhook_secret: githubSecret })).status).toBe(200);
  const config = { url: `${system.api().url}/v1/webhooks/github`, secret: githubSecret, content_type: 'json' };
  await githubCall(system.github(), 'POST', `/repos/${githubRepository}/hooks`, { config, events: ['issues'] });
});
afterAll(() => mongo.close());
beforeEach(() => {
  for (const service of [system.linear(), system.github()]) service.heal();
});

const numberOf = async (taskId: string): Promise<number> => (await githubIssues(taskId))[0]!.number;
type Issue = {
  id: string;
  title: string;
  priority: number;
  dueDate: string | null;
  updatedAt: string;
  state: { id: string };
};
async function issueOf(taskId: string): Promise<Issue> {
  const { external } = (await db.collection('links').findOne({ subject_id: taskId, provider: 'linear' }))!;
  const query = 'query Q($id: String!) { issue(id: $id) { id title priority dueDate updatedAt state { id } } }';
  return (await linearCall(system.linear(), query, { id: external })).data.issue as Issue;
}
/** Changes an issue in Linear as another user. */
const changeIssue = async (id: string, input: Record<string, unknown>) => {
  const query =
    'mutation M($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }';
  expect((await linearCall(system.linear(), query, { id, input })).errors).toBeUndefined();
};
const taskOf = async (taskId: string) => (await call(org, 'GET', `/${taskId}`)).body.data;
const change = async (taskId: string, body: object) =>
  expect((await call(org, 'PUT', `/${taskId}`, body)).status).toBe(200);
async function executed(body: object = {}) {
  const { taskId, title } = await newTask(org, body);
  expect((await execute(org, taskId)).execution_status).toBe('completed');
  return { taskId, title, issue: await issueOf(taskId) };
}
/** Waits until the given number of events about the issue is processed and nothing is left to be sent. */
const quiet = (taskId: string, issueId: string, events: number) =>
  until(async () => {
    const arrived = await db
      .collection('inbound')
      .find({ lane: `linear:${issueId}` })
      .toArray();
    const task = await db.collection('tasks').findOne({ _id: taskId as never });
    const settled = arrived.filter(({ status }) => status !== 'stored');
    return settled.length >= events && settled.length === arrived.length && !task?.['pending']?.length && arrived;
  }, `${events} events to be processed`);
const changesSent = (id: string): Sent[] =>
  system
    .linear()
    .sent.filter(
      ({ body }) => body.includes('issueUpdate') && body.includes(id) && !body.startsWith('{"query":"mutation M('),
    );
const inputsOf = (id: string): Record<string, unknown>[] =>
  changesSent(id).map(
    ({ body }) => (JSON.parse(body) as { variables: { input: Record<string, unknown> } }).variables.input,
  );
const patchesOf = (number: number): Record<string, unknown>[] =>
  system
    .github()
    .sent.filter(({ path, body }) => path.endsWith(`/issues/${number}`) && body !== '')
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);
/** Waits until the issue in GitHub has these fields. */
const standsInGithub = (number: number, is: Record<string, unknown>) =>
  until(
    async () => {
      const issue = await githubCall(system.github(), 'GET', `/repos/${githubRepository}/issues/${number}`);
      return Object.entries(is).every(([name, value]) => issue[name] === value);
    },
    `issue ${number} of GitHub to have ${JSON.stringify(is)}`,
  );
/** GitHub's event of this type about the issue, once it has been processed. */
const arrived = (number: number, type: string) =>
  until(async () => {
    const found = await db.collection('inbound').find({ provider: 'github', type }).toArray();
    return found.find(({ lane, status }) => String(lane).endsWith(`#${number}`) && status !== 'stored');
  }, `${type} to be processed`);

describe('a change of a task', () => {
  it('a change of a task is sent field by field to its linked issues, and the resulting webhooks change nothing', async () => {
    const { taskId, issue } = await executed({ priority: 'low' });
    const number = await numberOf(taskId);
    await change(taskId, { title: 'Call the bank again', priority: 'urgent', due_date: '2026-12-31' });
    await until(async () => (await issueOf(taskId)).title === 'Call the bank again', 'the title there');
    expect(await issueOf(taskId)).toMatchObject({ priority: 1, dueDate: '2026-12-31' });
    expect(inputsOf(issue.id)).toEqual([{ title: 'Call the bank again', priority: 1, dueDate: '2026-12-31' }]);
    await standsInGithub(number, { title: 'Call the bank again' });
    await change(taskId, { status: 'completed' });
    await until(async () => (await issueOf(taskId)).state.id === linearStates.done, 'the state there');
    // Three events: one about the creation, and one about each of the two changes.
    await quiet(taskId, issue.id, 3);
    await arrived(number, 'issues.closed');
    expect(inputsOf(issue.id).slice(1)).toEqual([{ stateId: linearStates.done }]);
    const [first, ...more] = patchesOf(number);
    expect(first).toMatchObject({ title: 'Call the bank again', body: expect.stringContaining('Priority urgent') });
    expect(more).toEqual([{ state: 'closed', state_reason: 'completed' }]);
    const { history } = await taskOf(taskId);
    expect(history.map(({ source }: { source: string }) => source)).toEqual(['member', 'member', 'member']);
  });

  it('a change of a task that is made while its issue is being created is sent to the issue afterwards', async () => {
    const { taskId } = await newTask(org);
    const gate = Promise.withResolvers<void>();
    system.github().fault({ fits: ({ path, body }) => path.endsWith('/issues') && body !== '', until: gate.promise });
    expect((await call(org, 'POST', `/${taskId}/execute`)).status).toBe(202);
    await until(
      async () => (await db.collection('links').findOne({ subject_id: taskId, 'known.status': 'pending' })) !== null,
      'the issue in Linear',
    );
    await change(taskId, { status: 'in_progress' });
    gate.resolve();
    await until(async () => (await issueOf(taskId)).state.id === linearStates.doing, 'the state there');
  });

  it('a change of a task is sent again after an outage of the service, and changes the issue only once', async () => {
    const { taskId, issue } = await executed();
    const fits = ({ body }: Sent): boolean => body.includes('issueUpdate') && body.includes(issue.id);
    system.linear().fault({ fits, status: 502, body: {} }, { fits, lose: true });
    await change(taskId, { title: 'After the outage' });
    await until(async () => (await issueOf(taskId)).title === 'After the outage', 'the title there');
    await quiet(taskId, issue.id, 2);
    expect((await taskOf(taskId)).title).toBe('After the outage');
  });

  describe('whose response was lost', () => {
    const isMove =
      (id: string) =>
      ({ body }: Sent): boolean =>
        body.includes('issueUpdate') && body.includes(id);
    const known = (id: string, status: string) =>
      until(async () => {
        const link = await db.collection('links').findOne({ _id: `linear:${id}` as never });
        return link?.['known'].status === status && link['known'].sending === null;
      }, `${status} to be known there`);

    it('a task change whose response was lost is undone in the issue when the task is changed back before the retry', async () => {
      const { taskId, issue } = await executed();
      const number = await numberOf(taskId);
      system.linear().fault({ fits: isMove(issue.id), lose: true });
      const fits = ({ path, body }: Sent): boolean => path.endsWith(`/issues/${number}`) && body !== '';
      system.github().fault({ fits, lose: true });
      await change(taskId, { status: 'completed' });
      await until(() => Promise.resolve(patchesOf(number).length === 1), 'both to be told');
      await change(taskId, { status: 'pending' });
      await until(async () => (await issueOf(taskId)).state.id === linearStates.todo, 'the state in Linear');
      await standsInGithub(number, { state: 'open' });
      // Three events: one about the creation, and one about each of two changes.
      await quiet(taskId, issue.id, 3);
      await known(issue.id, 'pending');
      expect((await taskOf(taskId)).history.map(({ source }: { source: string }) => source)).toEqual([
        'member',
        'member',
        'member',
      ]);
    });

    it('a task change whose response was lost is recognized as our own when Linear’s webhook arrives during the next change', async () => {
      const { taskId, issue } = await executed();
      system.linear().fault({ fits: isMove(issue.id), lose: true });
      await change(taskId, { status: 'completed' });
      // Two events: one about the creation, and one about the change.
      await quiet(taskId, issue.id, 2);
      const { updatedAt } = await issueOf(taskId);
      const answered = Promise.withResolvers<void>();
      system.linear().fault({ fits: isMove(issue.id), until: answered.promise });
      await change(taskId, { status: 'in_progress' });
      await until(() => Promise.resolve(changesSent(issue.id).length === 2), 'the next move to be sent');
      const data = { id: issue.id, teamId: linearTeam.id, stateId: linearStates.done, updatedAt };
      const late = { type: 'Issue', action: 'update', data, updatedFrom: { stateId: issue.state.id } };
      const { body } = await sendLinear(system.api(), linearEvent(late));
      expect(body).toMatchObject({ received: true, repeated: false });
      await quiet(taskId, issue.id, 3);
      answered.resolve();
      await known(issue.id, 'in_progress');
      const { status, history } = await taskOf(taskId);
      expect([status, history.map(({ source }: { source: string }) => source)]).toEqual([
        'in_progress',
        ['member', 'member', 'member'],
      ]);
    });
  });

  it('a change of a task does not undo a change that is arriving from the issue at the same time', async () => {
    const { taskId, issue } = await executed();
    const link = { _id: `linear:${issue.id}` as never };
    const coming = { 'known.coming': { status: 'in_progress' }, 'known.coming_at': new Date() };
    await db.collection('links').updateOne(link, { $set: coming });
    await change(taskId, { title: 'Only this is told', status: 'completed' });
    await until(async () => (await issueOf(taskId)).title === 'Only this is told', 'the title there');
    expect(inputsOf(issue.id)).toEqual([{ title: 'Only this is told' }]);
    // The arriving change is now in the task, which has since been changed again.
    const written = { 'known.coming': null, 'known.coming_at': null, 'known.status': 'in_progress' };
    await db.collection('links').updateOne(link, { $set: written });
    await until(async () => (await issueOf(taskId)).state.id === linearStates.done, 'the state there');
    expect(inputsOf(issue.id)[1]).toEqual({ stateId: linearStates.done });
  });

  it('a change of a task keeps an earlier change in Linear whose webhook is processed later', async () => {
    const { taskId, issue } = await executed();
    const lane = `linear:${issue.id}`;
    await quiet(taskId, issue.id, 1);
    // An event that waits for a retry delays later events about the same issue.
    const standing = await db.collection('inbound').findOne({ lane });
    const held = { ...standing, _id: `inb_held_${taskId}`, keys: [taskId], status: 'stored' };
    const nextAt = new Date(Date.now() + 3_600_000);
    await db.collection('inbound').insertOne({ ...held, next_at: nextAt } as never);
    await changeIssue(issue.id, { title: 'Theirs', priority: 1, stateId: linearStates.doing });
    await change(taskId, { description: 'Ours' });
    await until(async () => (await taskOf(taskId)).title === 'Theirs', 'the title to be taken over');
    await db.collection('inbound').deleteOne({ _id: held._id as never });
    await changeIssue(issue.id, { dueDate: '2027-03-01' });
    const events = await quiet(taskId, issue.id, 3);
    expect(events.map(({ status }) => status)).not.toContain('failed');
    const { title, priority, status, history } = await taskOf(taskId);
    expect([title, priority, status]).toEqual(['Theirs', 'urgent', 'in_progress']);
    expect(history.map(({ source }: { source: string }) => source).slice(0, 3)).toEqual(['member', 'member', 'linear']);
    expect(inputsOf(issue.id)).toEqual([{ description: expect.stringContaining('Ours') }]);
    await standsInGithub(await numberOf(taskId), { title: 'Theirs' });
  });

  it('after another GitHub repository was connected, a change of a task is not sent to that repository’s issue of the same number', async () => {
    const { taskId, issue } = await executed();
    const number = await numberOf(taskId);
    const other = await system.connectGithub(org, { repository: otherGithubRepository, webhook_secret: githubSecret });
    expect(other.status).toBe(200);
    await change(taskId, { title: 'Not for the other repository' });
    await until(async () => (await issueOf(taskId)).title === 'Not for the other repository', 'the title in Linear');
    await quiet(taskId, issue.id, 2);
    expect(system.github().sent.filter(({ path }) => path.includes(`${otherGithubRepository}/issues`))).toEqual([]);
    expect((await system.connectGithub(org, { webhook_secret: githubSecret })).status).toBe(200);
    await change(taskId, { status: 'in_progress' });
    await standsInGithub(number, { title: 'Not for the other repository' });
  });

  it('members are told about a task change that a service refuses for good, and the next change is sent again', async () => {
    const { taskId, issue } = await executed();
    const number = await numberOf(taskId);
    system.github().fault({
      fits: ({ path, body }) => path.endsWith(`/issues/${number}`) && body !== '',
      status: 404,
      body: { message: 'Not Found' },
    });
    system.linear().fault({
      fits: ({ body }) => body.includes('query Issue(') && body.includes(issue.id),
      status: 403,
      body: { errors: [{ message: 'Forbidden', extensions: { code: 'FORBIDDEN' } }] },
    });
    await change(taskId, { title: 'Refused there' });
    const told = await until(async () => {
      const found = await db.collection('notifications').find({ kind: 'issue_refused', about: taskId }).toArray();
      return found.length >= 2 && found;
    }, 'the members to be told');
    expect(told.map(({ user_id, title }) => [user_id, title]).toSorted()).toEqual([
      [org.owner.userId, 'GitHub did not take the change of a task'],
      [org.owner.userId, 'Linear did not take the change of a task'],
    ]);
    for (const { body } of told) expect(body).toMatch(/^The task has changed, .* is tried again\. (GitHub|Linear) .+/);
    await change(taskId, { title: 'Taken there' });
    await until(async () => (await issueOf(taskId)).title === 'Taken there', 'the title in Linear');
    await standsInGithub(number, { title: 'Taken there' });
    expect((await taskOf(taskId)).status).toBe('pending');
  });

  it('a change of a task is not sent to an issue that has been deleted', async () => {
    const { taskId, issue } = await executed();
    await linearCall(system.linear(), 'mutation M($id: String!) { issueDelete(id: $id) { success } }', {
      id: issue.id,
    });
    await until(async () => (await taskOf(taskId)).status === 'cancelled', 'the task to be cancelled');
    const sent = changesSent(issue.id).length;
    await change(taskId, { status: 'pending', title: 'Still to be done' });
    const number = await numberOf(taskId);
    await until(() => Promise.resolve(patchesOf(number).some(({ title }) => title === 'Still to be done')), 'GitHub');
    expect(changesSent(issue.id)).toHaveLength(sent);
  });
});

describe('a change of an issue in Linear', () => {
  it.each([
    ['doing', 'in_progress'],
    ['done', 'completed'],
    ['canceled', 'cancelled'],
  ] as const)(
    'the state %s in Linear sets the task to %s, and a state that ends the task closes its GitHub issue',
    async (state, status) => {
      const { taskId, issue } = await executed();
      const number = await numberOf(taskId);
      await changeIssue(issue.id, { stateId: linearStates[state] });
      await until(async () => (await taskOf(taskId)).status === status, `the task to be ${status}`);
      await quiet(taskId, issue.id, 2);
      const { history, completed_at: at } = await taskOf(taskId);
      expect(history.at(-1)).toMatchObject({
        source: 'linear',
        changed: ['status'],
        note: expect.stringMatching(/^Moved to/),
      });
      expect(at !== null).toBe(status === 'completed');
      expect(changesSent(issue.id)).toEqual([]);
      if (status === 'in_progress') return;
      const closed = { state: 'closed', state_reason: status === 'completed' ? 'completed' : 'not_planned' };
      await standsInGithub(number, closed);
      expect(patchesOf(number)).toEqual([closed]);
    },
  );

  it('a change of title, priority and due date in Linear changes the task', async () => {
    const { taskId, issue } = await executed({ due_date: '2026-12-24' });
    await changeIssue(issue.id, { title: 'Written in Linear', priority: 1 });
    await until(async () => (await taskOf(taskId)).title === 'Written in Linear', 'the title');
    // The emulator's webhooks lack the due date, so the test sends this one.
    const data = { id: issue.id, teamId: linearTeam.id, dueDate: '2027-01-02', updatedAt: new Date().toISOString() };
    const event = { type: 'Issue', action: 'update', data, updatedFrom: { dueDate: '2026-12-24' } };
    expect((await sendLinear(system.api(), linearEvent(event))).status).toBe(200);
    await quiet(taskId, issue.id, 3);
    expect(await taskOf(taskId)).toMatchObject({ priority: 'urgent', due_date: '2027-01-02' });
    expect(changesSent(issue.id)).toEqual([]);
    // The issue's description is the task's; the title is equal in both, so it is not sent again.
    await change(taskId, { description: 'More about it.' });
    await until(() => Promise.resolve(inputsOf(issue.id).length > 0), 'the description there');
    expect(inputsOf(issue.id)).toEqual([{ description: expect.stringContaining('More about it.') }]);
  });

  it('a change in Linear of a deleted task has no effect, and its events are deleted with the task', async () => {
    const { taskId, issue } = await executed();
    expect((await call(org, 'DELETE', `/${taskId}`)).status).toBe(200);
    await changeIssue(issue.id, { stateId: linearStates.done });
    const events = await quiet(taskId, issue.id, 1);
    expect(events.at(-1)).toMatchObject({ status: 'ignored', reason: 'Nothing here is linked to this issue.' });
    for (const name of ['links', 'inbound', 'notifications', 'deliveries'])
      expect([name, await db.collection(name).countDocuments({ about: taskId })]).toEqual([name, 0]);
  });
});

describe('POST /webhooks/github', () => {
  const path = (number: number) => `/repos/${githubRepository}/issues/${number}`;

  it('a closed GitHub issue completes or cancels its task, and a reopened issue reopens the task', async () => {
    const { taskId, issue } = await executed();
    const number = await numberOf(taskId);
    for (const [change, status] of [
      [{ state: 'closed', state_reason: 'completed', title: 'Renamed in GitHub' }, 'completed'],
      [{ state: 'open' }, 'pending'],
      [{ state: 'closed', state_reason: 'not_planned' }, 'cancelled'],
    ] as const) {
      await githubCall(system.github(), 'PATCH', path(number), change);
      await until(async () => (await taskOf(taskId)).status === status, `the task to be ${status}`);
    }
    const { title, history } = await taskOf(taskId);
    expect([title, history.at(-1).source]).toEqual(['Renamed in GitHub', 'github']);
    // The change is sent to Linear, and not back to GitHub.
    await until(async () => (await issueOf(taskId)).state.id === linearStates.canceled, 'the state in Linear');
    expect((await issueOf(taskId)).title).toBe('Renamed in GitHub');
    // The test itself sent the first three requests.
    const told = patchesOf(number).slice(3);
    const by = told.length > 0 && { history: (await taskOf(taskId)).history, inLinear: inputsOf(issue.id) };
    expect({ told, by }).toEqual({ told: [], by: false });
  });

  it('a webhook of GitHub about a change that this system made itself is ignored', async () => {
    const { taskId } = await executed();
    const number = await numberOf(taskId);
    await change(taskId, { status: 'completed' });
    expect(await arrived(number, 'issues.closed')).toMatchObject({ status: 'ignored' });
    expect((await taskOf(taskId)).history).toHaveLength(2);
    expect(patchesOf(number)).toHaveLength(1);
  });

  it('a form-encoded webhook, GitHub’s default, gets 415 and the content type to choose', async () => {
    const raw = new URLSearchParams({ payload: '{"action":"closed"}' }).toString();
    const { status, body } = await system.api().request('POST', '/webhooks/github', {
      raw,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-github-event': 'issues',
        'x-hub-signature-256': `sha256=${hmac(githubSecret, raw)}`,
      },
    });
    expect([status, body.code, body.error]).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      expect.stringContaining('application/json'),
    ]);
  });

  it('a webhook of GitHub without the signature of an organization is refused with 401', async () => {
    const { taskId } = await executed();
    const number = await numberOf(taskId);
    const repository = await githubCall(system.github(), 'GET', `/repos/${githubRepository}`);
    const body = JSON.stringify({ action: 'closed', repository: { id: repository.id }, issue: { number } });
    const send = (signature: string | undefined, sent = body, delivery = `d-${number}`) =>
      system.api().request('POST', '/webhooks/github', {
        raw: sent,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'issues',
          'x-github-delivery': delivery,
          ...defined({ 'x-hub-signature-256': signature }),
        },
      });
    const right = `sha256=${hmac(githubSecret, body)}`;
    const other = JSON.stringify({ action: 'closed', repository: { id: 987_654 }, issue: { number } });
    const refused = await Promise.all([
      send(undefined),
      send(''),
      send(right.slice(0, -2)),
      send(right.toUpperCase()),
      send(`sha256=${hmac('another', body)}`),
      send(right, `${body} `),
      send(`sha256=${hmac(githubSecret, other)}`, other),
      send(`sha256=${hmac(githubSecret, '')}`, ''),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 401));
    expect((await send(right)).body).toEqual({ received: true, repeated: false });
    expect((await send(right)).body.repeated).toBe(true);
    expect((await send(right, body, 'another-delivery')).body.repeated).toBe(true);
    // The issue is still open, whatever the event says.
    expect(await arrived(number, 'issues.closed')).toMatchObject({
      status: 'ignored',
      reason: /known already/ as never,
    });
    expect((await taskOf(taskId)).status).toBe('pending');
  });
});
