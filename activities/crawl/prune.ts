/**
 * Removes the orphans (unused chunks and index rows) that a prune request found. A crawl may have started since, so
 * only unchanged orphans are removed: what a crawl has updated has another generation.
 */
import { cancellationSignal } from '@temporalio/activity';
import type { Search } from '../../clients/knowledge/search/search.ts';
import { removeChunks } from '../../models/knowledge/chunk.ts';
import { deletePages, findPageIds, removePageAsSeen, supersede, type SeenPage } from '../../models/knowledge/page.ts';
import { deletePruning, findPruning, type Orphan, type Pruning } from '../../models/crawl/prune.ts';
import { findSource } from '../../models/knowledge/source.ts';
import { isCurrent, isCurrentBatch } from '../../models/rules/knowledge/reconcile.ts';

export type PruningActivities = ReturnType<typeof createPruningActivities>;

export function createPruningActivities({ search }: { search: Search }) {
  return {
    /** Executes a prune request, even if parts of it were done before, and then deletes the request. */
    async pruneKnowledge({ orgId, pruningId }: { orgId: string; pruningId: string }): Promise<void> {
      const pruning = await findPruning(orgId, pruningId);
      if (!pruning) return;
      await removeOrphans(search, pruning, cancellationSignal());
      await deletePruning(orgId, pruningId);
    },
  };
}

/**
 * Removes orphans. Returns the number of orphans of which this attempt removed at least a part. A repeated call does no
 * harm.
 */
export async function removeOrphans(
  search: Search,
  { org_id, mode, orphans }: Pick<Pruning, 'org_id' | 'mode' | 'orphans'>,
  signal: AbortSignal,
): Promise<number> {
  const whole: string[] = [];
  let removed = 0;
  for (const orphan of orphans) {
    signal.throwIfAborted();
    const { source_id, page, generations } = orphan;
    if (page && generations) {
      if (await removeOutdated(search, { org_id, mode }, { ...orphan, page, generations })) removed += 1;
      continue;
    }
    if (page) await removePageAsSeen(org_id, page);
    whole.push(source_id);
  }
  // A page that still exists has changed since the request, so it stays. A page that an earlier attempt deleted is
  // gone, but its links, chunks and index rows may be left.
  const standing = await findPageIds(org_id, whole);
  const gone = whole.filter((sourceId) => !standing.has(sourceId));
  await deletePages(org_id, gone);
  await removeChunks(org_id, gone);
  await search.removeSources({ org_id, mode }, gone);
  return removed + gone.length;
}

/**
 * Removes the outdated ones among a live page's orphaned generations (versions of its chunks) and index batches;
 * returns false when none is outdated. The page's record is read after `supersede`, because a generation that is
 * outdated then can never be published.
 */
async function removeOutdated(
  search: Search,
  table: Pick<Pruning, 'org_id' | 'mode'>,
  { source_id, page, generations, batches = [] }: Orphan & { page: SeenPage; generations: number[] },
): Promise<boolean> {
  const { org_id } = table;
  await supersede(org_id, page);
  const now = await findSource(org_id, source_id);
  const outdated = generations.filter((generation) => !now || !isCurrent(now, generation));
  const outdatedBatches = batches.filter((batch) => !now || !isCurrentBatch(now, batch));
  await removeChunks(org_id, [source_id], { $in: outdated });
  for (const batch of outdatedBatches) await search.removeBatch(table, source_id, batch);
  return outdated.length + outdatedBatches.length > 0;
}
