/** Meetings over HTTP: transcript, title, summary and settings, which only their owner can access. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { Client, Connection } from '@temporalio/client';
import { system, until, type TestUser } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
let ada: TestUser;
let bob: TestUser;
let mongo: MongoClient;
let db: Db;
let connection: Connection;
let temporal: Client;
beforeAll(async () => {
  const env = systemEnv('shared');
  mongo = await openClient(env['MONGODB_URI']!);
  db = mongo.db();
  connection = await Connection.connect({ address: env['TEMPORAL_ADDRESS']! });
  temporal = new Client({ connection });
  [ada, bob] = await Promise.all([api.newUser(), api.newUser()]);
});
afterAll(async () => {
  await connection.close();
  await mongo.close();
});

const create = async (body: object = {}, owner = ada) => {
  const reply = await api.request('POST', '/meetings', { token: owner.token, body });
  expect([reply.status, reply.body.success]).toEqual([201, true]);
  return reply.body.data;
};
const on = (method: string, id: string, path = '', body?: unknown, owner = ada) =>
  api.request(method, `/meetings/${id}${path}`, { token: owner.token, ...defined({ body }) });

const lines: [string, string][] = [
  ['Ann', 'Good morning everyone.'],
  ['Ann', 'Today we talk about the quarterly marketing budget and the hiring plan.'],
  ['Ben', 'The marketing budget is at 120,000 euros, and 80,000 are spent.'],
  ['Cara', 'The hiring plan should come first, because two engineers leave in March.'],
  ['Ann', 'We agreed that the marketing budget stays as it is.'],
  ['Ben', 'I will send the updated budget sheet by Friday.'],
  ['Assistant', 'The quarterly marketing budget was last changed in May.'],
];
const segments = lines.map(([speaker, text], index) => ({
  id: `s${index}`,
  speaker,
  text,
  timestamp: `2026-11-20T10:00:${String(index * 5).padStart(2, '0')}+01:00`,
  ...(speaker === 'Assistant' ? { is_ai: true } : {}),
}));

describe('POST /meetings', () => {
  it('POST /meetings creates an active meeting with a retention period of a year and a provisional title', async () => {
    const meeting = await create();
    expect(meeting).toMatchObject({
      meeting_id: expect.stringMatching(/^mtg_/),
      status: 'active',
      ended_at: null,
      participant_count: 0,
      has_summary: false,
      transcript: [],
      participants: [],
      ttl_days: 365,
      settings: { personality: 'supportive', participation_level: 'medium', timezone: 'UTC' },
    });
    expect(meeting.title).not.toBe('');
    expect(Date.parse(meeting.expires_at) - Date.parse(meeting.started_at)).toBe(365 * 86_400_000);
  });

  it.each([
    [{ ttl_days: 0 }, 'ttl_days'],
    [{ ttl_days: 3651 }, 'ttl_days'],
    [{ ttl_days: 1.5 }, 'ttl_days'],
    [{ title: '' }, 'title'],
    [{ settings: { personality: 'grumpy' } }, 'settings.personality'],
    [{ settings: { participation_level: 'loud' } }, 'settings.participation_level'],
    [{ settings: { timezone: 'Mars/Olympus' } }, 'settings.timezone'],
    [{ unknown: 1 }, 'unknown'],
  ])('POST /meetings refuses %j with 400 naming the field %s', async (body, name) => {
    const reply = await api.request('POST', '/meetings', { token: ada.token, body });
    expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(name)]);
  });
});

describe('a meeting', () => {
  it('a meeting is visible to its owner only: everybody else gets 404 on every route, and an empty list', async () => {
    const { meeting_id: id } = await create();
    await on('POST', id, '/transcript', { segments });
    const calls = [
      on('GET', id, '', undefined, bob),
      on('GET', id, '/summary', undefined, bob),
      on('PATCH', id, '', { title: 'Mine' }, bob),
      on('PUT', id, '/settings', { personality: 'analyst' }, bob),
      on('POST', id, '/transcript', { segments }, bob),
      on('POST', id, '/end', undefined, bob),
      on('DELETE', id, '', undefined, bob),
    ];
    for (const { status, body } of await Promise.all(calls)) expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    const { body } = await api.request('GET', '/meetings', { token: bob.token });
    expect(body.data.meetings).toEqual([]);
    expect((await on('GET', id)).body.data).toMatchObject({ status: 'active', title: 'Quarterly marketing budget' });
  });
});

describe('GET /meetings', () => {
  it('GET /meetings lists the user’s meetings, newest first, in pages that stay stable', async () => {
    const owner = await api.newUser();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await create({ title: `Number ${n}` }, owner)).meeting_id);
    const page = (query: string) => api.request('GET', `/meetings?${query}`, { token: owner.token });
    const first = (await page('limit=2')).body.data;
    await create({}, owner);
    const second = (await page(`limit=2&cursor=${first.cursor}`)).body.data;
    const third = (await page(`limit=2&cursor=${second.cursor}`)).body.data;
    const seen = [first, second, third].flatMap(({ meetings }) =>
      meetings.map((one: { meeting_id: string }) => one.meeting_id),
    );
    expect([seen, third.cursor]).toEqual([ids, null]);
    expect(first.meetings[0]).toMatchObject({ title: 'Number 4', status: 'active', has_summary: false });
    expect((await page('cursor=nonsense')).status).toBe(400);
  });
});

describe('POST /meetings/{id}/transcript', () => {
  it('a transcript has each segment once, ordered by time, however often and in whatever order segments are sent', async () => {
    const { meeting_id: id } = await create();
    const late = await on('POST', id, '/transcript', { segments: segments.slice(3) });
    expect(late.body.data).toEqual({ meeting_id: id, accepted: 4, segment_count: 4 });
    const again = await Promise.all([1, 2, 3].map(() => on('POST', id, '/transcript', { segments })));
    expect(again.map(({ status, body }) => [status, body.data.segment_count])).toEqual(again.map(() => [200, 7]));
    const changed = { segments: [{ ...segments[0]!, text: 'Something else.' }] };
    expect((await on('POST', id, '/transcript', changed)).body.data.accepted).toBe(0);
    const meeting = (await on('GET', id)).body.data;
    expect(meeting.transcript.map((one: { id: string; text: string }) => [one.id, one.text])).toEqual(
      segments.map((one) => [one.id, one.text]),
    );
    expect(meeting.transcript[0].timestamp).toBe('2026-11-20T09:00:00.000Z');
    expect(meeting.transcript.at(-1).is_ai).toBe(true);
    expect(meeting.participants).toEqual([
      { name: 'Ann', segments: 3, is_ai: false },
      { name: 'Ben', segments: 2, is_ai: false },
      { name: 'Cara', segments: 1, is_ai: false },
      { name: 'Assistant', segments: 1, is_ai: true },
    ]);
    expect([meeting.participant_count, meeting.metadata.duration_seconds]).toEqual([4, 30]);
  });

  it('a repeated transcript request sets a meeting’s start time when the process died after storing the segments', async () => {
    const { meeting_id: id } = await create();
    const { timestamp, ...rest } = segments[0]!;
    const stored = { ...rest, _id: `${id}:${rest.id}`, stream: id, at: new Date(timestamp), is_ai: false, place: '0' };
    await db.collection<{ _id: string }>('transcript_segments').insertOne(stored);
    const repeated = await on('POST', id, '/transcript', { segments: [segments[0]!] });
    expect(repeated.body.data).toEqual({ meeting_id: id, accepted: 0, segment_count: 1 });
    expect((await on('GET', id)).body.data.started_at).toBe('2026-11-20T09:00:00.000Z');
  });

  it('a transcript gives the meeting a title, unless a person set one', async () => {
    const [made, given, renamed] = [await create(), await create({ title: 'Ours' }), await create()];
    await on('PATCH', renamed.meeting_id, '', { title: '$Renamed' });
    for (const { meeting_id: id } of [made, given, renamed]) {
      await on('POST', id, '/transcript', { segments });
      await on('POST', id, '/end');
    }
    const titles = await Promise.all(
      [made, given, renamed].map(async ({ meeting_id: id }) => (await on('GET', id)).body.data.title),
    );
    expect(titles).toEqual(['Quarterly marketing budget', 'Ours', '$Renamed']);
  });

  it('adding to a transcript accepts speaker names that look like database operators', async () => {
    const { meeting_id: id } = await create();
    const odd = [
      { ...segments[0]!, speaker: '$status' },
      { ...segments[1]!, speaker: '$$ROOT', id: '$set' },
    ];
    expect((await on('POST', id, '/transcript', { segments: odd })).status).toBe(200);
    expect((await on('GET', id)).body.data.participants.map((one: { name: string }) => one.name)).toEqual([
      '$status',
      '$$ROOT',
    ]);
  });

  it('adding to a transcript refuses a batch of segments over a limit, and stores none of the segments', async () => {
    const { meeting_id: id } = await create();
    const many = (count: number, of: Partial<(typeof segments)[number]> = {}) =>
      Array.from({ length: count }, (_, n) => ({ ...segments[1]!, id: `x${n}`, ...of }));
    expect((await on('POST', id, '/transcript', { segments: many(1001) })).status).toBe(400);
    expect((await on('POST', id, '/transcript', { segments: [] })).status).toBe(400);
    expect((await on('POST', id, '/transcript', { segments: many(1, { text: 'a'.repeat(10_001) }) })).status).toBe(400);
    const crowd = many(201).map((one, n) => ({ ...one, speaker: `Speaker ${n}` }));
    expect((await on('POST', id, '/transcript', { segments: crowd })).status).toBe(413);
    expect((await on('GET', id)).body.data.metadata.segment_count).toBe(0);
    await db.collection<{ _id: string }>('meetings').updateOne({ _id: id }, { $set: { 'size.segments': 19_999 } });
    expect((await on('POST', id, '/transcript', { segments: many(2) })).body.code).toBe('TOO_LARGE');
    expect((await on('POST', id, '/transcript', { segments: many(1) })).status).toBe(200);
  });

  it('adding to a transcript refuses an impossible time with 400', async () => {
    const { meeting_id: id } = await create();
    for (const timestamp of ['yesterday', '9999-12-31T23:59:59-23:59', '2026-11-20T10:00:00'])
      expect((await on('POST', id, '/transcript', { segments: [{ ...segments[0]!, timestamp }] })).status).toBe(400);
  });
});

describe('PUT /meetings/{id}/settings', () => {
  it('saving a meeting’s settings loses no setting when several are changed at the same time', async () => {
    const changes = [
      { personality: 'analyst' },
      { participation_level: 'high' },
      { wake_word_enabled: false },
      { proactive_suggest: true },
      { timezone: 'Europe/Berlin' },
    ];
    for (let n = 0; n < 5; n += 1) {
      const { meeting_id: id } = await create();
      await Promise.all(changes.map((change) => on('PUT', id, '/settings', change)));
      const { settings } = (await on('GET', id)).body.data;
      expect([n, settings]).toEqual([n, Object.assign({}, ...changes)]);
    }
  });
  it('a meeting’s settings can be changed only while the meeting is active, and later changes get 409', async () => {
    const { meeting_id: id } = await create({ settings: { proactive_suggest: true } });
    const changed = await on('PUT', id, '/settings', { personality: 'challenger', wake_word_enabled: false });
    expect(changed.body.data.settings).toEqual({
      personality: 'challenger',
      participation_level: 'medium',
      wake_word_enabled: false,
      proactive_suggest: true,
      timezone: 'UTC',
    });
    await on('POST', id, '/end');
    expect((await on('PUT', id, '/settings', { personality: 'analyst' })).body.code).toBe('CONFLICT');
    expect((await on('PUT', id, '/settings', { personality: 'angry' })).status).toBe(400);
  });
});

describe('POST /meetings/{id}/end', () => {
  it('ending a meeting completes the meeting, and a second request keeps the first end time', async () => {
    const { meeting_id: id } = await create();
    const first = (await on('POST', id, '/end')).body.data;
    expect([first.status, Date.parse(first.ended_at) > 0]).toEqual(['completed', true]);
    expect((await on('POST', id, '/end')).body.data.ended_at).toBe(first.ended_at);
  });
});

describe('GET /meetings/{id}/summary', () => {
  it('a summary is created once for each transcript and length (short or long), and again on request', async () => {
    const { meeting_id: id } = await create();
    expect((await on('GET', id, '/summary')).body.code).toBe('NO_TRANSCRIPT');
    await on('POST', id, '/transcript', { segments });
    const first = (await on('GET', id, '/summary')).body.data;
    expect(first).toMatchObject({ mode: 'short', generated_by: 'extractive', cached: false, meeting_id: id });
    const count = first.summary.split(/[.!?]\s/).length;
    expect([count >= 4, count <= 6]).toEqual([true, true]);
    expect(first.action_items).toEqual([
      expect.stringMatching(/^Ben: Send the updated budget sheet \(by \d{4}-\d\d-\d\d\)$/),
    ]);
    const second = (await on('GET', id, '/summary?mode=short')).body.data;
    expect(second).toEqual({ ...first, cached: true });
    const long = (await on('GET', id, '/summary?mode=long')).body.data;
    expect([long.mode, long.cached, long.summary.length > first.summary.length]).toEqual(['long', false, true]);
    expect((await on('GET', id, '/summary?regenerate=true')).body.data.cached).toBe(false);
    const more = { ...segments[0]!, id: 'more', speaker: 'Dan', text: 'The launch of the shop is on 3 May.' };
    await on('POST', id, '/transcript', { segments: [more] });
    expect((await on('GET', id, '/summary')).body.data.cached).toBe(false);
    expect((await on('GET', id)).body.data.has_summary).toBe(true);
    expect((await on('GET', id, '/summary?mode=medium')).status).toBe(400);
  });
});

/** Counts what is stored of a meeting. */
async function left(id: string) {
  return {
    records: await db.collection<{ _id: string }>('meetings').countDocuments({ _id: id, removing: { $exists: false } }),
    segments: await db.collection('transcript_segments').countDocuments({ stream: id }),
  };
}

