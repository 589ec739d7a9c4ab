/**
 * Stores an uploaded file as a document: first the bytes, then the record, which counts against the quota; then
 * processing starts.
 */
import { createReadStream } from 'node:fs';
import type { Context } from '../context.ts';
import { launch } from '../../workflows/start.ts';
import { newId } from '../../models/base/ids.ts';
import {
  createDocument,
  DocumentModel,
  findDocumentByHash,
  listStanding,
  removeBytes,
  writeBytes,
  type Document,
} from '../../models/knowledge/document.ts';
import type { Environment, Mode } from '../../models/rules/access/keys.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { isUnprocessed, mimeTypes, type FileType } from '../../models/rules/knowledge/document.ts';
import { checkQuota, quotaEnvironment } from '../../models/rules/knowledge/quota.ts';
import { processDocumentWork } from '../../models/rules/knowledge/work.ts';

/** An uploaded file at a temporary path, or the text of an article. */
export type Upload = ({ path: string } | { text: string }) & {
  /** The file's size, in bytes. */
  size: number;
  sha256: string;
  filename: string;
  type: FileType;
  tags: Pick<Document, 'segments' | 'authority'>;
};
type Uploader = { mode: Mode; environment: Environment; actor: string };
type Stored = { document: Document; duplicate?: true };

/**
 * Stores a file and starts its processing, unless the organization has a document with the same bytes.
 * @throws Problem SANDBOX_LIMIT, BETA_LIMIT_REACHED
 */
export async function storeUpload(ctx: Context, orgId: string, uploader: Uploader, upload: Upload): Promise<Stored> {
  const { mode } = uploader;
  const [duplicate, standing] = await Promise.all([
    findDocumentByHash(orgId, mode, upload.sha256),
    listStanding(orgId, mode),
  ]);
  if (duplicate) return { document: duplicate, duplicate: true };
  const { quotas } = ctx.config;
  const allowance = quotaEnvironment(mode, uploader.environment);
  // The quota is checked before any byte is stored.
  checkQuota(quotas, allowance, 'documents', standing.length);

  const docId = newId('document');
  if ('path' in upload) await writeBytes(docId, createReadStream(upload.path));
  const record = newDocument(docId, orgId, uploader, upload, ctx.clock());
  const crowded = standing.some(({ status }) => isUnprocessed(status));
  const created = await launch(ctx, DocumentModel, [processDocumentWork(orgId, docId, 1, { crowded })], ([intent]) =>
    createDocument({ ...record, pending: [intent] }, quotas, allowance, standing),
  ).catch(async (error: unknown) => {
    // A Problem means that no record was stored. After any other error the record may exist, so the bytes stay.
    // Maintenance deletes bytes without a record.
    if (error instanceof Problem) await removeBytes(docId);
    throw error;
  });
  if (created) return { document: created };
  await removeBytes(docId);
  const first = await findDocumentByHash(orgId, mode, upload.sha256);
  if (first) return { document: first, duplicate: true };
  throw new Problem('CONFLICT', { message: 'The same file was uploaded and deleted meanwhile; upload it again.' });
}

function newDocument(docId: string, orgId: string, uploader: Uploader, upload: Upload, now: Date): Document {
  const { filename, type, size, sha256, tags } = upload;
  return {
    _id: docId,
    org_id: orgId,
    mode: uploader.mode,
    filename,
    file_type: type,
    mime_type: mimeTypes[type],
    file_size: size,
    sha256,
    ...('text' in upload ? { text: upload.text } : {}),
    status: 'uploaded',
    ...tags,
    uploaded_by: uploader.actor,
    generation: 1,
    chunk_count: 0,
    tags_version: 0,
    created_at: now,
    updated_at: now,
  };
}
