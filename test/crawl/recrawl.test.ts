/**
 * Sites that are crawled on a schedule: the Temporal Schedule follows its record through crashes, races and removal.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Client, Connection, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import { newCrawler } from '../kit/crawling.ts';
import { sharedDatabase, openClient } from '../kit/database.ts';
import { apiAt, system, until, type Api, type TestOrg } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { page, sitesOfTest } from '../kit/sites.ts';
import { maxSchedules } from '../../models/rules/crawl/recrawl.ts';

const shared = system();
const db = sharedDatabase();
let temporal: Client;
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
  temporal = new Client({ connection });
});
afterAll(() => connection.close());

const siteOf = sitesOfTest();
/** The schedules created by a test. A leftover one would fire for a site that no longer exists. */
const made: string[] = [];
afterEach(async () => {
  await Promise.all(
    made.splice(0).map((id) =>
      scheduleOf(id)
        .delete()
        .catch(() => undefined),
    ),
  );
});

type At = { api: Api; org: TestOrg; token: string };
let here: At;
beforeEach(async () => {
  const org = await shared.newOrg();
  here = { api: shared, org, token: (await shared.newKey(org)).token };
});

const scheduleOf = (id: string) => temporal.schedule.getHandle(`recrawl:${id}`);
const call = ({ api, org, token }: At, method: string, path: string, body?: object) =>
  api.request(method, `/orgs/${org.orgId}/crawl${path}`, { token, ...(body ? { body } : {}) });
async function start(url: string, options: object, at: At = here) {
  const reply = await call(at, 'POST', '', { url, options });
  if (reply.body.schedule) made.push(reply.body.schedule.schedule_id);
  return reply;
}
const list = async (at: At = here) => (await call(at, 'GET', '/schedules')).body;
const ended = (crawlId: string, at: At = here) =>
  until(async () => {
    const { status } = (await call(at, 'GET', '/status')).body;
    return status.crawl_id === crawlId && status.status !== 'crawling' && status;
  }, `crawl ${crawlId} to end`);
/** Starts a crawl with a schedule, and waits for its end and for the Temporal Schedule. */
async function scheduled(url: string, options: object = {}, at: At = here) {
  const { status, body } = await start(url, { every_hours: 6, ...options }, at);
  expect([status, body.error]).toEqual([202, undefined]);
  const crawl = await ended(body.crawl_id, at);
  await until(async () => (await described(body.schedule.schedule_id)) !== undefined, 'the Temporal Schedule');
  return { crawl, schedule: body.schedule, id: body.schedule.schedule_id as string };
}
const described = (id: string) =>
  scheduleOf(id)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof ScheduleNotFoundError) return undefined;
      throw error;
    });
/** Fires the schedule now; returns its record once `seen` holds. */
async function fire(
  id: string,
  seen: (schedule: { last_crawl_id: string | null; last_skipped?: { at: string; reason: string } }) => boolean,
  at: At = here,
) {
  // Temporal skips a firing that comes before the previous one has ended.
  await until(async () => (await described(id))?.info.runningActions.length === 0, 'the firing before to end');
  await scheduleOf(id).trigger();
  return until(async () => {
    const schedule = (await list(at)).schedules.find((one: { schedule_id: string }) => one.schedule_id === id);
    return seen(schedule) && schedule;
  }, 'the firing to be noted');
}
const hour = 3_600_000;

