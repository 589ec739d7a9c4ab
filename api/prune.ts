/**
 * Holds what is stored and indexed of crawled pages against the pages that exist. What it finds answers no question (every
 * candidate is read again from its page); it takes room, and a page without passages is a promise that is not kept.
 * Nothing needs to be durable here: what was not removed is found again the next time.
 */
import type { Search } from '../clients/search.ts';
import { countChunks, removeChunks, removeAllChunks } from '../models/chunk.ts';
import { deletePages, listSets } from '../models/page.ts';
import type { Mode } from '../models/rules/keys.ts';

export type Orphan = {
  source_id: string;
  url?: string;
  /** Passages in the database, or in the index if there are more of them. */
  chunks: number;
  /** The generation that stays, when only others of the page are orphaned. */
  keep?: number;
};

export async function findOrphans(
  search: Search,
  orgId: string,
  mode: Mode,
): Promise<{ orphaned: Orphan[]; live: number }> {
  const [pages, stored, indexed] = await Promise.all([
    listSets(orgId, mode),
    countChunks(orgId, mode, 'website'),
    search.listSources({ org_id: orgId, mode }),
  ]);
  const known = new Map(pages.map((page) => [page._id, page]));
  const orphans = new Map<string, Orphan>();
  const report = (sourceId: string, chunks: number): void => {
    const page = known.get(sourceId);
    const keep = page?.live ? page.live_generation : undefined;
    const seen = orphans.get(sourceId)?.chunks ?? 0;
    orphans.set(sourceId, {
      source_id: sourceId,
      ...(page ? { url: page.url } : {}),
      chunks: Math.max(seen, chunks),
      ...(keep === undefined ? {} : { keep }),
    });
  };
  const isCurrent = (sourceId: string, generation: number): boolean => {
    const page = known.get(sourceId);
    return page?.live === true && page.live_generation === generation;
  };
  for (const { source_id, generation, chunks } of stored)
    if (!isCurrent(source_id, generation)) report(source_id, chunks);
  for (const { source_id, generation, chunks } of indexed)
    if (source_id.startsWith('page_') && !isCurrent(source_id, Number(generation))) report(source_id, chunks);
  const has = new Set(stored.map(({ source_id, generation }) => `${source_id}:${generation}`));
  let live = 0;
  for (const page of pages) {
    const whole = page.live && page.live_generation !== undefined && has.has(`${page._id}:${page.live_generation}`);
    if (whole) live += 1;
    // Of a set that nobody builds any more, or half deleted: the page itself goes.
    else orphans.set(page._id, { source_id: page._id, url: page.url, chunks: orphans.get(page._id)?.chunks ?? 0 });
  }
  return { orphaned: [...orphans.values()], live };
}

export async function removeOrphans(
  search: Search,
  orgId: string,
  mode: Mode,
  orphaned: readonly Orphan[],
): Promise<void> {
  const table = { org_id: orgId, mode };
  const whole = orphaned.filter(({ keep }) => keep === undefined).map(({ source_id }) => source_id);
  await deletePages(orgId, whole);
  await removeAllChunks(orgId, whole);
  await search.removeSources(table, whole);
  for (const { source_id, keep } of orphaned) {
    if (keep === undefined) continue;
    await removeChunks(orgId, source_id, keep);
    await search.removeSource(table, source_id, String(keep));
  }
}
