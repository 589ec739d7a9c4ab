/**
 * Copies an organization's test knowledge to live mode. Documents are processed in live mode as if they had been
 * uploaded. Pages are copied with their passages, since their sites may have changed. Existing entries are left alone,
 * so the copy is idempotent.
 */
import { cancellationSignal } from '@temporalio/activity';
import { indexChunks } from './source.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { Search } from '../../clients/knowledge/search/search.ts';
import { newId } from '../../models/base/ids.ts';
import { intentFor } from '../../models/base/pending.ts';
import { chunksOf, insertChunks, listChunks, removeChunks } from '../../models/knowledge/chunk.ts';
import {
  createDocument,
  DocumentModel,
  findDocument,
  findDocumentByHash,
  listAllDocuments,
  listStanding,
  readBytes,
  removeBytes,
  writeBytes,
  type Document,
} from '../../models/knowledge/document.ts';
import { wakeEmbedding } from '../../models/knowledge/embedding.ts';
import { findLiveCopy, finishLiveCopy, type LeftOut, type LiveCopy } from '../../models/knowledge/livecopy.ts';
import { countPages, createPage, findVisiblePage, listVisiblePages, type Page } from '../../models/knowledge/page.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { effectiveAuthority } from '../../models/rules/knowledge/authority.ts';
import { processDocumentWork } from '../../models/rules/knowledge/work.ts';
import { checkQuota, type Quotas } from '../../models/rules/knowledge/quota.ts';
import { defined } from '../../models/rules/base/defined.ts';
import type { Starter } from '../../providers/base/handled.ts';

export type LiveCopyDeps = Starter & {
  search: Search;
  embedding: Pick<Embedding, 'model'>;
  quotas: Quotas;
  clock: () => Date;
};
type Ref = { orgId: string; copyId: string };
const deletedMeanwhile = 'It was deleted meanwhile.';
const crawledMeanwhile = 'A crawl in test mode read it meanwhile.';
const takenMeanwhile = 'Live mode changed at its address meanwhile.';
/** The live quota applies, because the organization is going live, even if that is not stored yet. */
const allowance = 'production';
export type LiveCopyActivities = ReturnType<typeof createLiveCopyActivities>;