describe('POST /crawl with every_hours', () => {
  it('POST /crawl with every_hours starts a crawl, lists the schedule, and creates a Temporal Schedule with that interval', async () => {
    const site = await siteOf({ '/': page('Wren', 'The wren account has no fee whatsoever.') });
    const { crawl, schedule, id } = await scheduled(`${site.url}#top`, { max_pages: 20, segments: ['Retail'] });
    expect(crawl).toMatchObject({ status: 'completed', pages_processed: 1 });
    const expected = {
      schedule_id: expect.stringMatching(/^sched_[0-9A-Z]{26}$/),
      org_id: here.org.orgId,
      mode: 'test',
      url: `${site.url}/`,
      every_hours: 6,
      max_pages: 20,
      segments: ['retail'],
      created_at: expect.any(String),
      next_crawl_at: expect.any(String),
      last_crawl_id: null,
    };
    expect(schedule).toEqual(expected);
    expect(await list()).toEqual({ schedules: [expected], count: 1, cursor: null });

    const { spec, policies, info, action } = await scheduleOf(id).describe();
    expect(spec.intervals).toEqual([{ every: 6 * hour, offset: expect.any(Number) }]);
    expect(info.nextActionTimes[0]?.toISOString()).toBe(schedule.next_crawl_at);
    expect(policies).toMatchObject({ overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: hour });
    expect(action).toMatchObject({ workflowType: 'recrawlSite', args: [{ orgId: here.org.orgId, scheduleId: id }] });
  });

  it('a new schedule for the same URL replaces the existing schedule, and omitted settings are cleared', async () => {
    const site = await siteOf({ '/': page('Linnet', 'The linnet loan is for young people.') });
    const { id, schedule } = await scheduled(site.url, { segments: ['young'], authority: 'primary' });
    const again = await start(`${site.url}/?utm_source=x`, { every_hours: 12, max_pages: 5 });
    expect(again.status).toBe(202);
    expect(again.body.schedule).toMatchObject({
      schedule_id: id,
      every_hours: 12,
      max_pages: 5,
      created_at: schedule.created_at,
    });
    expect(again.body.schedule.segments ?? again.body.schedule.authority).toBeUndefined();
    expect(await list()).toMatchObject({ schedules: [{ schedule_id: id, every_hours: 12 }], count: 1 });
    const { info } = await until(async () => {
      const now = await described(id);
      return now?.spec.intervals?.[0]?.every === 12 * hour && now;
    }, 'the interval to change');
    expect(info.nextActionTimes[0]?.toISOString()).toBe(again.body.schedule.next_crawl_at);
    await ended(again.body.crawl_id);

    // Another crawl without a schedule keeps the existing one.
    const plain = await start(site.url, {});
    expect([plain.status, plain.body.schedule]).toEqual([202, undefined]);
    expect((await list()).schedules).toMatchObject([{ schedule_id: id, every_hours: 12 }]);
    await ended(plain.body.crawl_id);
  });

  it('a schedule with an invalid interval or with `replace` is refused, and a refused crawl leaves no schedule', async () => {
    for (const options of [
      { every_hours: 0 },
      { every_hours: 721 },
      { every_hours: 1.5 },
      { every_hours: '6' },
      { every_hours: 6, replace: true },
    ]) {
      const { status, body } = await start('https://a.example/', options);
      expect([options, status, body.code]).toEqual([options, 400, 'VALIDATION']);
    }
    const waiting: (() => void)[] = [];
    const site = await siteOf({
      '/': (_, response) =>
        void waiting.push(() =>
          response.writeHead(200, { 'content-type': 'text/html' }).end(page('A', 'The twite is slow.')),
        ),
    });
    const first = await start(site.url, {});
    expect(first.status).toBe(202);
    const second = await start(site.url, { every_hours: 6 });
    expect([second.status, second.body.code]).toEqual([409, 'CRAWL_RUNNING']);
    expect(await list()).toEqual({ schedules: [], count: 0, cursor: null });
    await until(async () => waiting.length > 0, 'the page to be asked for');
    for (const answer of waiting) answer();
    await ended(first.body.crawl_id);
  });

  it(`when ${maxSchedules} sites have a schedule, a schedule for a further site is refused, and existing schedules can still be changed`, async () => {
    const records = Array.from({ length: maxSchedules }, (_, i) => ({
      _id: `sched_${String(i).padStart(26, '0')}${here.org.orgId.slice(4)}`,
      org_id: here.org.orgId,
      mode: 'test',
      url: `https://site-${i}.example/`,
      active: true,
      every_hours: 24,
      max_pages: 50,
      anchor_at: new Date(),
      version: 1,
      created_by: 'test',
      created_at: new Date(),
    }));
    const recrawls = db().collection<{ _id: string }>('recrawls');
    await recrawls.insertMany(records);
    const site = await siteOf({ '/': page('Serin', 'The serin is one too many.') });
    const { status, body } = await start(site.url, { every_hours: 6 });
    expect([status, body.code, body.error]).toEqual([409, 'CONFLICT', expect.stringContaining(`${maxSchedules}`)]);
    expect((await call(here, 'GET', '/status')).body.status.status).toBe('idle');
    expect(site.hits.size).toBe(0);

    await recrawls.updateOne({ _id: records[0]!._id }, { $set: { url: `${site.url}/` } });
    const changed = await start(site.url, { every_hours: 6 });
    expect([changed.status, changed.body.schedule?.schedule_id]).toEqual([202, records[0]!._id]);
    await ended(changed.body.crawl_id);
    const live = await shared.request('GET', `/orgs/${here.org.orgId}/crawl/schedules?mode=live`, {
      token: here.org.owner.token,
    });
    expect(live.body.count).toBe(0);
  });
});

