/**
 * Finds orphans: chunks in the database or the search index that no crawled page uses, and pages without chunks. An
 * orphaned chunk never answers a question, because each found chunk is read again from its page, but it takes space. A
 * page without chunks is listed, but answers nothing. A workflow removes the orphans.
 */
import { launch } from '../../workflows/start.ts';
import type { Context } from '../context.ts';
import type { SearchReader } from '../../clients/knowledge/search/reader.ts';
import { newId } from '../../models/base/ids.ts';
import { countChunks } from '../../models/knowledge/chunk.ts';
import { isCopying } from '../../models/knowledge/livecopy.ts';
import { listSets } from '../../models/knowledge/page.ts';
import { createPruning, PruningModel, type Orphan } from '../../models/crawl/prune.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { batchOf, generationOf, liveBatch } from '../../models/rules/knowledge/reconcile.ts';
import { pruneKnowledgeWork } from '../../models/rules/crawl/work.ts';

/** The most orphans in one record, so that the record stays far below MongoDB's 16 MB. */
const orphansARecord = 1_000;

/** `chunks`: the number in the database or in the index, whichever is larger. */
export type ReportedOrphan = Orphan & { url?: string; chunks: number };

export async function findOrphans(
  search: SearchReader,
  orgId: string,
  mode: Mode,
): Promise<{ orphaned: ReportedOrphan[]; live: number }> {
  // Pages are read first. A page that is published again meanwhile no longer matches what was read, so the removal
  // skips it.
  const pages = await listSets(orgId, mode);
  const [stored, indexed] = await Promise.all([
    countChunks(orgId, mode, 'website'),
    search.listSources({ org_id: orgId, mode }),
  ]);
  // A copy from test mode stores a page's chunks before the page, so such chunks are no orphans while a copy runs.
  // `copying` is read after the chunks: if the copy has ended by then, the pages exist, and the removal skips their
  // chunks.
  const copying = await isCopying(orgId, mode);
  const known = new Map(pages.map((page) => [page._id, page]));
  const orphans = new Map<string, ReportedOrphan>();
  const report = (sourceId: string, generation: number, chunks: number, batch = batchOf(generation)): void => {
    const page = known.get(sourceId);
    if (!page && copying) return;
    const { generations = [], batches = [], chunks: before = 0 } = orphans.get(sourceId) ?? {};
    orphans.set(sourceId, {
      source_id: sourceId,
      ...(page ? { url: page.url, page } : {}),
      chunks: Math.max(before, chunks),
      ...(page?.live && page.live_generation !== undefined
        ? {
            // A batch holds the index rows that one attempt to index a generation wrote. A batch that is not live may
            // belong to the live generation. Then only the batch is removed, and the generation's chunks in the
            // database stay.
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
    // The page belongs to an abandoned set of pages or is half deleted, so the page itself is removed.
    else
      orphans.set(page._id, { source_id: page._id, url: page.url, page, chunks: orphans.get(page._id)?.chunks ?? 0 });
  }
  return { orphaned: [...orphans.values()], live };
}

const decisionOf = ({ source_id, page, generations, batches }: ReportedOrphan): Orphan => ({
  source_id,
  ...(page ? { page } : {}),
  ...(generations ? { generations } : {}),
  ...(batches ? { batches } : {}),
});

/**
 * Stores the decision to remove these orphans and starts the workflows that remove them; returns the number of orphans.
 */
export async function launchPruning(
  ctx: Context,
  orgId: string,
  mode: Mode,
  orphaned: readonly ReportedOrphan[],
): Promise<number> {
  for (let at = 0; at < orphaned.length; at += orphansARecord) {
    const orphans = orphaned.slice(at, at + orphansARecord).map(decisionOf);
    const _id = newId('pruning');
    await launch(ctx, PruningModel, [pruneKnowledgeWork(orgId, _id)], ([intent]) =>
      createPruning({ _id, org_id: orgId, mode, orphans, requested_at: ctx.clock(), pending: [intent] }),
    );
  }
  return orphaned.length;
}
