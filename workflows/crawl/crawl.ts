/**
 * Crawls a site: runs batches of pages until no page is left to fetch, then ends the crawl. The frontier (the URLs to
 * fetch) and the pages are in MongoDB, so the history stays small. When a worker dies during a batch, the crawl
 * continues where it was.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineUpdate,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { CrawlActivities, CrawlProgress } from '../../activities/crawl/crawl.ts';
import { show } from '../base/board.ts';
import { throughOutages } from '../base/options.ts';
import { refusal } from '../base/refusal.ts';

/** `waitedMs`: the time that earlier runs of this workflow have waited. */
export type CrawlRef = { orgId: string; crawlId: string; waitedMs?: number };

type Ending = 'completed' | 'failed' | 'cancelled' | 'limit_reached';

const { crawlBatch, finishCrawl } = proxyActivities<CrawlActivities>({
  ...throughOutages,
  // The timeout is generous: a batch reads sitemaps, then starts to fetch pages for half a minute, and does not sleep.
  startToCloseTimeout: '2 hours',
});

/** The update that cancels the crawl; refused when the crawl is already ending. */
export const cancelCrawl = defineUpdate<void>('cancel');

/**
 * If the site cannot answer, robots.txt is requested this many times in a row, a minute apart, before the crawl gives
 * up.
 */
const robotsTries = 5;

/**
 * The longest total wait for pauses that a site asks for, in ms. It is long enough for a thousand pages, half a minute
 * apart.
 */
const maxWaitedMs = 24 * 3_600_000;

const waitedEnough =
  'The site asked to wait again and again, for a day in all; the pages that are left were not fetched.';

/** Returns the crawl's final status, as its record has it. */
export async function crawlSite(ref: CrawlRef): Promise<Ending> {
  const fetching = new CancellationScope({ cancellable: true });
  let ending: Ending | undefined;
  setHandler(cancelCrawl, () => fetching.cancel(), {
    validator() {
      if (ending !== undefined)
        throw refusal('The crawl is ending already.', { from: ending, operation: 'cancel', allowed: [] });
    },
  });
  show({ status: 'crawling' });
  let error: string | undefined;
  try {
    ({ ending, error } = await fetching.run(() => fetchAll(ref)));
  } catch (cause) {
    if (!isCancellation(cause)) throw cause;
    ending = 'cancelled';
  }
  const ended = await CancellationScope.nonCancellable(() => finishCrawl({ ...ref, ending, error }));
  const status = typeof ended === 'string' ? ended : 'failed';
  show({ status, ...(typeof ended === 'string' ? {} : { failed: ended.failed, can: [again] }) });
  await condition(allHandlersFinished);
  return status;
}

const again =
  'A private host: add it to EGRESS_ALLOW. Anything else the organization mends at its site, whose robots.txt must admit `SupportPlatformBot`, and crawls again.';

async function fetchAll(ref: CrawlRef): Promise<{ ending: Ending; error?: string | undefined }> {
  let unanswered = 0;
  let { waitedMs = 0 } = ref;
  for (;;) {
    const progress = await crawlBatch(ref);
    show({ failed: progress.message, more: describe(progress) });
    if (progress.state === 'done') return { ending: 'completed' };
    if (progress.state === 'limit_reached') return { ending: 'limit_reached', error: progress.message };
    if (progress.state === 'waiting') {
      unanswered += 1;
      if (unanswered >= robotsTries) return { ending: 'failed', error: progress.message };
      await sleep('1 minute', { summary: 'the site to answer for its robots.txt' });
      continue;
    }
    unanswered = 0;
    // The workflow waits, not the batch, because a worker's slots are for crawls that have work to do.
    if (progress.waitMs !== undefined) {
      if (waitedMs >= maxWaitedMs) return { ending: 'limit_reached', error: waitedEnough };
      await sleep(progress.waitMs, { summary: 'the pause that the site asks for' });
      waitedMs += progress.waitMs;
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof crawlSite>({ ...ref, waitedMs });
  }
}

/** The numbers of pages for operators. */
function describe({ url, tally }: CrawlProgress): string {
  const rows = [
    ['found', tally.found],
    ['waiting', tally.waiting],
    ['indexed', tally.indexed],
    ['unchanged', tally.unchanged],
    ['skipped', tally.skipped],
    ['failed', tally.failed],
  ];
  const table = ['| pages | |', '| --- | --- |', ...rows.map(([name, count]) => `| ${name} | ${count} |`)].join('\n');
  return `${url}\n\n${table}`;
}
