/** Tasks of meetings over HTTP: extracted once, listed for the meeting's owner, and deleted with the meeting. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { Client, Connection } from '@temporalio/client';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
let mongo: MongoClient;
let db: Db;
let connection: Connection;
let org: TestOrg;
let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  const env = systemEnv('shared');
  mongo = await openClient(env['MONGODB_URI']!);
  db = mongo.db();
  connection = await Connection.connect({ address: env['TEMPORAL_ADDRESS']! });
  org = await api.newOrg();
  ada = org.owner;
  bob = await api.join(org);
});
afterAll(async () => {
  await connection.close();
  await mongo.close();
});

type Lines = readonly (readonly [speaker: string, text: string])[];
const segmentsOf = (lines: Lines, from = 0) =>
  lines.map(([speaker, text], n) => ({
    id: `s${from + n}`,
    speaker,
    text,
    timestamp: new Date(Date.UTC(2026, 10, 18, 10, 0, from + n)).toISOString(),
  }));
const meetingOf = async (lines: Lines, by = ada): Promise<string> => {
  const body = { settings: { timezone: 'Europe/Berlin' } };
  const id = (await api.request('POST', '/meetings', { token: by.token, body })).body.data.meeting_id as string;
  if (lines.length > 0) await say(id, segmentsOf(lines), by);
  return id;
};
const say = (id: string, segments: object[], by = ada) =>
  api.request('POST', `/meetings/${id}/transcript`, { token: by.token, body: { segments } });
const extract = (id: string, body: object = { org_id: org.orgId }, by = ada) =>
  api.request('POST', `/meetings/${id}/extract-tasks`, { token: by.token, body });
const tasksOf = (id: string, query = `?org_id=${org.orgId}`, by = ada) =>
  api.request('GET', `/meetings/${id}/tasks${query}`, { token: by.token });
const lines = () =>
  [
    [ada.email, 'Good morning, how are you?'],
    [bob.email, 'Fine. I already sent the invoice.'],
    [bob.email, 'I will send the budget sheet tomorrow, it is urgent.'],
    [ada.email, 'I will book the venue.'],
    [bob.email, 'Someone needs to order the flowers.'],
  ] as const;
/** The day after the meeting's start in the meeting's time zone. */
async function dayAfter(id: string): Promise<string> {
  const { started_at } = (await api.request('GET', `/meetings/${id}`, { token: ada.token })).body.data;
  const day = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin' }).format(new Date(started_at));
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

describe('POST /meetings/{sessionId}/extract-tasks', () => {
  it('tasks are extracted from promises in a meeting, with assignee, due date, priority and the quoted words', async () => {
    const id = await meetingOf(lines());
    const { status, body } = await extract(id);
    expect([status, body.data.count, body.data.created, body.data.generated_by]).toEqual([200, 2, 2, 'extractive']);
    const common = { session_id: id, org_id: org.orgId, status: 'pending', created_by: ada.userId };
    expect(body.data.tasks).toMatchObject([
      {
        ...common,
        title: 'Send the budget sheet',
        assigned_to: bob.userId,
        priority: 'urgent',
        due_date: await dayAfter(id),
        source_quote: 'I will send the budget sheet tomorrow, it is urgent.',
      },
      { ...common, title: 'Book the venue', assigned_to: ada.userId, due_date: null },
    ]);
    const possible = [{ quote: 'Someone needs to order the flowers.', speaker: bob.email, reason: 'no_owner' }];
    expect(body.data.possible).toEqual(possible);
    // Possible tasks are returned every time, and not stored.
    expect((await extract(id)).body.data).toMatchObject({ created: 0, count: 2, possible });
    const [{ task_id }] = body.data.tasks;
    const one = await api.request('GET', `/orgs/${org.orgId}/tasks/${task_id}`, { token: bob.token });
    expect(one.body.data.history).toMatchObject([{ source: 'extraction', actor: ada.userId }]);
  });

  it('extracting tasks computes due dates from the meeting’s start, or else from the time of the first segment', async () => {
    const begun = async (started_at?: string) => {
      const made = { settings: { timezone: 'Europe/Berlin' }, ...defined({ started_at }) };
      const id = (await api.request('POST', '/meetings', { token: ada.token, body: made })).body.data
        .meeting_id as string;
      // The transcript is sent in two batches, the later one first.
      await say(id, segmentsOf(lines().slice(2), 2));
      await say(id, segmentsOf(lines().slice(0, 2)));
      const { due_date } = (await extract(id)).body.data.tasks.find(({ title }: { title: string }) =>
        title.includes('budget'),
      );
      return [(await api.request('GET', `/meetings/${id}`, { token: ada.token })).body.data.started_at, due_date];
    };
    expect(await begun()).toEqual(['2026-11-18T10:00:00.000Z', '2026-11-19']);
    // In the meeting's time zone this is already the next day.
    expect(await begun('2026-03-04T23:30:00Z')).toEqual(['2026-03-04T23:30:00.000Z', '2026-03-06']);
    const ahead = { started_at: new Date(Date.now() + 2 * 86_400_000).toISOString() };
    expect((await api.request('POST', '/meetings', { token: ada.token, body: ahead })).status).toBe(400);
  });

  it('repeated or concurrent extractions create no task twice, and later segments add only new tasks', async () => {
    const id = await meetingOf(lines());
    const both = await Promise.all([extract(id), extract(id)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both[0].body.data.created + both[1].body.data.created).toBe(2);
    const first = (await tasksOf(id)).body.data;
    expect((await extract(id)).body.data).toMatchObject({ created: 0, count: 2 });
    await say(id, segmentsOf([[ada.email, 'I will call the printer.']], 9));
    expect((await extract(id)).body.data).toMatchObject({ created: 1, count: 3 });
    const then = (await tasksOf(id)).body.data;
    expect(then.tasks.slice(1)).toEqual(first.tasks);
  });

  it('a task that a member has deleted is not extracted again', async () => {
    const id = await meetingOf(lines());
    const [{ task_id }] = (await extract(id)).body.data.tasks;
    await api.request('DELETE', `/orgs/${org.orgId}/tasks/${task_id}`, { token: bob.token });
    await say(id, segmentsOf([[ada.email, 'Good bye.']], 9));
    expect((await extract(id)).body.data).toMatchObject({ created: 0, count: 1 });
  });

  it('extracting tasks keeps the tasks of organizations separate', async () => {
    const other = await api.newOrg(ada);
    const id = await meetingOf(lines());
    await extract(id);
    expect((await extract(id, { org_id: other.orgId })).body.data).toMatchObject({ created: 2 });
    // Bob is not a member of the other organization.
    const there = (await tasksOf(id, `?org_id=${other.orgId}`)).body.data;
    expect(there.tasks.map((task: { assigned_to: string | null }) => task.assigned_to)).toEqual([ada.userId, null]);
    expect((await tasksOf(id, '')).body.data.count).toBe(4);
  });

  it('extracting tasks requires a transcript, a meeting of the user, and an organization of the user', async () => {
    const empty = await extract(await meetingOf([]));
    expect([empty.status, empty.body.code]).toEqual([409, 'NO_TRANSCRIPT']);
    const id = await meetingOf(lines());
    const foreign = await api.newOrg();
    for (const reply of [
      await extract(id, { org_id: org.orgId }, bob),
      await extract('mtg_none'),
      await extract(id, { org_id: foreign.orgId }),
      await tasksOf(id, `?org_id=${foreign.orgId}`),
      await tasksOf(id, `?org_id=${org.orgId}`, bob),
    ])
      expect([reply.status, reply.body.code]).toEqual([404, 'NOT_FOUND']);
    expect((await extract(id, {})).status).toBe(400);
  });
});

describe('a task extracted from a meeting', () => {
  it('a task extracted from a meeting stays linked to its meeting: the link cannot be changed', async () => {
    const [id, other] = [await meetingOf(lines()), await meetingOf([])];
    const [{ task_id }] = (await extract(id)).body.data.tasks;
    const put = (body: object) => api.request('PUT', `/orgs/${org.orgId}/tasks/${task_id}`, { token: ada.token, body });
    expect([(await put({ session_id: other })).status, (await put({ session_id: null })).status]).toEqual([409, 409]);
    expect((await put({ session_id: id, title: 'Send both' })).body.data.title).toBe('Send both');
  });

  it('a task extracted from a meeting is deleted with its meeting, and a task written by hand stays', async () => {
    const id = await meetingOf(lines());
    await extract(id);
    const body = { title: 'By hand', session_id: id };
    const own = (await api.request('POST', `/orgs/${org.orgId}/tasks`, { token: ada.token, body })).body.data.task_id;
    expect((await api.request('DELETE', `/meetings/${id}`, { token: ada.token })).status).toBe(200);
    const left = await db.collection('tasks').find({ org_id: org.orgId, session_id: id }).toArray();
    const read = await db.collection('task_extractions').countDocuments({ session_id: id });
    expect([left, read]).toEqual([[], 0]);
    const kept = await api.request('GET', `/orgs/${org.orgId}/tasks/${own}`, { token: ada.token });
    expect(kept.body.data).toMatchObject({ title: 'By hand', session_id: null });
    expect(kept.body.data.history.at(-1)).toMatchObject({ changed: ['session_id'], note: 'Its meeting was deleted.' });
  });

  it('a task extracted from a meeting is deleted when the meeting’s workflow deletes the meeting', async () => {
    const id = await meetingOf(lines());
    await extract(id);
    const handle = new Client({ connection }).workflow.getHandle(`meeting:${id}`);
    // If the request could not start the workflow in time, the sweeper starts it.
    await until(
      () =>
        handle.describe().then(
          ({ status }) => status.name === 'RUNNING',
          () => false,
        ),
      'the workflow',
    );
    await handle.signal('remove');
    await until(async () => (await db.collection('tasks').countDocuments({ session_id: id })) === 0, 'the tasks to go');
    expect((await api.request('GET', `/meetings/${id}`, { token: ada.token })).status).toBe(404);
  });
});
