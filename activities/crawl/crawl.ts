/**
 * What a crawl does to the world: it takes addresses of the frontier, has them fetched and read, stores what they say, and
 * notes what became of each. Every step may run again: pages are written by address and generation, and an address that
 * was settled is never fetched again.
 */
import type { Logger } from 'pino';
import { withHeartbeat } from '../base/heartbeat.ts';
import { createPageFetch, type Round } from './pagefetch.ts';
import { createPageStore } from './pagestore.ts';
import type { Ai } from '../../clients/ai/ai.ts';
import type { Search } from '../../clients/search/search.ts';
import type { Site, Sites } from '../../clients/site/site.ts';
import { removeAllChunks, removeChunks } from '../../models/knowledge/chunk.ts';
import { endCrawl, findCrawl, noteSiteProblems, noteWait, type Crawl, type Ending } from '../../models/crawl/crawl.ts';
import {
  addToFrontier,
  dropFrontier,
  isInFrontier,
  listFates,
  listVisited,
  nextDue,
  nextOfFrontier,
  reopenUnheard,
  settleFrontier,
  settleWaiting,
  type Tally,
} from '../../models/crawl/frontier.ts';
import { discardBuilt, listLiveUrls, listStale, removePagesAt, swapSets } from '../../models/crawl/pageset.ts';
import { deletePages } from '../../models/knowledge/page.ts';
import { listRemovals, settleRemovals } from '../../models/knowledge/removal.ts';
import { explain } from '../../models/rules/crawl/crawlreason.ts';
import { isWholeSet, lostOf, outlived } from '../../models/rules/crawl/fetchoutcome.ts';
import {
  byCost,
  countSeries,
  frontierLimit,
  type Found,
  type SeriesCounts,
} from '../../models/rules/crawl/frontier.ts';
import type { Quotas } from '../../models/rules/knowledge/quota.ts';
import { inScope, pageKey } from '../../models/rules/crawl/url.ts';

export type CrawlDeps = { sites: Sites; search: Search; ai: Ai; quotas: Quotas; clock: () => Date; log: Logger };
type Ref = { orgId: string; crawlId: string };
export type CrawlActivities = ReturnType<typeof createCrawlActivities>;

/**
 * `more`: call again, after `waitMs` if there is one, for the site asks for it. `waiting`: the site cannot be asked now.
 * `message` says why.
 */
export type CrawlProgress = {
  state: 'more' | 'done' | 'waiting' | 'limit_reached';
  url: string;
  tally: Tally;
  waitMs?: number;
  message?: string;
};

/** Pages stored together: one commit of the index, a few commands to MongoDB. */
const PAGES_A_ROUND = 48;
/** After this long a batch hands back, so that the operators' view moves and a deployment drains quickly. */
const BATCH_MS = 30_000;
/** Refused, moved and missing pages cost a request too; a site of nothing else ends here. */
const triesFor = (maxPages: number): number => maxPages * 4 + 50;

const modelAway = 'The embedding model does not answer, so nothing can be stored; the crawl goes on when it does.';

const siteLater = 'The site asks to be left alone';
const pagesLater = 'The site asks not to be asked for the pages that are left';

/** Waits for both even if one fails: nothing goes on behind the back of a batch that has ended. */
async function both<A, B>(
  a: Promise<A> | undefined,
  b: Promise<B> | undefined,
): Promise<[A | undefined, B | undefined]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

const noTally: Tally = { found: 0, waiting: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0 };