describe('the firing of a schedule', () => {
  it('the firing of a schedule crawls the site as a request does, without indexing unchanged pages again', async () => {
    const site = await siteOf({
      '/': page('Bunting', 'The bunting branch is on the market square.', ['/hours']),
      '/hours': page('Hours', 'The bunting branch opens at eight.'),
    });
    const { crawl, id } = await scheduled(site.url, { max_pages: 10 });
    site.pages['/hours'] = page('Hours', 'The bunting branch opens at seven.');
    const { last_crawl_id } = await fire(id, ({ last_crawl_id }) => last_crawl_id !== null);
    expect(last_crawl_id).not.toBe(crawl.crawl_id);
    expect(await ended(last_crawl_id)).toMatchObject({
      status: 'completed',
      url: `${site.url}/`,
      pages_processed: 2,
      pages_unchanged: 1,
    });
    const record = await db().collection<{ _id: string }>('crawls').findOne({ _id: last_crawl_id });
    expect(record).toMatchObject({ started_by: id, max_pages: 10, replace: false, mode: 'test' });
    expect(await temporal.workflow.getHandle(`crawl:${last_crawl_id}`).result()).toBe('completed');
    const answer = await shared.request('POST', `/orgs/${here.org.orgId}/kb/query`, {
      token: here.token,
      body: { query: 'When does the bunting branch open?' },
    });
    expect(answer.body.answer).toContain('seven');
  });

  it('a schedule that fires while its crawl runs starts no second crawl, and reports the skip until its next crawl', async () => {
    let slow = false;
    const waiting: (() => void)[] = [];
    const site = await siteOf({
      '/': (_, response) => {
        const answer = () =>
          void response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(page('Crake', 'The crake is heard at night and seldom seen.'));
        if (slow) waiting.push(answer);
        else answer();
      },
    });
    const { id } = await scheduled(site.url);
    slow = true;
    const { last_crawl_id: running } = await fire(id, ({ last_crawl_id }) => last_crawl_id !== null);
    await until(async () => waiting.length > 0, 'the page to be asked for');
    const { last_skipped, last_crawl_id } = await fire(id, ({ last_skipped }) => last_skipped !== undefined);
    expect([last_skipped.reason, last_crawl_id]).toEqual(['Another crawl was running.', running]);
    for (const answer of waiting.splice(0)) answer();
    await ended(running);

    const next = await fire(id, ({ last_crawl_id }) => last_crawl_id !== running);
    expect(next.last_skipped).toBeUndefined();
    await until(async () => waiting.length > 0, 'the page to be asked for again');
    await (await newCrawler(shared, { org: here.org })).cancel();
    expect((await ended(next.last_crawl_id)).status).toBe('cancelled');
    for (const answer of waiting) answer();
  });

  it('a Temporal Schedule whose stored record is gone crawls nothing when it fires, and is removed', async () => {
    const site = await siteOf({ '/': page('Dotterel', 'The dotterel account was closed long ago.') });
    const { crawl, id } = await scheduled(site.url);
    await db().collection<{ _id: string }>('recrawls').deleteOne({ _id: id });
    await scheduleOf(id).trigger();
    await until(async () => (await described(id)) === undefined, 'the Temporal Schedule to go');
    expect((await call(here, 'GET', '/status')).body.status.crawl_id).toBe(crawl.crawl_id);
  });
});

