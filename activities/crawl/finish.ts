/**
 * Ends a crawl: decides whether it succeeded, which pages become live, and which are removed. Every step is idempotent.
 */
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { Search } from '../../clients/knowledge/search/search.ts';
import { removeChunks } from '../../models/knowledge/chunk.ts';
import { wakeEmbedding } from '../../models/knowledge/embedding.ts';
import { deletePages } from '../../models/knowledge/page.ts';
import { listRemovals, settleRemovals } from '../../models/knowledge/removal.ts';
import { endCrawl, type Crawl, type Ending } from '../../models/crawl/crawl.ts';
import { dropFrontier } from '../../models/crawl/frontier.ts';
import { listOutcomes, settleWaiting } from '../../models/crawl/outcomes.ts';
import {
  discardBuilt,
  listLiveUrls,
  listStale,
  releasePages,
  removePagesAt,
  swapSets,
} from '../../models/crawl/pageset.ts';
import { duplicatePages, isWholeSet, missingPages, replacedPages } from '../../models/rules/crawl/fetchoutcome.ts';
import { pageKey } from '../../models/rules/crawl/url.ts';
import { defined } from '../../models/rules/base/defined.ts';

type Deps = { search: Search; embedding: Pick<Embedding, 'model'>; clock: () => Date };
type End = { status: Ending; why: string | undefined };

export function createCrawlFinish({ search, embedding, clock }: Deps) {
  /**
   * The outcome of a crawl. A crawl that read nothing has failed, and so has a crawl with `replace` whose set of pages
   * is too incomplete to go live.
   */
  async function decide(crawl: Crawl, ending: Ending, error: string | undefined): Promise<End> {
    if (ending !== 'completed') return { status: ending, why: error };
    if (crawl.pages_processed === 0) {
      return { status: 'failed', why: crawl.problems[0]?.reason ?? 'The site has no page that could be read.' };
    }
    const why = crawl.replace ? await whyNotWhole(crawl) : undefined;
    return why === undefined ? { status: ending, why: error } : { status: 'failed', why };
  }

  /** Why the pages of a crawl with `replace` must not replace the live pages; undefined when they may. */
  async function whyNotWhole({ _id, org_id, mode, pages_processed: read }: Crawl): Promise<string | undefined> {
    const outcomes = await listOutcomes(_id);
    const failed = [...outcomes.values()].filter(({ outcome }) => outcome === 'failed').length;
    const live = new Map((await listLiveUrls(org_id, mode)).map((url) => [pageKey(url), url]));
    const lost = missingPages(outcomes, live).map((key) => live.get(key)!);
    if (isWholeSet({ read, failed, lost: lost.length })) return undefined;
    if (lost[0] === undefined) {
      return `Of the new set ${failed} pages could not be fetched, so the pages of before stay.`;
    }
    const which = lost.length > 1 ? ` and ${lost.length - 1} more that answer now` : ', which answers now,';
    return `${lost[0]}${which} could not be indexed anew, so the pages of before stay. Remove those that the site has given up, and crawl again.`;
  }

  /**
   * Removes pages that other pages of this crawl have replaced, and duplicates of pages of this crawl. This happens
   * only at the end, so that there is always a page to answer from.
   */
  async function removeReplaced({ _id, org_id, mode }: Crawl): Promise<void> {
    const outcomes = await listOutcomes(_id);
    const live = new Set((await listLiveUrls(org_id, mode)).map((url) => pageKey(url)));
    const keys = [...replacedPages(outcomes), ...duplicatePages(outcomes, live)];
    const urls = keys.map((key) => `https://${key}`);
    await removePagesAt(org_id, mode, urls, clock());
  }

  /** Deletes removed pages with their chunks and index rows. */
  async function settleRemoved({ org_id, mode }: Crawl): Promise<void> {
    const gone = (await listRemovals(org_id, mode)).map(({ _id }) => _id);
    await deletePages(org_id, gone);
    await search.removeSources({ org_id, mode }, gone);
    await removeChunks(org_id, gone);
    await settleRemovals(gone);
  }

  /**
   * Removes the leftovers of batches whose process died. These are generations (versions of a page's chunks) that were
   * not published, and former generations of pages that were published again.
   */
  async function removeStale({ org_id, mode }: Crawl): Promise<void> {
    for (const { _id, keep } of await listStale(org_id, mode)) {
      await search.removeSource({ org_id, mode }, _id, keep?.batch);
      await removeChunks(org_id, [_id], keep && { $ne: keep.generation });
    }
  }

  /**
   * Ends a crawl. A complete set of pages of a crawl with `replace` replaces the live pages; an incomplete set is
   * dropped. Traces of removed pages are deleted. The crawl's record is ended last, so that no other crawl starts
   * before all this is done.
   */
  return async (crawl: Crawl, ending: Ending, error: string | undefined): Promise<End> => {
    const { _id, org_id, mode, replace } = crawl;
    const { status, why } = await decide(crawl, ending, error);
    if (status !== 'failed') await settleWaiting(crawl, status === 'cancelled' ? 'cancelled' : 'limit');
    if (replace && status === 'completed') await swapSets(org_id, mode, _id, clock());
    await discardBuilt(org_id, mode, clock());
    if (!replace) await removeReplaced(crawl);
    await settleRemoved(crawl);
    await removeStale(crawl);
    await releasePages(org_id, mode, _id);
    if (embedding.model !== undefined) await wakeEmbedding(crawl, clock());
    await endCrawl(org_id, _id, { status, ...defined({ error: why }) }, clock());
    // The outcome of the crawl is computed from the frontier, and this step may be repeated. So the frontier is dropped
    // only after the record is ended.
    await dropFrontier(_id);
    return { status, why };
  };
}