export function createLiveCopyActivities({ search, embedding, quotas, start, clock }: LiveCopyDeps) {
  /**
   * Copies a document to live mode. Returns why it was not copied; undefined when live mode has the document. The
   * record is read again, because documents may change while others are copied.
   */
  async function copyDocument({ org_id, _id: testId }: Document, by: string): Promise<string | undefined> {
    const from = await findDocument(org_id, ['test'], testId);
    if (!from) return deletedMeanwhile;
    const { filename, title, public_url, file_type, mime_type, file_size, sha256, segments, authority } = from;
    const { written_at = from.created_at } = from;
    if (from.status === 'failed') return from.error ?? 'It could not be read.';
    if (await findDocumentByHash(org_id, 'live', sha256)) return undefined;
    const standing = await listStanding(org_id, 'live');
    const _id = newId('document');
    try {
      // The quota is checked before any byte is stored.
      checkQuota(quotas, allowance, 'documents', standing.length);
      await writeBytes(_id, readBytes(from));
    } catch (error) {
      if (error instanceof Problem) return error.message;
      // If the test record was deleted meanwhile, its bytes are gone too, which caused the error.
      if (await findDocument(org_id, ['test'], testId)) throw error;
      return deletedMeanwhile;
    }
    const now = clock();
    const intent = intentFor(processDocumentWork(org_id, _id, 1), now);
    const tags = { segments, ...defined({ authority }) };
    const file = { filename, ...defined({ title, public_url }), file_type, mime_type, file_size, sha256, written_at };
    const counts = { generation: 1, chunk_count: 0, tags_version: 0, created_at: now, updated_at: now };
    const record = { _id, org_id, mode: 'live', status: 'uploaded', uploaded_by: by } as const;
    try {
      const fresh = { ...record, ...file, ...tags, ...counts, pending: [intent] };
      const created = await createDocument(fresh, quotas, allowance, standing);
      if (created) await start(DocumentModel, created, [intent]);
      else await removeBytes(_id);
      return undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      await removeBytes(_id);
      return error.message;
    }
  }

  /**
   * Why live mode lacks a page whose copy was refused. Undefined when a crawl or another attempt published the page.
   */
  const whyLacking = async ({ org_id, url }: Page): Promise<string | undefined> =>
    (await findVisiblePage(org_id, 'live', { url })) ? undefined : takenMeanwhile;

  /**
   * Copies a page to live mode. Returns why it was not copied; undefined when live mode has the page. The page is read
   * again, because a crawl or a member may have changed or deleted it while others were copied.
   *
   * The chunks and the index rows are stored before the page, so that the page answers questions from its first moment.
   * If the attempt dies in between, a later attempt copies the page anew. The next crawl of live mode, or a prune
   * request, removes the chunks and rows of the dead attempt.
   */
  async function copyPage({ org_id, _id: testId }: Page): Promise<string | undefined> {
    try {
      checkQuota(quotas, allowance, 'knowledge_pages', await countPages(org_id, ['live']));
    } catch (error) {
      if (error instanceof Problem) return error.message;
      throw error;
    }
    const from = await findVisiblePage(org_id, 'test', { _id: testId });
    if (!from) return deletedMeanwhile;
    const cut = (await listChunks(org_id, testId, from.live_generation!)).map(({ ordinal, heading, text }) => ({
      ordinal,
      heading,
      text,
    }));
    // A crawl that has published a newer generation removes the chunks of this generation, so some of them may be
    // missing.
    if (cut.length !== from.chunk_count) return crawledMeanwhile;
    const _id = newId('page');
    const table = { org_id, mode: 'live' } as const;
    const chunks = chunksOf({ ...table, source_type: 'website', source_id: _id, generation: 1 }, cut);
    const { url, title, crawl_id, segments, authority, content_sha256, crawled_at } = from;
    const tags = { segments, authority: effectiveAuthority(authority, 'website') };
    try {
      await insertChunks(chunks);
      await indexChunks(search, table, chunks, () => tags);
    } catch (error) {
      // The next attempt stores the chunks under a new id. Without this removal, each failed attempt would leave its
      // chunks.
      await removeChunks(org_id, [_id]).catch(() => undefined);
      throw error;
    }
    // The page's `etag` and `last_modified` are not copied. Without them, the next crawl reads the page in full, and so
    // finds the page's links.
    const read = { url, title, crawl_id, content_sha256, crawled_at };
    const now = clock();
    const counts = { generation: 1, live_generation: 1, chunk_count: chunks.length, tags_version: 0 };
    const fresh = { ...read, segments, ...defined({ authority }), ...counts, created_at: now, updated_at: now };
    if (await createPage({ _id, ...table, live: true, ...fresh })) return undefined;
    await search.removeSource(table, _id);
    await removeChunks(org_id, [_id]);
    return whyLacking(from);
  }

  async function copyAll({ org_id, requested_by }: LiveCopy, signal: AbortSignal) {
    const left_out: LeftOut[] = [];
    const [documents, pages] = [await listAllDocuments(org_id, 'test'), await listVisiblePages(org_id, 'test')];
    const note = (id: string, reason: string | undefined): boolean => {
      if (reason !== undefined) left_out.push({ id, reason });
      return reason === undefined;
    };
    const taken = { documents: 0, pages: 0 };
    for (const document of documents) {
      signal.throwIfAborted();
      if (note(document._id, await copyDocument(document, requested_by))) taken.documents += 1;
    }
    const there = new Set((await listVisiblePages(org_id, 'live')).map(({ url }) => url));
    for (const page of pages) {
      signal.throwIfAborted();
      if (there.has(page.url) || note(page._id, await copyPage(page))) taken.pages += 1;
    }
    if (taken.pages > 0 && embedding.model !== undefined) await wakeEmbedding({ org_id, mode: 'live' }, clock());
    return { ...taken, left_out };
  }

  return {
    /** Copies everything that live mode does not have yet, and stores the outcome. */
    async copyToLive({ orgId, copyId }: Ref): Promise<void> {
      const copy = await findLiveCopy(orgId, copyId);
      if (!copy || copy.finished_at) return;
      await finishLiveCopy(orgId, copyId, await copyAll(copy, cancellationSignal()), clock());
    },
  };
}
