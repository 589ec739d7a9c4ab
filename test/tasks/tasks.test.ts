/** Tasks over HTTP: created, listed, changed and deleted, and accessible to their organization only. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
let mongo: MongoClient;
let db: Db;
let org: TestOrg;
let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  mongo = await openClient(systemEnv('shared')['MONGODB_URI']!);
  db = mongo.db();
  org = await api.newOrg();
  ada = org.owner;
  bob = await api.join(org);
});
afterAll(() => mongo.close());

const call = (method: string, path = '', body?: unknown, by = ada) =>
  api.request(method, `/orgs/${org.orgId}/tasks${path}`, { token: by.token, ...defined({ body }) });
const create = async (body: object = {}, by = ada) => {
  const reply = await call('POST', '', { title: 'Send the sheet', ...body }, by);
  expect([reply.status, reply.body.success]).toEqual([201, true]);
  return reply.body.data;
};
const stored = (id: string) => db.collection<{ _id: string }>('tasks').findOne({ _id: id });

describe('POST /orgs/{orgId}/tasks', () => {
  it('a new task has the given fields, and defaults for the others', async () => {
    const task = await create();
    expect(task).toEqual({
      task_id: expect.stringMatching(/^task_[0-9A-Z]{26}$/),
      org_id: org.orgId,
      session_id: null,
      title: 'Send the sheet',
      description: null,
      assigned_to: null,
      assignee_email: null,
      priority: 'medium',
      task_type: null,
      status: 'pending',
      due_date: null,
      source_quote: null,
      email_execution_enabled: false,
      execution_status: 'not_started',
      review_status: 'not_reviewed',
      created_by: ada.userId,
      created_at: expect.any(String),
      updated_at: task.created_at,
      completed_at: null,
      external_links: [],
      history: [{ at: task.created_at, source: 'member', actor: ada.userId, changed: [], note: null }],
    });
    const meeting = (await api.request('POST', '/meetings', { token: ada.token, body: {} })).body.data;
    const full = {
      description: 'By mail.\nTo all.',
      assigned_to: bob.userId,
      priority: 'urgent',
      task_type: 'follow-up',
      due_date: '2026-12-01',
      session_id: meeting.meeting_id,
    };
    expect(await create(full)).toMatchObject({ ...full, status: 'pending' });
    expect(await create({ due_date: '2026-12-01T10:00:00+01:00' })).toMatchObject({
      due_date: '2026-12-01T09:00:00.000Z',
    });
  });

  it('creating a task notifies its assignee', async () => {
    const { task_id } = await create({ assigned_to: bob.userId });
    const told = await until(async () => {
      const { body } = await api.request('GET', '/me/notifications', { token: bob.token });
      return body.data.notifications.find((one: { task_id: string }) => one.task_id === task_id);
    }, 'the notification');
    expect(told).toMatchObject({ kind: 'task_assigned', org_id: org.orgId, read: false });
    await until(async () => (await stored(task_id))!['unannounced' as never]['length'] === 0, 'all to be told');
  });

  it.each([
    [{ title: '' }, 'title'],
    [{ title: 'a'.repeat(301) }, 'title'],
    [{ description: 'a'.repeat(10_001) }, 'description'],
    [{ priority: 'asap' }, 'priority'],
    [{ due_date: 'tomorrow' }, 'due_date'],
    [{ due_date: '2026-02-30' }, 'due_date'],
    [{ due_date: '1815-12-10' }, 'due_date'],
    [{ due_date: '2026-12-01T10:00:00' }, 'due_date'],
    [{ assigned_to: 'usr_nobody' }, 'assigned_to'],
    [{ session_id: 'mtg_none' }, 'session_id'],
    [{ status: 'completed' }, 'status'],
    [{ unknown: 1 }, 'unknown'],
  ])('creating a task refuses %j with 400 naming the field', async (body, name) => {
    const reply = await call('POST', '', { title: 'Send the sheet', ...body });
    expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(name)]);
  });

  it('creating a task in another member’s meeting is refused like a task in an unknown meeting', async () => {
    const meeting = (await api.request('POST', '/meetings', { token: bob.token, body: {} })).body.data;
    expect((await call('POST', '', { title: 'A', session_id: meeting.meeting_id })).status).toBe(400);
  });
});

describe('a task', () => {
  it('a task is accessible to its organization only: others get 404', async () => {
    const { task_id: id } = await create();
    const other = await api.newOrg();
    const key = await api.newKey(org);
    for (const [method, body] of [['GET'], ['PUT', { title: 'Mine' }], ['DELETE']] as const) {
      const outside = await call(method, `/${id}`, body, other.owner);
      const elsewhere = await api.request(method, `/orgs/${other.orgId}/tasks/${id}`, {
        token: other.owner.token,
        ...(body ? { body } : {}),
      });
      const byKey = await api.request(method, `/orgs/${org.orgId}/tasks/${id}`, {
        token: key.token,
        ...(body ? { body } : {}),
      });
      expect([outside.status, elsewhere.status, byKey.status]).toEqual([404, 404, 401]);
    }
    expect((await call('GET', `/${id}`)).body.data.title).toBe('Send the sheet');
  });
});

describe('GET /orgs/{orgId}/tasks', () => {
  it('GET …/tasks lists the filtered tasks, newest first, in pages that stay stable', async () => {
    const mine = await api.newOrg(ada);
    const on = (method: string, path: string, body?: unknown) =>
      api.request(method, `/orgs/${mine.orgId}/tasks${path}`, { token: ada.token, ...(body ? { body } : {}) });
    const meeting = (await api.request('POST', '/meetings', { token: ada.token, body: {} })).body.data.meeting_id;
    const kinds = [{}, { assigned_to: ada.userId }, { session_id: meeting }];
    const made: { id: string; kind: number; status: string }[] = [];
    for (let n = 0; n < 9; n++) {
      const { body } = await on('POST', '', { title: `Number ${n}`, ...kinds[n % 3] });
      const status = ['pending', 'in_progress', 'completed'][Math.floor(n / 3)]!;
      if (status !== 'pending') await on('PUT', `/${body.data.task_id}`, { status });
      made.unshift({ id: body.data.task_id, kind: n % 3, status });
    }
    const removed = (await on('POST', '', { title: 'Removed', assigned_to: ada.userId, session_id: meeting })).body;
    await on('DELETE', `/${removed.data.task_id}`);
    for (const status of [undefined, 'pending', 'in_progress', 'completed', 'cancelled'])
      for (const assigned of [false, true])
        for (const linked of [false, true]) {
          const query = new URLSearchParams({
            ...(status ? { status } : {}),
            ...(assigned ? { assigned_to: ada.userId } : {}),
            ...(linked ? { session_id: meeting } : {}),
          });
          const wanted = made.filter(
            (task) =>
              (status === undefined || task.status === status) &&
              (!assigned || task.kind === 1) &&
              (!linked || task.kind === 2),
          );
          const { data } = (await on('GET', `?${query.toString()}`)).body;
          const ids = data.tasks.map(({ task_id }: { task_id: string }) => task_id);
          expect([query.toString(), ids, data.count, data.cursor]).toEqual([
            query.toString(),
            wanted.map(({ id }) => id),
            wanted.length,
            null,
          ]);
        }
    const first = (await on('GET', '?limit=4')).body.data;
    await on('POST', '', { title: 'Later' });
    const second = (await on('GET', `?limit=5&cursor=${first.cursor}`)).body.data;
    const seen = [...first.tasks, ...second.tasks].map(({ task_id }: { task_id: string }) => task_id);
    expect([seen, second.cursor]).toEqual([made.map(({ id }) => id), null]);
    // The count stays the same while paging, and is computed anew for a new list.
    expect([first.count, second.count, (await on('GET', '?limit=1')).body.data.count]).toEqual([9, 9, 10]);
    expect((await on('GET', '?cursor=nonsense')).status).toBe(400);
    expect((await on('GET', '?status=done')).status).toBe(400);
  });
});

describe('PUT /orgs/{orgId}/tasks/{taskId}', () => {
  const put = (id: string, body: object, by = ada) => call('PUT', `/${id}`, body, by);

  it('updating a task changes the given fields, keeps the others, and clears those that are null', async () => {
    const { task_id: id } = await create({ description: 'Old', due_date: '2026-12-01', assigned_to: bob.userId });
    const changed = await put(id, {
      title: 'Send both sheets',
      description: null,
      assigned_to: null,
      assignee_email: ' Eve@Example.com ',
      email_execution_enabled: true,
      status: 'in_progress',
    });
    expect([changed.status, changed.body.data]).toMatchObject([
      200,
      {
        title: 'Send both sheets',
        description: null,
        assigned_to: null,
        assignee_email: 'eve@example.com',
        email_execution_enabled: true,
        status: 'in_progress',
        due_date: '2026-12-01',
      },
    ]);
    expect((await call('GET', `/${id}`)).body.data).toEqual(changed.body.data);
    expect(changed.body.data.history.at(-1)).toMatchObject({
      source: 'member',
      actor: ada.userId,
      changed: ['title', 'description', 'assigned_to', 'assignee_email', 'status', 'email_execution_enabled'],
    });
  });

  it('updating a task with equal values changes nothing, not even the time of the last change', async () => {
    const task = await create({ due_date: '2026-12-01' });
    const same = await put(task.task_id, { title: task.title, due_date: '2026-12-01', description: null });
    expect(same.body.data).toEqual(task);
    expect((await put(task.task_id, {})).body.data).toEqual(task);
  });

  it('a completed task has its completion time until it is reopened', async () => {
    await api.request('PUT', `/orgs/${org.orgId}/webhooks`, {
      token: ada.token,
      body: { slack_webhook_url: 'https://hooks.slack.com/services/T1/B1/x' },
    });
    const { task_id: id } = await create({ title: 'Told of' });
    const done = (await put(id, { status: 'completed' })).body.data;
    expect(done.completed_at).toBe(done.updated_at);
    expect((await put(id, { status: 'completed', priority: 'low' })).body.data.completed_at).toBe(done.completed_at);
    expect((await put(id, { status: 'in_progress' })).body.data.completed_at).toBeNull();
    const told = await until(async () => {
      const found = db.collection('deliveries').find({ org_id: org.orgId, 'payload.slack.text': /“Told of”/ });
      const types = (await found.sort({ _id: 1 }).toArray()).map(({ event_type }) => event_type as string);
      return types.length === 4 && types;
    }, 'what happened to be told');
    expect(told).toEqual(['task_created', 'task_completed', 'task_updated', 'task_updated']);
  });

  it('none of several concurrent changes of a task is lost', async () => {
    const { task_id: id } = await create();
    const bodies = [
      { title: 'A' },
      { description: 'B' },
      { priority: 'high' },
      { task_type: 'C' },
      { due_date: '2026-12-01' },
      { status: 'completed' },
      { assigned_to: bob.userId },
      { assignee_email: 'eve@example.com' },
    ];
    const replies = await Promise.all(bodies.map((body) => put(id, body)));
    expect(replies.map(({ status }) => status)).toEqual(bodies.map(() => 200));
    const task = (await call('GET', `/${id}`)).body.data;
    expect(task).toMatchObject(Object.assign({}, ...bodies));
    expect(task.history).toHaveLength(bodies.length + 1);
    expect(await stored(id)).toMatchObject({ rev: bodies.length + 1 });
  });

  it.each([
    [{ status: 'done' }, 'status'],
    [{ assigned_to: 'usr_nobody' }, 'assigned_to'],
    [{ assignee_email: 'nobody' }, 'assignee_email'],
    [{ email_execution_enabled: 'yes' }, 'email_execution_enabled'],
    [{ title: null }, 'title'],
    [{ execution_status: 'completed' }, 'execution_status'],
    [{ source_quote: 'I will.' }, 'source_quote'],
  ])('updating a task refuses %j with 400 naming the field', async (body, name) => {
    const { task_id } = await create();
    const reply = await put(task_id, body);
    expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(name)]);
  });
});

describe('DELETE /orgs/{orgId}/tasks/{taskId}', () => {
  it('a deleted task leaves none of its content', async () => {
    const { task_id: id } = await create({ description: 'Secret plans', assigned_to: bob.userId });
    const removed = await call('DELETE', `/${id}`, undefined, bob);
    expect([removed.status, removed.body.data]).toEqual([200, { task_id: id, deleted: true }]);
    for (const [method, body] of [['GET'], ['PUT', { title: 'Again' }], ['DELETE']] as const)
      expect((await call(method, `/${id}`, body)).status).toBe(404);
    const left = await stored(id);
    expect(left).toMatchObject({ removed_at: expect.any(Date), expires_at: expect.any(Date) });
    expect(JSON.stringify(left)).not.toMatch(/Secret|Send|usr_.*assigned/);
  });
});
