/** Routes of documents: upload, list, tag, reprocess, delete. workflows/knowledge/document.ts processes documents. */
import { key } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/documents.ts';
import { paged } from '../../http/cursor.ts';
import { launch } from '../../../workflows/start.ts';
import { route, withStatus } from '../../http/route.ts';
import { embeddedAt } from '../source.ts';
import { storeUpload } from '../upload.ts';
import { sniffFile } from '../../../clients/files/files.ts';
import {
  citeDocument,
  countDocuments,
  DocumentModel,
  findDocument,
  isCrowded,
  listDocuments,
  restartDocument,
  type Document,
} from '../../../models/knowledge/document.ts';
import { newId } from '../../../models/base/ids.ts';
import { RemovalModel } from '../../../models/knowledge/removal.ts';
import { removeSource, tagSource } from '../../../models/knowledge/source.ts';
import { effectiveAuthority, type Authority } from '../../../models/rules/knowledge/authority.ts';
import { cleanFilename } from '../../../models/rules/knowledge/document.ts';
import { noSuch, Problem } from '../../../models/rules/base/errors.ts';
import { normalizeSegments } from '../../../models/rules/knowledge/segments.ts';
import { eraseSourceWork, processDocumentWork, retagSourceWork } from '../../../models/rules/knowledge/work.ts';

export const beingProcessed = () =>
  new Problem('CONFLICT', { message: 'This document is being processed already; wait for it to end.' });

export const missing = () => noSuch('document');

export function view(document: Document, { embedding: { model } }: Pick<Context, 'embedding'>) {
  return {
    ...document,
    doc_id: document._id,
    authority: effectiveAuthority(document.authority, 'document'),
    embedded_at: embeddedAt(document, model),
  };
}

/**
 * Stores new tags. A workflow updates the index later; until then, searches already hide the documents that the new
 * tags exclude.
 */
async function retag(
  ctx: Context,
  orgId: string,
  modes: Document['mode'][],
  docId: string,
  tags: { segments?: string[]; authority?: Authority },
) {
  const work = retagSourceWork('document', orgId, docId, newId('request'));
  const tagged = await launch(ctx, DocumentModel, [work], ([intent]) =>
    tagSource(DocumentModel, { orgId, modes, sourceId: docId }, tags, ctx.clock(), intent),
  );
  if (!tagged) throw missing();
  return { document: view(tagged, ctx) };
}

export const documentRoutes = [
  route('uploadDocument', 'POST /orgs/{orgId}/documents', {
    summary:
      'Upload a document (DOCX, TXT, MD, CSV or XLSX); it is processed afterwards: poll its status until `indexed`.',
    auth: key('support:write'),
    upload: true,
    body: contract.uploadForm,
    status: 201,
    otherStatuses: [200],
    reply: contract.uploadReply,
    errors: ['UNSUPPORTED_FILE_TYPE', 'SANDBOX_LIMIT', 'BETA_LIMIT_REACHED', 'TOO_LARGE'],
    async handle({ params: { orgId }, body, file, principal }, ctx) {
      const segments = normalizeSegments((body.segments ?? '').split(',').filter((s) => s.trim() !== ''));
      const filename = cleanFilename(file.filename);
      const type = await sniffFile(file.path, filename);
      const tags = { segments, ...(body.authority ? { authority: body.authority } : {}) };
      const upload = { ...file, filename, type, tags };
      const { document, duplicate } = await storeUpload(ctx, orgId, principal, upload);
      return duplicate
        ? withStatus(200, { document: view(document, ctx), duplicate })
        : { document: view(document, ctx) };
    },
  }),
  route('listDocuments', 'GET /orgs/{orgId}/documents', {
    summary: 'List documents, newest first.',
    auth: key('support:read'),
    query: contract.documentListQuery,
    reply: contract.documentList,
    async handle({ params: { orgId }, query, principal: { modes } }, ctx) {
      const [{ entries, cursor }, count] = await Promise.all([
        paged(query, (limit, after) => listDocuments(orgId, modes, limit, after)),
        countDocuments(orgId, modes),
      ]);
      return { documents: entries.map((entry) => view(entry, ctx)), count, cursor };
    },
  }),
  route('getDocument', 'GET /orgs/{orgId}/documents/{docId}', {
    summary: 'Read a document’s status and details.',
    auth: key('support:read'),
    reply: contract.documentReply,
    async handle({ params: { orgId, docId }, principal: { modes } }, ctx) {
      const found = await findDocument(orgId, modes, docId);
      if (!found) throw missing();
      return { document: view(found, ctx) };
    },
  }),
  route('setDocumentSegments', 'PATCH /orgs/{orgId}/documents/{docId}/segments', {
    summary: 'Replace a document’s segments; an empty list makes it answer every segment.',
    auth: key('support:write'),
    body: contract.segmentsBody,
    reply: contract.documentReply,
    async handle({ params: { orgId, docId }, body, principal: { modes } }, ctx) {
      return retag(ctx, orgId, modes, docId, { segments: normalizeSegments(body.segments) });
    },
  }),
  route('setDocumentAuthority', 'PATCH /orgs/{orgId}/documents/{docId}/authority', {
    summary: 'Set a document’s priority.',
    auth: key('support:write'),
    body: contract.authorityBody,
    reply: contract.documentReply,
    async handle({ params: { orgId, docId }, body, principal: { modes } }, ctx) {
      return retag(ctx, orgId, modes, docId, { authority: body.authority });
    },
  }),
  route('setDocumentSource', 'PATCH /orgs/{orgId}/documents/{docId}/source', {
    summary: 'Set how customers see a document below an answer: its title, and a link to where it can be read.',
    auth: key('support:write'),
    body: contract.sourceBody,
    reply: contract.documentReply,
    async handle({ params: { orgId, docId }, body, principal: { modes } }, ctx) {
      const given = { title: body.title?.trim() ?? null, public_url: body.public_url };
      const document = await citeDocument(orgId, modes, docId, given, ctx.clock());
      if (!document) throw missing();
      return { document: view(document, ctx) };
    },
  }),
  route('deleteDocument', 'DELETE /orgs/{orgId}/documents/{docId}', {
    summary: 'Delete a document; when this returns, nothing of it answers any more.',
    auth: key('support:write'),
    reply: contract.removedReply,
    async handle({ params: { orgId, docId }, principal: { modes } }, ctx) {
      const removal = await launch(ctx, RemovalModel, [eraseSourceWork('document', orgId, docId)], ([intent]) =>
        removeSource(DocumentModel, { orgId, modes, sourceId: docId }, ctx.clock(), intent),
      );
      if (!removal) throw missing();
      return { doc_id: docId, deleted: true as const };
    },
  }),
  route('reprocessDocument', 'POST /orgs/{orgId}/documents/{docId}/reprocess', {
    summary: 'Read and index a document again; until that is done, the former text goes on answering.',
    auth: key('support:write'),
    errors: ['CONFLICT'],
    status: 202,
    reply: contract.documentReply,
    async handle({ params: { orgId, docId }, principal: { modes } }, ctx) {
      const found = await findDocument(orgId, modes, docId);
      if (!found) throw missing();
      const generation = found.generation + 1;
      const work = processDocumentWork(orgId, docId, generation, { crowded: await isCrowded(found) });
      const restarted = await launch(ctx, DocumentModel, [work], ([intent]) =>
        restartDocument({ orgId, modes, docId }, generation, ctx.clock(), intent),
      );
      if (!restarted) throw beingProcessed();
      return { document: view(restarted, ctx) };
    },
  }),
];
