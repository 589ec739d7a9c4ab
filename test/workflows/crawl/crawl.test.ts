/**
 * Tests the workflow of a crawl: batch after batch, waiting for a site, cancelled, retried, and always finished in
 * order.
 */
import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { stories } from '../story.ts';
import { detailsOf } from '../storyserver.ts';
import type { CrawlActivities, CrawlProgress } from '../../../activities/crawl/crawl.ts';
import { searchAttributes } from '../../../workflows/attributes.ts';
import { readRefusal } from '../../../workflows/base/refusal.ts';
import { cancelCrawl, crawlSite } from '../../../workflows/crawl/crawl.ts';
import { defined } from '../../../models/rules/base/defined.ts';

const ref = { orgId: 'org_1', crawlId: 'crawl_1' };
const tally = { found: 3, waiting: 1, indexed: 1, unchanged: 1, skipped: 0, failed: 0 };
const progress = (state: CrawlProgress['state'], message?: string): CrawlProgress => ({
  state,
  url: 'https://a.example/',
  tally,
  ...defined({ message }),
});
const { tell } = stories();

/** Polls until the condition holds; only the test's own timeout ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(20);
}

/** Activities that return these states, one per batch, and record how the crawl was ended. */
function scripted(states: CrawlProgress[]) {
  const endings: object[] = [];
  const activities: CrawlActivities = {
    crawlBatch: async () => states.shift()!,
    finishCrawl: async ({ ending, error }) => {
      endings.push({ ending, ...defined({ error }) });
      return ending;
    },
  };
  return { activities, endings };
}

