/**
 * The activities that process a document. Each is idempotent: writes are by id and generation, and the record only
 * changes by compare-and-set.
 */
import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import { indexChunks, syncTags } from './source.ts';
import { embedSource, type Embeds } from './embedding.ts';
import type { Files } from '../../clients/files/files.ts';
import type { IndexTable, Search } from '../../clients/knowledge/search/search.ts';
import { chunksOf, listChunks, removeChunks, writeChunks, type Chunk } from '../../models/knowledge/chunk.ts';
import {
  claimDocument,
  claimIndexing,
  failDocument,
  findDocument,
  isCrowded,
  publishDocument,
  readBytes,
  type Document,
} from '../../models/knowledge/document.ts';
import { wakeEmbedding } from '../../models/knowledge/embedding.ts';
import { effectiveAuthority } from '../../models/rules/knowledge/authority.ts';
import type { CutChunk } from '../../models/rules/knowledge/chunks.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { modes } from '../../models/rules/access/keys.ts';
import { batchOf, isCurrent, isCurrentBatch } from '../../models/rules/knowledge/reconcile.ts';

export type DocumentDeps = {
  files: Files;
  search: Search;
  embedding: Embeds;
  clock: () => Date;
  log: Logger;
};
type Ref = { orgId: string; docId: string; generation: number };
/**
 * A document with more passages than this is published first and embedded in the background. Embedding 60 passages
 * takes some five seconds.
 */
const passagesAtOnce = 60;
export type ReadOutcome = 'read' | 'embed' | 'indexed' | 'gone' | 'crowded' | { failed: string };
export type DocumentActivities = ReturnType<typeof createDocumentActivities>;

/**
 * `backlog`: whether the activities serve the queue `backlog`. Its documents wait behind others of their organization,
 * and are read at low priority.
 */
