/**
 * Concurrent changes of a schedule, and steps that run twice: the activities on a real database, with a simulated
 * Temporal.
 */
import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { modelsIn } from '../kit/database.ts';
import { createRecrawlActivities, type RecrawlSchedules } from '../../activities/crawl/recrawl.ts';
import { crawlToCancel, createCrawl, CrawlModel, endCrawl, newCrawl } from '../../models/crawl/crawl.ts';
import { newId } from '../../models/base/ids.ts';
import type { Intent } from '../../models/base/pending.ts';
import { findRecrawl, noteBegun, putRecrawl, RecrawlModel, removeRecrawl } from '../../models/crawl/recrawl.ts';
import { everyRecord } from '../../models/base/define.ts';
import { defined } from '../../models/rules/base/defined.ts';

modelsIn('recrawlraces');

const url = 'https://a.example/';
const now = new Date();
const intent: Intent = { workflow: 'w', workflow_id: 'w:1', queue: 'q', args: [], since: now, next_at: now, tries: 0 };
const crawlOf = (org_id: string, firing?: string) =>
  newCrawl(
    { url, max_pages: 5, replace: false },
    {
      _id: newId('crawl'),
      org_id,
      mode: 'test',
      started_by: 'test',
      started_at: new Date(),
      ...defined({ firing }),
    },
  );

/** Requests a schedule like the route does, with a crawl that ends at once. */
async function put(orgId: string, every_hours: number) {
  const crawl = crawlOf(orgId);
  const by = { actor: 'test', now: new Date(), arranging: () => intent };
  const recrawl = await createCrawl(crawl, () =>
    putRecrawl({ org_id: orgId, mode: 'test', url }, { every_hours, max_pages: 5 }, by),
  );
  await endCrawl(orgId, crawl._id, { status: 'completed' }, new Date());
  return recrawl;
}
const remove = (orgId: string, scheduleId: string) => removeRecrawl(orgId, ['test'], scheduleId, intent);

/**
 * A simulated Temporal: a table of intervals by schedule.
 * `before` runs in the middle of each change, after the activity has decided what to write.
 */
function activitiesWith(before: (change: string) => Promise<void> = async () => undefined) {
  const table = new Map<string, number>();
  const changes: string[] = [];
  const schedules: RecrawlSchedules = {
    async put({ _id, every_hours }) {
      changes.push(`put ${every_hours}`);
      await before(`put ${every_hours}`);
      table.set(_id, every_hours);
    },
    async remove(id) {
      changes.push('remove');
      await before('remove');
      table.delete(id);
    },
  };
  const quotas = { sandbox: { documents: 9, knowledge_pages: 9 }, production: { documents: 9, knowledge_pages: 9 } };
  const log = pino({ level: 'silent' });
  const activities = createRecrawlActivities({ schedules, quotas, clock: () => new Date(), log });
  const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
    new MockActivityEnvironment().run<A, R, (...args: A) => Promise<R>>(activity, ...args);
  return { table, changes, activities, run };
}

/** A promise that is awaited until `open` is called. */
function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('two concurrent changes of one schedule', () => {
  it('after concurrent changes, the Temporal Schedule agrees with the stored record, even when the older change is written last', async () => {
    const org = newId('org');
    const { _id } = await put(org, 6);
    const [reached, held] = [gate(), gate()];
    const { table, changes, activities, run } = activitiesWith(async (change) => {
      if (change !== 'put 6') return;
      reached.open();
      await held.opened;
    });
    const older = run(activities.arrangeRecrawl, { orgId: org, scheduleId: _id });
    await reached.opened;
    await put(org, 12);
    await run(activities.arrangeRecrawl, { orgId: org, scheduleId: _id });
    expect(table.get(_id)).toBe(12);
    held.open();
    await older;
    expect([table.get(_id), changes]).toEqual([12, ['put 6', 'put 12', 'put 12']]);
  });

  it('concurrent changes of a schedule leave nothing in Temporal or MongoDB when the newer change is the removal', async () => {
    const org = newId('org');
    const { _id } = await put(org, 6);
    const [reached, held] = [gate(), gate()];
    const { table, activities, run } = activitiesWith(async (change) => {
      if (change !== 'put 6') return;
      reached.open();
      await held.opened;
    });
    const older = run(activities.arrangeRecrawl, { orgId: org, scheduleId: _id });
    await reached.opened;
    expect(await remove(org, _id)).not.toBeNull();
    await run(activities.arrangeRecrawl, { orgId: org, scheduleId: _id });
    expect(await RecrawlModel.findById(_id)).toBeNull();
    held.open();
    await older;
    expect(table.has(_id)).toBe(false);
  });

  it('a change after a removal creates a new schedule, which the removal’s later steps do not affect', async () => {
    const org = newId('org');
    const first = await put(org, 6);
    await remove(org, first._id);
    const second = await put(org, 12);
    expect(second._id).not.toBe(first._id);
    const { table, activities, run } = activitiesWith();
    await run(activities.arrangeRecrawl, { orgId: org, scheduleId: second._id });
    await run(activities.arrangeRecrawl, { orgId: org, scheduleId: first._id });
    expect([...table]).toEqual([[second._id, 12]]);
    expect(await RecrawlModel.find({ org_id: org }, { _id: 1 }, everyRecord).lean()).toEqual([{ _id: second._id }]);
  });
});

