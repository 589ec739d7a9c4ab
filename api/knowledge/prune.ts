/**
 * Holds what is stored and indexed of crawled pages against the pages that exist. What it finds answers no question (every
 * candidate is read again from its page); it takes room, and a page without passages is a promise that is not kept.
 * Nothing needs to be durable here: what was not removed is found again the next time.
 */
import type { Search } from '../../clients/search/search.ts';
import { countChunks, removeAllChunks, removeGenerations } from '../../models/knowledge/chunk.ts';
import { findPageIds, listSets, removePageAsSeen, supersede, type SeenPage } from '../../models/knowledge/page.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { batchOf, generationOf, liveBatch } from '../../models/rules/knowledge/reconcile.ts';

export type Orphan = {
  source_id: string;
  url?: string;
  /** Passages in the database, or in the index if there are more of them. */
  chunks: number;
  /** The page as it was; absent when there was none. */
  page?: SeenPage;
  /** What of the page is orphaned; absent when it is all of it. */
  generations?: number[];
  /** Rows in the index that are orphaned, by their batches. */
  batches?: string[];
};

export async function findOrphans(
  search: Search,
  orgId: string,
  mode: Mode,
): Promise<{ orphaned: Orphan[]; live: number }> {
  // The pages first: of one that is published anew meanwhile, what was seen is no longer true, and it is left alone.
  const pages = await listSets(orgId, mode);
  const [stored, indexed] = await Promise.all([
    countChunks(orgId, mode, 'website'),
    search.listSources({ org_id: orgId, mode }),
  ]);
  const known = new Map(pages.map((page) => [page._id, page]));
  const orphans = new Map<string, Orphan>();
  const report = (sourceId: string, generation: number, chunks: number, batch = batchOf(generation)): void => {
    const page = known.get(sourceId);
    const { generations = [], batches = [], chunks: before = 0 } = orphans.get(sourceId) ?? {};
    orphans.set(sourceId, {
      source_id: sourceId,
      ...(page ? { url: page.url, page } : {}),
      chunks: Math.max(before, chunks),
      ...(page?.live && page.live_generation !== undefined
        ? {
            // A batch that answers no more may be of the generation that does, whose chunks stay.
            generations: [...new Set([...generations, ...(page.live_generation === generation ? [] : [generation])])],
            batches: [...new Set(batches).add(batch)],
          }
        : {}),
    });
  };
  const isCurrent = (sourceId: string, generation: number): boolean => {
    const page = known.get(sourceId);
    return page?.live === true && page.live_generation === generation;
  };
  const isLive = (sourceId: string, batch: string): boolean => {
    const page = known.get(sourceId);
    return page?.live === true && liveBatch(page) === batch;
  };
  for (const { source_id, generation, chunks } of stored)
    if (!isCurrent(source_id, generation)) report(source_id, generation, chunks);
  for (const { source_id, generation, chunks } of indexed)
    if (source_id.startsWith('page_') && !isLive(source_id, generation))
      report(source_id, generationOf(generation), chunks, generation);
  const has = new Set(stored.map(({ source_id, generation }) => `${source_id}:${generation}`));
  let live = 0;
  for (const page of pages) {
    const whole = page.live && page.live_generation !== undefined && has.has(`${page._id}:${page.live_generation}`);
    if (whole) live += 1;
    // Of a set that nobody builds any more, or half deleted: the page itself goes.
    else
      orphans.set(page._id, { source_id: page._id, url: page.url, page, chunks: orphans.get(page._id)?.chunks ?? 0 });
  }
  return { orphaned: [...orphans.values()], live };
}

/**
 * Removes what is still as it was seen, and returns how much that was: a crawl may have begun after the look. It writes
 * generations and pages that were not there then, and whatever it takes up again has another generation by that.
 */
export async function removeOrphans(
  search: Search,
  orgId: string,
  mode: Mode,
  orphaned: readonly Orphan[],
): Promise<number> {
  const table = { org_id: orgId, mode };
  const there = await findPageIds(
    orgId,
    orphaned.map(({ source_id }) => source_id),
  );
  const gone: string[] = [];
  let removed = 0;
  for (const { source_id, page, generations, batches = [] } of orphaned) {
    if (page && generations) {
      if (!(await supersede(orgId, page))) continue;
      await removeGenerations(orgId, source_id, generations);
      for (const batch of batches) await search.removeBatch(table, source_id, batch);
    } else {
      if (page ? !(await removePageAsSeen(orgId, page)) : there.has(source_id)) continue;
      gone.push(source_id);
    }
    removed += 1;
  }
  await removeAllChunks(orgId, gone);
  await search.removeSources(table, gone);
  return removed;
}