export function createDocumentActivities(
  { files, search, embedding, clock, log }: DocumentDeps,
  { backlog = false }: { backlog?: boolean } = {},
) {
  const tableOf = (document: { org_id: string; mode: Document['mode'] }): IndexTable => ({
    org_id: document.org_id,
    mode: document.mode,
  });
  /** The batch name of the index rows that an attempt writes. */
  const batchNamed = ({ generation, claimed }: Document): string => batchOf(generation, claimed);
  const find = (orgId: string, docId: string) => findDocument(orgId, modes, docId);

  async function addRows(document: Document, chunks: readonly Chunk[]): Promise<void> {
    const { segments, authority } = document;
    const tags = { segments, authority: effectiveAuthority(authority, 'document') };
    await indexChunks(search, tableOf(document), chunks, () => tags, batchNamed(document));
  }

  /**
   * Makes a stored and indexed generation (a version of the document's chunks) live, and removes the leftovers of other
   * generations and attempts. `model`: the embedding model, if the passages already have its vectors. `written`: the
   * version of the tags that the rows have, or -1 when that is unknown.
   */
  async function publish(
    document: Document,
    chunkCount: number,
    model?: string,
    written = document.tags_version,
  ): Promise<'indexed' | 'gone'> {
    const { _id: docId, org_id: orgId, generation } = document;
    if (await publishDocument(document, chunkCount, clock(), model)) {
      // If the attempt dies before this line, it is repeated and publishes again.
      if (embedding.model !== undefined) await wakeEmbedding(document, clock());
      await syncTags(search, { orgId, sourceId: docId }, written);
      await search.removeSource(tableOf(document), docId, batchNamed(document));
      // Only older generations are removed, because the chunks of a newer generation may be about to be published.
      await removeChunks(orgId, [docId], { $lt: generation });
      return 'indexed';
    }
    return removeTraces({ orgId, docId, generation }, batchNamed(document));
  }

  /**
   * Removes what an overtaken attempt has stored. An attempt is overtaken when its document was deleted or processed
   * again meanwhile. If the document was deleted, all of its data is removed. If the document was processed again, this
   * generation (version of its chunks) and the rows of this attempt (`batch`) are removed, unless they are live.
   */
  async function removeTraces({ orgId, docId, generation }: Ref, batch = batchOf(generation)): Promise<'gone'> {
    const standing = await find(orgId, docId);
    if (!standing) {
      for (const mode of modes) await search.removeSource({ org_id: orgId, mode }, docId);
      await removeChunks(orgId, [docId]);
      return 'gone';
    }
    if (!isCurrent(standing, generation)) {
      await removeChunks(orgId, [docId], { $in: [generation] });
      const { model } = embedding;
      if (model !== undefined) await search.removeBatch({ ...tableOf(standing), model }, docId, String(generation));
    }
    if (!isCurrentBatch(standing, batch)) await search.removeBatch(tableOf(standing), docId, batch);
    return 'gone';
  }

  /**
   * Returns `read`, or `gone` when a later attempt has overtaken this one. An overtaken attempt removes its chunks
   * itself, because the workflow does not see its outcome.
   */
  async function readOrLate(ref: Ref): Promise<'read' | 'gone'> {
    const standing = await find(ref.orgId, ref.docId);
    return standing && isCurrent(standing, ref.generation) ? 'read' : removeTraces(ref);
  }

  return {
    /**
     * Claims the generation, reads the file in a child process, stores the chunks and indexes them. `read`: indexing
     * failed and is retried separately, so that the file is not read again. `failed`: why the file cannot be read.
     * `embed`: the document is small enough to be embedded before it is published. `crowded`: another document of the
     * organization is being processed, so this one must wait in the backlog, which leaves this queue to other
     * organizations.
     */
    async readDocument(ref: Ref): Promise<ReadOutcome> {
      const { orgId, docId, generation } = ref;
      const document = await claimDocument(orgId, docId, generation, clock());
      if (!document) {
        const standing = await find(orgId, docId);
        // An earlier attempt published the document or found it unreadable, and died before it returned.
        const published = standing?.live_generation === generation && standing.status === 'indexed';
        if (published) return 'read';
        if (standing?.generation === generation && standing.status === 'failed' && standing.error !== undefined)
          return { failed: standing.error };
        return removeTraces(ref);
      }
      if (!backlog && (await isCrowded(document))) return 'crowded';
      let cut: CutChunk[];
      try {
        const { file_type, filename } = document;
        const signal = cancellationSignal();
        cut = await files.chunk(readBytes(document), file_type, { signal, filename, background: backlog });
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        log.info({ doc_id: docId, org_id: orgId, reason: error.reason, err: error.cause }, 'document cannot be read');
        if (!(await failDocument(document, error.message, clock()))) return removeTraces(ref, batchNamed(document));
        // This document will not answer the questions that waited for it, so they are asked again.
        if (embedding.model !== undefined) await wakeEmbedding(document, clock());
        return { failed: error.message };
      }
      const { mode } = document;
      const source = { org_id: orgId, mode, source_type: 'document' as const, source_id: docId, generation };
      const chunks = chunksOf(source, cut);
      // Index rows are not visible before their generation is published, so chunks and rows are written in parallel.
      const [written, added] = await Promise.allSettled([writeChunks(source, chunks), addRows(document, chunks)]);
      if (written.status === 'rejected') throw written.reason;
      try {
        if (added.status === 'rejected') throw added.reason;
        const isSmall = chunks.length <= passagesAtOnce && !backlog;
        if (embedding.model === undefined || !isSmall) return await publish(document, chunks.length);
        const standing = await find(orgId, docId);
        return standing && isCurrent(standing, generation) ? 'embed' : await removeTraces(ref, batchNamed(document));
      } catch (error) {
        log.warn({ doc_id: docId, org_id: orgId, err: error }, 'indexing failed and is tried again by itself');
        return await readOrLate(ref);
      }
    },

    /**
     * Embeds a document that was read, and publishes it, so that it is found by meaning as soon as it is indexed. Fails
     * when the vectors cannot be computed.
     */
    async embedDocument(ref: Ref): Promise<'indexed' | 'gone'> {
      const { orgId, docId, generation } = ref;
      const document = await find(orgId, docId);
      if (!document || !isCurrent(document, generation)) return removeTraces(ref);
      const chunks = await listChunks(orgId, docId, generation);
      const authority = effectiveAuthority(document.authority, 'document');
      await embedSource({ search, embedding }, { ...document, authority }, chunks, cancellationSignal());
      // `readDocument` wrote the rows, maybe with older tags, so the version of their tags is unknown (-1). At version
      // 0 the tags have never changed.
      const written = document.tags_version === 0 ? 0 : -1;
      return publish(document, chunks.length, embedding.model, written);
    },

    async indexDocument({ orgId, docId, generation }: Ref): Promise<'indexed' | 'gone'> {
      const document = await claimIndexing(orgId, docId, generation);
      if (!document) return removeTraces({ orgId, docId, generation });
      const chunks = await listChunks(orgId, docId, generation);
      await addRows(document, chunks);
      return publish(document, chunks.length);
    },
  };
}