describe('DELETE /crawl/schedules/{scheduleId}', () => {
  it('a deleted schedule is removed from the list and from Temporal, and its URL can be scheduled again', async () => {
    const site = await siteOf({ '/': page('Merlin', 'The merlin card works everywhere.') });
    const { id } = await scheduled(site.url);
    const removed = await call(here, 'DELETE', `/schedules/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { schedule_id: id, deleted: true }]);
    expect(await list()).toEqual({ schedules: [], count: 0, cursor: null });
    const again = await call(here, 'DELETE', `/schedules/${id}`);
    expect([again.status, again.body.code]).toEqual([404, 'NOT_FOUND']);
    await until(async () => (await described(id)) === undefined, 'the Temporal Schedule to go');
    const recrawls = db().collection<{ _id: string }>('recrawls');
    await until(async () => (await recrawls.findOne({ _id: id })) === null, 'the record to be forgotten');
    const other = await scheduled(site.url);
    expect(other.id).not.toBe(id);
  });

  it('a schedule of another organization or mode is not listed, and deleting the schedule gets 404', async () => {
    const site = await siteOf({ '/': page('Hobby', 'The hobby hunts dragonflies over the pond.') });
    const { id } = await scheduled(site.url);
    const stranger = await shared.newOrg();
    const at: At = { api: shared, org: stranger, token: (await shared.newKey(stranger)).token };
    expect(await list(at)).toEqual({ schedules: [], count: 0, cursor: null });
    expect((await call(at, 'DELETE', `/schedules/${id}`)).status).toBe(404);
    const owner: At = { ...here, token: here.org.owner.token };
    expect((await call(owner, 'DELETE', `/schedules/${id}?mode=live`)).status).toBe(404);
    expect((await list()).count).toBe(1);
    expect(await described(id)).toBeDefined();
  });
});

describe('GET /crawl/schedules', () => {
  it('GET /crawl/schedules lists schedules page by page, newest first', async () => {
    const site = await siteOf({
      '*': (request, response) =>
        void response
          .writeHead(request.url?.endsWith('.txt') || request.url?.endsWith('.xml') ? 404 : 200, {
            'content-type': 'text/html',
          })
          .end(page('Knot', `The knot page at ${request.url} is alone.`)),
    });
    const ids: string[] = [];
    for (const path of ['/a/', '/b/', '/c/']) ids.unshift((await scheduled(`${site.url}${path}`)).id);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await call(here, 'GET', `/schedules?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(body.count).toBe(3);
      seen.push(...body.schedules.map((one: { schedule_id: string }) => one.schedule_id));
      ({ cursor } = body);
    }
    expect(seen).toEqual(ids);
  });
});

describe('in a separate system', () => {
  it('a worker starts a stored schedule whose API process died, and a crawl over the page quota is recorded as skipped', async () => {
    const env = systemEnv('recrawlkill', { FLEETS: 'crawl', LIMITS: 'sandbox_pages=1' });
    const running: Running[] = [];
    const mongo = await openClient(env['MONGODB_URI']!);
    try {
      const sound = await startProcess('api/server.ts', env);
      running.push(sound);
      const api = apiAt(sound.url);
      const org = await api.newOrg();
      const at: At = { api, org, token: (await api.newKey(org)).token };
      const site = await siteOf({ '/': page('Whinchat', 'The whinchat page is the only one there is room for.') });

      const faulty = await startProcess('test/kit/faulty-api.ts', env);
      const death = once(faulty.child, 'exit');
      await expect(start(site.url, { every_hours: 2 }, { ...at, api: apiAt(faulty.url) })).rejects.toThrow();
      expect((await death)[1]).toBe('SIGKILL');
      const [schedule] = (await list(at)).schedules;
      made.push(schedule.schedule_id);
      const record = await mongo.db().collection('recrawls').findOne({ org_id: org.orgId });
      expect([record?.['pending'].length, await described(schedule.schedule_id)]).toEqual([1, undefined]);

      running.push(await startProcess('test/kit/worker.ts', env));
      const { spec } = await until(() => described(schedule.schedule_id), 'the sweeper to have it made');
      expect(spec.intervals).toMatchObject([{ every: 2 * hour }]);
      const { status } = await until(async () => {
        const { body } = await call(at, 'GET', '/status');
        return body.status.status !== 'crawling' && body;
      }, 'the first crawl to end');
      expect([status.status, status.pages_processed]).toEqual(['completed', 1]);

      const refused = await start(site.url, { every_hours: 4 }, at);
      expect([refused.status, refused.body.code]).toEqual([403, 'SANDBOX_LIMIT']);
      const { last_skipped, every_hours } = await fire(
        schedule.schedule_id,
        ({ last_skipped }) => last_skipped !== undefined,
        at,
      );
      expect([last_skipped.reason, every_hours]).toEqual([expect.stringContaining('1 pages'), 2]);
    } finally {
      await mongo.close();
      await Promise.all(running.map((process) => process.stop()));
      await removeDataDir(env);
    }
  });
});