describe('crawlSite', () => {
  it('the crawl workflow runs batches until nothing is left, then finishes the crawl once', async () => {
    const { activities, endings } = scripted([progress('more'), progress('more'), progress('done')]);
    const { calls, result } = await tell(crawlSite, [ref], activities);
    expect([calls, result]).toEqual([['crawlBatch', 'crawlBatch', 'crawlBatch', 'finishCrawl'], 'completed']);
    expect(endings).toEqual([{ ending: 'completed' }]);
  });

  it('the crawl workflow ends as limit_reached with the reason that the batch returned', async () => {
    const { activities, endings } = scripted([progress('limit_reached', 'No room.')]);
    expect((await tell(crawlSite, [ref], activities)).result).toBe('limit_reached');
    expect(endings).toEqual([{ ending: 'limit_reached', error: 'No room.' }]);
  });

  it('the crawl workflow waits a minute for an unavailable site, and fails when the site is unavailable for the fifth time', async () => {
    const { activities, endings } = scripted(Array.from({ length: 5 }, () => progress('waiting', 'robots.txt: 503')));
    const { calls, skippedMs, result } = await tell(crawlSite, [ref], activities);
    expect([calls.length, result]).toEqual([6, 'failed']);
    expect(endings).toEqual([{ ending: 'failed', error: 'robots.txt: 503' }]);
    expect(skippedMs).toBeGreaterThanOrEqual(4 * 60_000);
  });

  it('the crawl workflow shows operators that a crawl has failed, with the reason above the counts', async () => {
    const { activities } = scripted([progress('done')]);
    const reason = 'The site has no page that could be read.';
    const shown: unknown[] = [];
    const { result } = await tell(
      crawlSite,
      [ref],
      { ...activities, finishCrawl: async () => ({ failed: reason }) },
      async (handle) => {
        await handle.result();
        shown.push(
          (await handle.describe()).typedSearchAttributes.get(searchAttributes.status),
          await detailsOf(handle),
        );
      },
    );
    expect(result).toBe('failed');
    expect(shown).toEqual([
      'failed',
      expect.stringMatching(
        /^failed: The site has no page[^]*\| failed last \| The site has no page[^]*\| found \| 3 \|/,
      ),
    ]);
  });

  it('the crawl workflow resets the count of failures when the site has answered in between', async () => {
    const away = () => Array.from({ length: 4 }, () => progress('waiting', 'robots.txt: 503'));
    const { activities } = scripted([...away(), progress('more'), ...away(), progress('done')]);
    const { calls, result } = await tell(crawlSite, [ref], activities);
    expect([calls.length, result]).toEqual([11, 'completed']);
  });

  it('the crawl workflow waits with a timer for as long as a site requests, then continues', async () => {
    const { activities } = scripted([{ ...progress('more', 'Wait.'), waitMs: 590_000 }, progress('done')]);
    const { calls, skippedMs, result } = await tell(crawlSite, [ref], activities);
    expect([calls, result]).toEqual([['crawlBatch', 'crawlBatch', 'finishCrawl'], 'completed']);
    expect(skippedMs).toBeGreaterThanOrEqual(590_000);
  });

  it('the crawl workflow waits for at most a day in total, then ends at this limit', async () => {
    const waits = Array.from({ length: 10 }, () => ({ ...progress('more', 'Wait.'), waitMs: 8 * 3_600_000 }));
    const { activities, endings } = scripted(waits);
    const { calls, result } = await tell(crawlSite, [ref], activities);
    expect([calls.length, result]).toEqual([5, 'limit_reached']);
    expect(endings).toEqual([{ ending: 'limit_reached', error: expect.stringContaining('a day in all') }]);
  });

  it('a crawl can be cancelled while it waits for a site', async () => {
    const { activities, endings } = scripted([{ ...progress('more', 'Wait.'), waitMs: 590_000 }]);
    const { calls, result } = await tell(crawlSite, [ref], activities, async (handle) => {
      await until(async () => {
        const { events } = await handle.fetchHistory();
        return events?.some((event) => event.timerStartedEventAttributes != null) === true;
      });
      await handle.executeUpdate(cancelCrawl);
    });
    expect([calls, result, endings]).toEqual([['crawlBatch', 'finishCrawl'], 'cancelled', [{ ending: 'cancelled' }]]);
  });

  it('the crawl workflow retries a batch through an outage until it succeeds', async () => {
    let failures = 20;
    const { activities } = scripted([progress('done')]);
    const crawlBatch = async (): Promise<CrawlProgress> => {
      if (failures-- > 0) throw new Error('MongoDB is away');
      return progress('done');
    };
    const { calls, result } = await tell(crawlSite, [ref], { ...activities, crawlBatch });
    expect([calls.length, result]).toEqual([22, 'completed']);
  });

  it('the crawl workflow stops its batch on cancellation, and still finishes the crawl', async () => {
    const { activities, endings } = scripted([]);
    let begun!: () => void;
    const batch = new Promise<void>((resolve) => (begun = resolve));
    let ending!: () => void;
    const finishing = new Promise<void>((resolve) => (ending = resolve));
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const story = await tell(
      crawlSite,
      [ref],
      {
        crawlBatch: async () => {
          begun();
          const beat = setInterval(() => Context.current().heartbeat(), 50);
          try {
            return await Context.current().cancelled;
          } finally {
            clearInterval(beat);
          }
        },
        finishCrawl: async (given: Parameters<CrawlActivities['finishCrawl']>[0]) => {
          ending();
          await held;
          return activities.finishCrawl(given);
        },
      },
      async (handle) => {
        await batch;
        await handle.executeUpdate(cancelCrawl);
        await finishing;
        const again = await handle.executeUpdate(cancelCrawl).catch((error: unknown) => error);
        expect(again).toBeInstanceOf(WorkflowUpdateFailedError);
        expect(readRefusal((again as WorkflowUpdateFailedError).cause)).toEqual({
          message: 'The crawl is ending already.',
          transition: { from: 'cancelled', operation: 'cancel', allowed: [] },
        });
        release();
      },
    );
    expect([story.result, endings]).toEqual(['cancelled', [{ ending: 'cancelled' }]]);
  });
});
