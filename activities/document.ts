/**
 * What processing a document does to the world. Every activity may run again at any point: writes are by id and
 * generation, and the record is only moved by compare-and-set.
 */
import type { Logger } from 'pino';
import { withHeartbeat } from './heartbeat.ts';
import { syncTags } from './source.ts';
import type { Ai } from '../clients/ai.ts';
import type { Files } from '../clients/files.ts';
import type { IndexTable, Search } from '../clients/search.ts';
import { listChunks, removeChunks, writeChunks } from '../models/chunk.ts';
import {
  claimDocument,
  DocumentModel,
  failDocument,
  publishDocument,
  readBytes,
  type Document,
} from '../models/document.ts';
import { effectiveAuthority } from '../models/rules/authority.ts';
import type { Chunk } from '../models/rules/chunks.ts';
import { Unreadable } from '../models/rules/document.ts';

export type DocumentDeps = { files: Files; search: Search; ai: Ai; clock: () => Date; log: Logger };
type Ref = { orgId: string; docId: string; generation: number };
export type DocumentActivities = ReturnType<typeof createDocumentActivities>;

export function createDocumentActivities({ files, search, ai, clock, log }: DocumentDeps) {
  const tableOf = (document: { org_id: string; mode: Document['mode'] }): IndexTable => ({
    org_id: document.org_id,
    mode: document.mode,
  });
  const find = (orgId: string, docId: string) => DocumentModel.findOne({ _id: docId, org_id: orgId }).lean();

  /** Puts the generation into the index, lets it answer, and removes what the generation before left. */
  async function index({ orgId, docId, generation }: Ref, signal: AbortSignal): Promise<'indexed' | 'gone'> {
    const document = await find(orgId, docId);
    if (document) {
      const chunks = await listChunks(orgId, docId, generation);
      const vectors = ai.embeddingModel
        ? await ai.embed(
            chunks.map((c) => `${c.heading}\n${c.text}`),
            signal,
          )
        : undefined;
      await search.add(
        tableOf(document),
        chunks.map((chunk, i) => ({
          id: chunk._id,
          source_id: docId,
          generation: String(generation),
          segments: document.segments,
          authority: effectiveAuthority(document.authority, 'document'),
          heading: chunk.heading,
          text: chunk.text,
          ...(vectors ? { vector: vectors[i]! } : {}),
        })),
      );
      const published = await publishDocument(orgId, docId, generation, chunks.length, clock());
      if (published) {
        await syncTags(search, { orgId, sourceId: docId }, document.tags_version);
        await search.removeSource(tableOf(document), docId, String(generation));
        await removeChunks(orgId, docId, generation);
        return 'indexed';
      }
      if (await find(orgId, docId)) return 'gone';
      await search.removeSource(tableOf(document), docId);
    }
    // Deleted while it was being read: what was stored after the deletion has no owner.
    await removeChunks(orgId, docId);
    return 'gone';
  }

  return {
    /**
     * Claims the generation, reads the file in its own process and stores the passages. Indexes them too when that needs
     * no third party, which saves the way through the server; `read`: indexing is still to be done, and tried, alone.
     */
    async readDocument(ref: Ref): Promise<'read' | 'indexed' | 'failed' | 'gone'> {
      const { orgId, docId, generation } = ref;
      return withHeartbeat(async (signal) => {
        const document = await claimDocument(orgId, docId, generation, clock());
        if (!document) {
          const standing = await find(orgId, docId);
          // An earlier attempt published it and did not come to the end.
          return standing?.live_generation === generation && standing.status === 'indexed' ? 'read' : 'gone';
        }
        let passages: Chunk[];
        try {
          passages = await files.chunk(readBytes(docId), document.file_type, { signal, filename: document.filename });
        } catch (error) {
          if (!(error instanceof Unreadable)) throw error;
          log.info({ doc_id: docId, org_id: orgId, reason: error.reason, err: error.cause }, 'document cannot be read');
          await failDocument(orgId, docId, generation, error.message, clock());
          return 'failed';
        }
        const source = {
          org_id: orgId,
          mode: document.mode,
          source_type: 'document' as const,
          source_id: docId,
          generation,
        };
        await writeChunks(source, passages);
        if (ai.embeddingModel) return 'read';
        try {
          return await index(ref, signal);
        } catch (error) {
          log.warn({ doc_id: docId, org_id: orgId, err: error }, 'indexing failed and is tried again by itself');
          return 'read';
        }
      });
    },

    async indexDocument(ref: Ref): Promise<'indexed' | 'gone'> {
      return withHeartbeat((signal) => index(ref, signal));
    },
  };
}