describe('DELETE /meetings/{id}', () => {
  it('deleting a meeting removes it and its transcript at once, and its stored record afterwards', async () => {
    const { meeting_id: id } = await create();
    await on('POST', id, '/transcript', { segments });
    await on('GET', id, '/summary');
    const { status, body } = await on('DELETE', id);
    expect([status, body.data]).toEqual([200, { meeting_id: id, deleted: true }]);
    expect(await left(id)).toEqual({ records: 0, segments: 0 });
    expect((await on('GET', id)).status).toBe(404);
    expect((await on('DELETE', id)).status).toBe(404);
    expect((await on('POST', id, '/transcript', { segments })).status).toBe(404);
    const record = () => db.collection<{ _id: string }>('meetings').findOne({ _id: id });
    await until(async () => (await record()) === null, 'the workflow to forget the meeting');
    expect(await left(id)).toEqual({ records: 0, segments: 0 });
  });

  it('deleting a meeting also removes segments that arrive at the same time', async () => {
    for (let n = 0; n < 5; n++) {
      const { meeting_id: id } = await create();
      const batches = [0, 2, 4].map((at) => on('POST', id, '/transcript', { segments: segments.slice(at, at + 2) }));
      const [removed, ...taken] = await Promise.all([on('DELETE', id), ...batches]);
      expect(removed.status).toBe(200);
      for (const { status } of taken) expect([200, 404]).toContain(status);
      expect(await left(id)).toEqual({ records: 0, segments: 0 });
    }
  });
});