export function createCrawlActivities({ sites, search, ai, quotas, clock, log }: CrawlDeps) {
  const store = createPageStore({ search, ai, quotas, clock });
  const { fetchRound } = createPageFetch({ clock });

  /** The start and what the site's sitemaps list. The start comes last: while it is missing, this is done again. */
  async function seed(crawl: Crawl, site: Site, signal: AbortSignal): Promise<void> {
    const limit = frontierLimit(crawl.max_pages);
    const { urls, problems } = await site.listSitemaps(limit, signal);
    if (problems.length > 0) await noteSiteProblems(crawl._id, problems);
    const found: Found[] = byCost(urls.map((url) => ({ url, depth: 1, sitemap: true })));
    await addToFrontier(crawl._id, found, clock());
    await addToFrontier(crawl._id, [{ url: crawl.url, depth: 0 }], clock());
  }

  /**
   * Pages that answer now and that a replacing crawl has not met: of a site in maintenance it may meet none. Only once all that
   * the site links to has been read, which goes before. Returns how many there are.
   */
  async function addStanding(crawl: Crawl, site: Site, tally: Tally, room: number): Promise<number> {
    // A crawl that has read nothing replaces nothing.
    if (!crawl.replace || tally.indexed + tally.unchanged === 0) return 0;
    const standing = (await listLiveUrls(crawl.org_id, crawl.mode)).filter((url) => inScope(site.scope, url));
    // Beyond its allowance the new set would not be whole.
    const most = Math.min(room, await store.spare(crawl));
    return addToFrontier(crawl._id, byCost(standing.map((url) => ({ url, depth: 1 }))), clock(), most);
  }

  /** Stores what a round has read, and then settles its addresses: killed in between, they are read again. */
  async function storeRound(crawl: Crawl, round: Round, signal: AbortSignal) {
    const { settled, full } = await store.save(crawl, round, signal);
    return { tally: await settleFrontier(crawl._id, settled), full };
  }

  /** How a crawl ends that wants to end so: one that read nothing has failed, and so has one that would replace more than it brings. */
  async function judge(crawl: Crawl, ending: Ending, error: string | undefined) {
    if (ending !== 'completed') return { status: ending, why: error };
    const read = crawl.pages_processed;
    if (read === 0) {
      return {
        status: 'failed' as const,
        why: crawl.problems[0]?.reason ?? 'The site has no page that could be read.',
      };
    }
    if (!crawl.replace) return { status: ending, why: error };
    const fates = await listFates(crawl._id);
    const failed = [...fates.values()].filter(({ outcome }) => outcome === 'failed').length;
    const standing = new Map((await listLiveUrls(crawl.org_id, crawl.mode)).map((url) => [pageKey(url), url]));
    const lost = lostOf(fates, standing).map((key) => standing.get(key)!);
    if (isWholeSet({ read, failed, lost: lost.length })) return { status: ending, why: error };
    const why =
      lost[0] === undefined
        ? `Of the new set ${failed} pages could not be fetched, so the pages of before stay.`
        : `${lost[0]}${lost.length > 1 ? ` and ${lost.length - 1} more that answer now` : ', which answers now,'} could not be indexed anew, so the pages of before stay. Remove those that the site has given up, and crawl again.`;
    return { status: 'failed' as const, why };
  }

  /** Removes pages whose place others of this crawl have taken: only now, so that nothing went unanswered in between. */
  async function removeOutlived({ _id, org_id, mode }: Crawl): Promise<void> {
    const urls = outlived(await listFates(_id)).map((key) => `https://${key}`);
    await removePagesAt(org_id, mode, urls, clock());
  }

  /** Nothing can be stored while the embedding model is away, so the site is left in peace and the status says why. */
  async function awaitModel(crawl: Crawl, signal: AbortSignal): Promise<void> {
    try {
      await store.ready(signal);
    } catch (error) {
      signal.throwIfAborted();
      await noteWait(crawl._id, modelAway);
      throw error;
    }
  }

  /** Removes what batches that died left behind: begun generations, and former ones of pages that answer anew. */
  async function sweep(orgId: string, mode: Crawl['mode']): Promise<void> {
    const table = { org_id: orgId, mode };
    for (const { _id, keep } of await listStale(orgId, mode)) {
      await search.removeSource(table, _id, keep === undefined ? undefined : String(keep));
      await removeChunks(orgId, _id, keep);
    }
  }

  /** Hands back because the site wants to be left alone, and says so: nothing is kept busy by waiting. */
  async function later(crawl: Crawl, tally: Tally, waitMs: number, who = siteLater): Promise<CrawlProgress> {
    const message = `${who} for ${Math.ceil(waitMs / 1_000)} seconds; the crawl goes on then.`;
    await noteWait(crawl._id, message);
    return { state: 'more', url: crawl.url, tally, waitMs, message };
  }

  /** Nothing is to be fetched now: until when, or whether that is the end; undefined when there is something after all. */
  async function endOrMore(crawl: Crawl, site: Site, tally: Tally, room: number): Promise<CrawlProgress | undefined> {
    const due = await nextDue(crawl._id);
    const waitMs = due ? due.getTime() - clock().getTime() : 0;
    if (waitMs > 0) return later(crawl, tally, waitMs, pagesLater);
    if (due || (await addStanding(crawl, site, tally, room)) > 0) return undefined;
    return { state: 'done', url: crawl.url, tally };
  }

  return {
    /** Works on the frontier for half a minute. */
    async crawlBatch({ orgId, crawlId }: Ref): Promise<CrawlProgress> {
      return withHeartbeat(async (signal) => {
        const crawl = await findCrawl(orgId, crawlId);
        if (!crawl || crawl.status !== 'crawling') return { state: 'done', url: '', tally: noTally };
        const { url } = crawl;
        await awaitModel(crawl, signal);
        const until = clock().getTime() + BATCH_MS;
        let tally = await settleFrontier(crawlId, []);
        const site = await sites.open(url, signal);
        if (site.unavailable !== undefined) {
          await noteWait(crawlId, site.unavailable);
          return { state: 'waiting', url, tally, message: site.unavailable };
        }
        if (site.waitMs() > 0) return later(crawl, tally, site.waitMs());
        if (crawl.error !== undefined) await noteWait(crawlId, undefined);
        const visited = await listVisited(crawlId);
        if (!(await isInFrontier(crawlId, url))) await seed(crawl, site, signal);
        const counts: SeriesCounts = new Map();
        for (const one of visited) countSeries(counts, one);
        let tries = visited.length;
        /** The round that was read last; it is stored while the next one is being read. */
        let read: Round | undefined;
        let waitMs = 0;
        for (;;) {
          signal.throwIfAborted();
          waitMs = Math.max(waitMs, read?.waitMs ?? 0);
          const late = clock().getTime() > until || waitMs > 0;
          const taken = read?.taken ?? [];
          // A round that is not full, as at the start of a site, is stored first: what it found fills the next one.
          const alone = late || (taken.length > 0 && taken.length < PAGES_A_ROUND);
          // All that is not stored yet may turn out to be pages.
          const room = crawl.max_pages - tally.indexed - tally.unchanged - taken.length;
          const most = alone ? 0 : Math.min(PAGES_A_ROUND, room, triesFor(crawl.max_pages) - tries);
          const frontierRoom = Math.max(0, frontierLimit(crawl.max_pages) - tally.found - (read?.added ?? 0));
          const entries = await nextOfFrontier(crawlId, most, clock(), taken);
          if (entries.length === 0 && !read) {
            if (waitMs > 0) return later(crawl, tally, waitMs);
            if (!late && (await reopenUnheard(crawlId)) > 0) continue;
            if (late || most <= 0) return { state: late ? 'more' : 'done', url, tally };
            const end = await endOrMore(crawl, site, tally, frontierRoom);
            if (end) return end;
            tally = await settleFrontier(crawlId, []);
            continue;
          }
          tries += entries.length;
          const bounds = { room: frontierRoom, until };
          const [stored, next] = await both(
            read && storeRound(crawl, read, signal),
            entries.length === 0 ? undefined : fetchRound(crawl, site, entries, bounds, counts, signal),
          );
          if (stored) ({ tally } = stored);
          if (stored?.full !== undefined) {
            // What was read meanwhile has no room either, but pages that were there before may have changed.
            if (next) ({ tally } = await storeRound(crawl, next, signal));
            return { state: 'limit_reached', url, tally, message: stored.full };
          }
          read = next;
        }
      });
    },

    /**
     * Puts the end in order, whatever it is: a whole new set takes the place of the old one, an unfinished one is
     * dropped, traces of what is gone are removed. The record ends last, so that no other crawl begins before.
     */
    async finishCrawl({ orgId, crawlId, ending, error }: Ref & { ending: Ending; error?: string | undefined }) {
      return withHeartbeat(async (): Promise<Ending> => {
        const crawl = await findCrawl(orgId, crawlId);
        if (!crawl) return ending;
        if (crawl.status !== 'crawling') {
          await dropFrontier(crawlId);
          return crawl.status;
        }
        const { mode } = crawl;
        const { status, why } = await judge(crawl, ending, error);
        if (status !== 'failed') await settleWaiting(crawlId, explain(status === 'cancelled' ? 'cancelled' : 'limit'));
        if (crawl.replace && status === 'completed') await swapSets(orgId, mode, crawlId, clock());
        else await discardBuilt(orgId, mode, clock());
        if (!crawl.replace) await removeOutlived(crawl);
        const gone = (await listRemovals(orgId, mode)).map(({ _id }) => _id);
        await deletePages(orgId, gone);
        await search.removeSources({ org_id: orgId, mode }, gone);
        await removeAllChunks(orgId, gone);
        await settleRemovals(gone);
        await sweep(orgId, mode);
        await endCrawl(orgId, crawlId, { status, ...(why === undefined ? {} : { error: why }) }, clock());
        // After the record: how a crawl ends is judged by its frontier, and this may run again.
        await dropFrontier(crawlId);
        log.info({ org_id: orgId, crawl_id: crawlId, status, pages: crawl.pages_processed }, 'crawl ended');
        return status;
      });
    },
  };
}