describe('a firing of a schedule', () => {
  it('a firing of a schedule starts one crawl even when it runs twice, sequentially or concurrently', async () => {
    const org = newId('org');
    const { _id: scheduleId } = await put(org, 6);
    const { activities, run } = activitiesWith();
    const firing = { orgId: org, scheduleId, firing: newId('request') };
    const all = await Promise.all([1, 2, 3].map(() => run(activities.beginRecrawl, firing)));
    const begun = all[0]!;
    expect([begun.state, all]).toEqual(['begun', [begun, begun, begun]]);
    const crawlId = begun.state === 'begun' ? begun.crawlId : '';
    await endCrawl(org, crawlId, { status: 'completed' }, new Date());
    expect(await run(activities.beginRecrawl, firing)).toEqual(begun);
    // The crawl is stored and must be started, even when the schedule has been removed by then.
    await remove(org, scheduleId);
    expect(await run(activities.beginRecrawl, firing)).toEqual(begun);
    expect(await CrawlModel.countDocuments({ org_id: org, firing: firing.firing })).toBe(1);
    expect(await run(activities.beginRecrawl, { ...firing, firing: newId('request') })).toEqual({ state: 'gone' });
  });

  it('a firing of a schedule starts no crawl while the schedule is being removed', async () => {
    const org = newId('org');
    const { _id } = await put(org, 6);
    const crawl = crawlOf(org, newId('request'));
    const beginning = createCrawl(crawl, async () => {
      await remove(org, _id);
      await noteBegun(org, _id, crawl._id);
    });
    await expect(beginning).rejects.toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(await CrawlModel.findById(crawl._id)).toBeNull();
  });
});

describe('concurrent requests for a schedule of one site', () => {
  it('of several concurrent requests to schedule one site, one creates the schedule, and the others get CRAWL_RUNNING', async () => {
    const org = newId('org');
    const asked = await Promise.allSettled(
      [1, 2, 3, 4].map((every_hours) => {
        const by = { actor: 'test', now: new Date(), arranging: () => intent };
        const site = { org_id: org, mode: 'test' as const, url };
        return createCrawl(crawlOf(org), () => putRecrawl(site, { every_hours, max_pages: 5 }, by));
      }),
    );
    const [made, ...others] = asked.toSorted((a, b) => a.status.localeCompare(b.status));
    expect(made?.status).toBe('fulfilled');
    for (const other of others) expect(other).toMatchObject({ status: 'rejected', reason: { code: 'CRAWL_RUNNING' } });
    const recrawl = made?.status === 'fulfilled' ? made.value : undefined;
    expect(await findRecrawl(org, recrawl!._id)).toMatchObject({ every_hours: recrawl!.every_hours, version: 1 });
    expect(await RecrawlModel.countDocuments({ org_id: org }, everyRecord)).toBe(1);
  });
});

describe('the crawl that a cancel request selects', () => {
  it('a repeated cancel request selects the same crawl again, even after that crawl ended and another crawl started', async () => {
    const orgId = newId('org');
    const started = async () => {
      const crawl = crawlOf(orgId);
      await createCrawl(crawl, () => Promise.resolve());
      return crawl._id;
    };
    const cancelled = async (...ids: string[]) => (await crawlToCancel(orgId, 'test', ids))?._id;
    const first = await started();
    expect([await cancelled('a'), await cancelled('b'), await cancelled()]).toEqual([first, first, first]);
    await endCrawl(orgId, first, { status: 'cancelled' }, new Date());
    const second = await started();
    expect([await cancelled('a'), await cancelled('b')]).toEqual([first, first]);
    // The first id comes from the new secret key.
    expect(await cancelled('a with the new key', 'a')).toBe(first);
    expect([await cancelled('c'), await cancelled()]).toEqual([second, second]);
    await endCrawl(orgId, second, { status: 'completed' }, new Date());
    expect(await cancelled('d')).toBeUndefined();
  });
});