describe('the workflow of a meeting', () => {
  it('the workflow of a meeting deletes the meeting with transcript, summaries and tasks when the retention period ends', async () => {
    const org = await api.newOrg();
    const { meeting_id: id } = await create({}, org.owner);
    const asked = (method: string, path: string, body?: unknown) => on(method, id, path, body, org.owner);
    await asked('POST', '/transcript', { segments });
    await asked('GET', '/summary');
    expect((await asked('POST', '/extract-tasks', { org_id: org.orgId })).status).toBe(200);
    const tasks = () => db.collection('tasks').countDocuments({ session_id: id });
    expect(await tasks()).toBe(1);
    // Starts the same workflow with a retention period that has already ended, because no test waits for a day.
    const handle = temporal.workflow.getHandle(`meeting:${id}`);
    // When Temporal was too slow for the request, the sweeper starts the workflow.
    const { taskQueue } = await until(() => handle.describe().catch(() => undefined), 'the workflow to be started');
    await handle.terminate();
    const ref = { owner: org.owner.userId, meetingId: id, expiresAt: new Date().toISOString() };
    await temporal.workflow.start('meeting', { workflowId: `meeting:${id}`, taskQueue, args: [ref] });
    const record = () => db.collection<{ _id: string }>('meetings').findOne({ _id: id });
    await until(async () => (await record()) === null, 'the meeting to be forgotten');
    expect([await left(id), await tasks()]).toEqual([{ records: 0, segments: 0 }, 0]);
    expect((await asked('GET', '')).status).toBe(404);
  });

  it('the workflow of a meeting waits with a timer for the end of the retention period', async () => {
    const meeting = await create({ ttl_days: 1 });
    const handle = temporal.workflow.getHandle(`meeting:${meeting.meeting_id}`);
    const timer = await until(async () => {
      const { events } = await handle.fetchHistory().catch(() => ({ events: undefined }));
      return (
        events?.find((event) => event.timerStartedEventAttributes != null)?.timerStartedEventAttributes ?? undefined
      );
    }, 'the timer');
    const seconds = Number(timer.startToFireTimeout!.seconds);
    expect(Math.abs(seconds - 86_400)).toBeLessThan(60);
  });
});
