/**
 * Runs a batch of a crawl, which takes half a minute. In each round, URLs are taken from the frontier (the URLs to
 * fetch) and fetched, while the previous round is stored. A URL with a stored outcome (settled) is never fetched again.
 * If the process dies during a batch, the round that is not settled is fetched again.
 */
import { count } from '../../clients/base/meter.ts';
import { createPageFetch, type Round } from './pagefetch.ts';
import type { PageStore } from './pagestore.ts';
import type { Visiting } from './visit.ts';
import type { Site, Sites } from '../../clients/crawl/site/site.ts';
import { findCrawl, noteSiteProblems, noteWait, type Crawl } from '../../models/crawl/crawl.ts';
import {
  addToFrontier,
  reopenFiles,
  isInFrontier,
  listVisited,
  nextDue,
  nextOfFrontier,
  noteUnasked,
  type Frontier,
} from '../../models/crawl/frontier.ts';
import { reopenUnresolvedCanonicals, settleFrontier, type Tally } from '../../models/crawl/outcomes.ts';
import { listLiveUrls } from '../../models/crawl/pageset.ts';
import {
  byCost,
  countSeries,
  frontierLimit,
  maxUnasked,
  type Found,
  type SeriesCounts,
} from '../../models/rules/crawl/frontier.ts';
import { inScope, isFileUrl, pageKey } from '../../models/rules/crawl/url.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * The result of a batch. `more`: another batch must follow, after `waitMs` if the site asks for a pause. `waiting`: the
 * site cannot be crawled now; `message` says why.
 */
export type CrawlProgress = {
  state: 'more' | 'done' | 'waiting' | 'limit_reached';
  url: string;
  tally: Omit<Tally, 'unasked'>;
  waitMs?: number;
  message?: string;
};

export type BatchDeps = { sites: Sites; store: PageStore; clock: () => Date };
type Ref = { orgId: string; crawlId: string };

/** The most pages that are stored together, with one commit to the index and a few commands to MongoDB. */
export const pagesARound = 192;
/**
 * A round starts no further page after this time, in ms. So the pages of a slow site are soon found by searches, and
 * the death of the process costs few requests.
 */
const roundMs = 10_000;
/** A batch returns after this time, in ms, so that operators see progress and workers can be stopped quickly. */
const batchMs = 30_000;
/**
 * The maximum number of requests of a crawl. Refused, moved and missing pages cost a request too, so the crawl of a
 * site that has only such pages ends at this limit.
 */
const triesFor = (maxPages: number): number => maxPages * 4 + 50;

const siteLater = 'The site asks to be left alone';
const pagesLater = 'The site asks not to be asked for the pages that are left';

const noTally = { found: 0, waiting: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0 };

type Batch = Visiting & {
  /** No page is fetched after this time (ms since 1970). */
  until: number;
  tally: Tally;
  /** The number of requests of the crawl so far. */
  tries: number;
  /**
   * The round that was fetched last; it is stored while the next one is fetched. `full`: whether the frontier filled
   * the round, so that more URLs may wait in the frontier.
   */
  read: (Round & { full: boolean }) | undefined;
  /** How long the site asks the crawler to pause, in ms. */
  waitMs: number;
};

/** Waits for both promises even if one is rejected, so that nothing continues after the batch has ended. */
async function both<A, B>(
  a: Promise<A> | undefined,
  b: Promise<B> | undefined,
): Promise<[A | undefined, B | undefined]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

