/** Tests the workflow of a schedule's firing: it starts an ordinary crawl or none, and ends. */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import type { CrawlActivities } from '../../../activities/crawl/crawl.ts';
import type { Begun, RecrawlActivities } from '../../../activities/crawl/recrawl.ts';
import { arrangeRecrawl, recrawlSite } from '../../../workflows/crawl/recrawl.ts';

const ref = { orgId: 'org_1', scheduleId: 'sched_1' };
const { tell } = stories();
const beginning = (begun: Begun) => async () => begun;
const neverCrawls: Pick<CrawlActivities, 'crawlBatch'> = {
  crawlBatch: () => Promise.reject(new Error('nothing was to be crawled')),
};

describe('recrawlSite', () => {
  it('when a crawl schedule fires, its workflow only starts an ordinary crawl workflow, which continues after the schedule’s workflow has ended', async () => {
    const firings: string[] = [];
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const crawled: object[] = [];
    const begun = { state: 'begun', crawlId: 'crawl_of_firing', mode: 'live' } as const;
    const { calls, result } = await tell(
      recrawlSite,
      [ref],
      {
        beginRecrawl: async ({ firing }: Parameters<RecrawlActivities['beginRecrawl']>[0]) => {
          firings.push(firing);
          return begun;
        },
        crawlBatch: async (given: Parameters<CrawlActivities['crawlBatch']>[0]) => {
          crawled.push(given);
          await held;
          const tally = { found: 1, waiting: 0, indexed: 1, unchanged: 0, skipped: 0, failed: 0 };
          return { state: 'done', url: 'https://a.example/', tally };
        },
        finishCrawl: async () => 'completed',
      },
      async (handle) => {
        const run = (await handle.describe()).runId;
        expect(await handle.result()).toEqual(begun);
        const crawl = handle.client.getHandle('crawl:crawl_of_firing');
        const { status, typedSearchAttributes } = await crawl.describe();
        expect([status.name, firings]).toEqual(['RUNNING', [run]]);
        const found = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
        expect(found).toMatchObject({ Organization: 'org_1', Mode: 'live' });
        release();
        expect(await crawl.result()).toBe('completed');
      },
    );
    expect(result).toEqual(begun);
    expect(calls).toEqual(['beginRecrawl', 'crawlBatch', 'finishCrawl']);
    expect(crawled).toEqual([{ orgId: 'org_1', crawlId: 'crawl_of_firing' }]);
  });

  it('when a crawl of a schedule is skipped, the schedule’s workflow reports the reason, and crawls nothing', async () => {
    const skipped = { state: 'skipped', reason: 'Another crawl was running.' } as const;
    const { calls, result } = await tell(recrawlSite, [ref], { ...neverCrawls, beginRecrawl: beginning(skipped) });
    expect([calls, result]).toEqual([['beginRecrawl'], skipped]);
  });

  it('when a deleted crawl schedule still fires, its workflow crawls nothing, and removes the Temporal Schedule', async () => {
    const arranged: object[] = [];
    const { calls } = await tell(recrawlSite, [ref], {
      ...neverCrawls,
      beginRecrawl: beginning({ state: 'gone' }),
      arrangeRecrawl: async (given) => void arranged.push(given),
    });
    expect([calls, arranged]).toEqual([['beginRecrawl', 'arrangeRecrawl'], [ref]]);
  });
});

describe('arrangeRecrawl', () => {
  it('the workflow arrangeRecrawl, which updates a crawl schedule in Temporal, retries its activity until it succeeds', async () => {
    let failures = 3;
    const { calls } = await tell(arrangeRecrawl, [ref], {
      arrangeRecrawl: async () => {
        if (failures-- > 0) throw new Error('Temporal does not take schedules now');
      },
    });
    expect(calls).toEqual(Array.from({ length: 4 }, () => 'arrangeRecrawl'));
  });
});
