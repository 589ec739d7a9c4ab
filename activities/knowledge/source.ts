/** Applies a change of a source to the index and to storage. Idempotent. */
import type { IndexRow, IndexTable, Search } from '../../clients/knowledge/search/search.ts';
import { createCopyActivities } from '../base/copies.ts';
import { collectionOf } from '../../models/base/define.ts';
import { eraseCopies } from '../../models/base/copies.ts';
import { removeChunks, type Chunk } from '../../models/knowledge/chunk.ts';
import { removeBytes } from '../../models/knowledge/document.ts';
import { RemovalModel } from '../../models/knowledge/removal.ts';
import { deleteSource, findSource } from '../../models/knowledge/source.ts';
import { batchOf, liveBatch } from '../../models/rules/knowledge/reconcile.ts';

type Ref = { orgId: string; sourceId: string };
export type SourceActivities = ReturnType<typeof createSourceActivities>;

/**
 * Adds chunks to the lexical index; queries see them once their generation (the version of the source's chunks) is
 * published. `tagsOf`: the tags of a source, by its id. `batch`: a name for these rows, when several attempts write
 * rows of one generation.
 */
export async function indexChunks(
  search: Search,
  table: IndexTable,
  chunks: readonly Chunk[],
  tagsOf: (sourceId: string) => Pick<IndexRow, 'segments' | 'authority'>,
  batch?: string,
): Promise<void> {
  await search.add(
    table,
    chunks.map(({ _id, source_id, generation, heading, text }) => ({
      id: _id,
      source_id,
      generation: batch ?? batchOf(generation),
      ...tagsOf(source_id),
      heading,
      text,
    })),
  );
}

/**
 * Writes a source's tags to its live index rows, and repeats that until no newer tags were stored meanwhile. `written`:
 * the version of the tags that the rows have, or -1 when that is unknown. Rows that are not live yet are left alone;
 * the code that publishes them calls this function afterwards.
 */
export async function syncTags(search: Search, { orgId, sourceId }: Ref, written: number): Promise<void> {
  for (
    let source = await findSource(orgId, sourceId);
    source && source.tags_version !== written;
    source = await findSource(orgId, sourceId)
  ) {
    const { org_id, mode, segments, authority } = source;
    const live = liveBatch(source);
    if (live !== undefined) await search.retag({ org_id, mode }, sourceId, { segments, authority }, live);
    written = source.tags_version;
  }
}

export function createSourceActivities({ search }: { search: Search }) {
  return {
    ...createCopyActivities(),

    async retagSource(ref: Ref): Promise<void> {
      await syncTags(search, ref, -1);
    },

    /** Executes a removal request, even if parts of it were done before, and then deletes the request. */
    async eraseSource({ orgId, sourceId }: Ref): Promise<void> {
      const removal = await collectionOf(RemovalModel).findOne({ _id: sourceId, org_id: orgId });
      if (!removal) return;
      await deleteSource(orgId, sourceId);
      await search.removeSource({ org_id: orgId, mode: removal.mode }, sourceId);
      await removeChunks(orgId, [sourceId]);
      await removeBytes(sourceId);
      await eraseCopies([sourceId]);
      await collectionOf(RemovalModel).deleteOne({ _id: sourceId });
    },
  };
}