export function createCrawlBatch({ sites, store, clock }: BatchDeps) {
  const { fetchRound } = createPageFetch({ clock });

  /**
   * Adds the start URL and the URLs in the site's sitemaps to the frontier. The start URL is added last: while it is
   * missing, this step is repeated.
   */
  async function seed(crawl: Crawl, site: Site, signal: AbortSignal): Promise<void> {
    const { _id, url, max_pages } = crawl;
    const { urls, files, forbidden, problems } = await site.listSitemaps(frontierLimit(max_pages), signal);
    if (problems.length > 0) await noteSiteProblems(crawl, problems);
    const listed = (list: readonly string[]): Found[] =>
      list.flatMap((each) => (pageKey(each) === pageKey(url) ? [] : [{ url: each, depth: 1, sitemap: true }]));
    await addToFrontier(_id, byCost(listed(urls)), clock());
    const noted = await noteUnasked(_id, listed(forbidden), 'robots', clock(), maxUnasked);
    await noteUnasked(_id, listed(files), 'file', clock(), maxUnasked - noted);
    await addToFrontier(_id, [{ url, depth: 0 }], clock());
  }

  /**
   * Adds the live pages that a crawl with `replace` has not found, because a site in maintenance may link to none of
   * them. This happens after all linked pages were read. Returns the number of added pages.
   */
  async function addLivePages({ crawl, site, tally }: Batch, room: number): Promise<number> {
    // A crawl without `replace`, or one that has read nothing, replaces no live pages, so none need to be added.
    if (!crawl.replace || tally.indexed + tally.unchanged === 0) return 0;
    const live = (await listLiveUrls(crawl.org_id, crawl.mode)).filter((url) => inScope(site.scope, url));
    // A crawl that reaches the quota ends with an incomplete set of pages. So no more pages are added than the quota
    // allows.
    const most = Math.min(room, await store.spare(crawl));
    const reopened = await reopenFiles(crawl._id, live.filter(isFileUrl));
    return reopened + (await addToFrontier(crawl._id, byCost(live.map((url) => ({ url, depth: 1 }))), clock(), most));
  }

  /**
   * Ends the batch because the site asks for a pause. The workflow waits, because a waiting activity would occupy a
   * slot of the worker.
   */
  async function later(crawl: Crawl, tally: Tally, waitMs: number, who = siteLater): Promise<CrawlProgress> {
    const message = `${who} for ${Math.ceil(waitMs / 1_000)} seconds; the crawl goes on then.`;
    await noteWait(crawl, message);
    return { state: 'more', url: crawl.url, tally, waitMs, message };
  }

  /**
   * Ends or delays a crawl when nothing of the site may be fetched. A host that does not exist ends a crawl that has
   * found nothing yet.
   */
  async function withoutSite(
    crawl: Crawl,
    tally: Tally,
    { reason, message }: NonNullable<Site['unavailable']>,
  ): Promise<CrawlProgress> {
    const { _id, url } = crawl;
    if (reason === 'no_host' && tally.found === tally.failed) {
      await addToFrontier(_id, [{ url, depth: 0 }], clock());
      const settled = await settleFrontier(crawl, [{ url, outcome: 'failed', why: reason, reason: message }]);
      return { state: 'done', url, tally: settled, message };
    }
    await noteWait(crawl, message);
    return { state: 'waiting', url, tally, message };
  }

  /** Starts a batch, or returns why there is nothing to do now. */
  async function open({ orgId, crawlId }: Ref, signal: AbortSignal): Promise<Batch | CrawlProgress> {
    const crawl = await findCrawl(orgId, crawlId);
    if (!crawl || crawl.status !== 'crawling') return { state: 'done', url: '', tally: noTally };
    const { url } = crawl;
    const until = clock().getTime() + batchMs;
    const tally = await settleFrontier(crawl, []);
    const site = await sites.open(url, signal);
    if (site.unavailable !== undefined) return withoutSite(crawl, tally, site.unavailable);
    if (site.waitMs() > 0) return later(crawl, tally, site.waitMs());
    if (crawl.error !== undefined) await noteWait(crawl, undefined);
    const visited = await listVisited(crawlId);
    if (!(await isInFrontier(crawlId, url))) await seed(crawl, site, signal);
    const counts: SeriesCounts = new Map();
    for (const one of visited) countSeries(counts, one);
    return { crawl, site, signal, until, tally, counts, tries: visited.length, read: undefined, waitMs: 0 };
  }

  /** The number of URLs in the next round, and how many more the frontier may take. */
  function roomOf({ crawl, tally, read, tries, waitMs, until }: Batch) {
    const { max_pages } = crawl;
    const late = clock().getTime() > until || waitMs > 0;
    const taken = read?.taken ?? [];
    // A round that is not full, as at the start of a crawl, is stored before the next one is fetched. So its pages are
    // found by searches even while the site is slow.
    const alone = late || read?.full === false;
    // Each fetched page that is not stored yet may turn out to be new, so it counts towards the maximum.
    const pages = max_pages - tally.indexed - tally.unchanged - taken.length;
    const most = alone ? 0 : Math.min(pagesARound, pages, triesFor(max_pages) - tries);
    const found = tally.found + (read?.added ?? 0);
    const frontier = Math.max(0, frontierLimit(max_pages) - found);
    const unasked = Math.max(0, maxUnasked - tally.unasked - (read?.unasked ?? 0));
    return { late, taken, most, frontier, unasked };
  }

  /** The result of the batch when there is nothing to fetch or store now; undefined when there is work to do. */
  async function endOf(batch: Batch, room: ReturnType<typeof roomOf>): Promise<CrawlProgress | undefined> {
    const { crawl, tally, waitMs } = batch;
    const { _id, url } = crawl;
    if (waitMs > 0) return later(crawl, tally, waitMs);
    if (!room.late && (await reopenUnresolvedCanonicals(_id)) > 0) return undefined;
    if (room.late || room.most <= 0) return { state: room.late ? 'more' : 'done', url, tally };
    const due = await nextDue(_id);
    const dueIn = due ? due.getTime() - clock().getTime() : 0;
    if (dueIn > 0) return later(crawl, tally, dueIn, pagesLater);
    if (!due && (await addLivePages(batch, room.frontier)) === 0) return { state: 'done', url, tally };
    batch.tally = await settleFrontier(crawl, []);
    return undefined;
  }

  /** Stores the pages of a round, then the outcomes of its URLs. `full`: why no further page can be stored. */
  async function storeRound({ crawl }: Batch, round: Round): Promise<{ tally: Tally; full?: string }> {
    const { settled, full } = await store.save(crawl, round);
    for (const { outcome } of settled) count('crawl_pages_total', { outcome });
    return { tally: await settleFrontier(crawl, settled), ...defined({ full }) };
  }

  /**
   * Stores the fetched round and fetches the next one at the same time. Returns the reason if no further page can be
   * stored.
   */
  async function turn(
    batch: Batch,
    entries: Frontier[],
    { frontier, unasked }: ReturnType<typeof roomOf>,
  ): Promise<string | undefined> {
    const { read } = batch;
    const until = Math.min(batch.until, clock().getTime() + roundMs);
    const bounds = { room: frontier, unasked, until };
    const [stored, next] = await both(
      read && storeRound(batch, read),
      entries.length === 0 ? undefined : fetchRound(batch, entries, bounds),
    );
    if (stored) batch.tally = stored.tally;
    if (stored?.full !== undefined) {
      // The next round has no room for new pages either, but existing pages in it may have changed.
      if (next) batch.tally = (await storeRound(batch, next)).tally;
      return stored.full;
    }
    batch.read = next && { ...next, full: entries.length === pagesARound };
    batch.tries += next?.taken.length ?? 0;
    batch.waitMs = Math.max(batch.waitMs, next?.waitMs ?? 0);
    return undefined;
  }

  /** Processes the frontier of a crawl for half a minute. */
  return async (ref: Ref, signal: AbortSignal): Promise<CrawlProgress> => {
    const batch = await open(ref, signal);
    if ('state' in batch) return batch;
    for (;;) {
      signal.throwIfAborted();
      const room = roomOf(batch);
      const entries = await nextOfFrontier(batch.crawl._id, room.most, clock(), room.taken);
      if (entries.length === 0 && !batch.read) {
        const end = await endOf(batch, room);
        if (end) return end;
        continue;
      }
      const full = await turn(batch, entries, room);
      if (full !== undefined)
        return { state: 'limit_reached', url: batch.crawl.url, tally: batch.tally, message: full };
    }
  };
}
