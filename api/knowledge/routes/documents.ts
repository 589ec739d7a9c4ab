/** Routes of documents: upload, list, tag, reprocess, delete. workflows/knowledge/document.ts processes documents. */
import { key } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/documents.ts';
import { paged } from '../../http/cursor.ts';
import { launch } from '../../../workflows/start.ts';
import { route, withStatus } from '../../http/route.ts';
import { embeddedAt, sourceChanges } from '../source.ts';
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
import { effectiveAuthority } from '../../../models/rules/knowledge/authority.ts';
import { cleanFilename } from '../../../models/rules/knowledge/document.ts';
import { noSuch, Problem } from '../../../models/rules/base/errors.ts';
import { normalizeSegments } from '../../../models/rules/knowledge/segments.ts';
import { processDocumentWork } from '../../../models/rules/knowledge/work.ts';

export const beingProcessed = () =>
  new Problem('CONFLICT', { message: 'This document is being processed already; wait for it to end.' });

const missing = () => noSuch('document');

export function view(document: Document, { embedding: { model } }: Pick<Context, 'embedding'>) {
  return {
    ...document,
    doc_id: document._id,
    authority: effectiveAuthority(document.authority, 'document'),
    embedded_at: embeddedAt(document, model),
  };
}

const documents = sourceChanges('document', DocumentModel);

export const documentRoutes = [
  route(contract.uploadDocument, {
    summary:
      'Upload a document (DOCX, TXT, MD, CSV or XLSX); it is processed afterwards: poll its status until `indexed`.',
    auth: key('support:write'),
    status: 201,
    otherStatuses: [200],
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
  route(contract.listDocuments, {
    summary: 'List documents, newest first.',
    auth: key('support:read'),
    async handle({ params: { orgId }, query, principal: { modes } }, ctx) {
      const [{ entries, cursor }, count] = await Promise.all([
        paged(query, (limit, after) => listDocuments(orgId, modes, limit, after)),
        countDocuments(orgId, modes),
      ]);
      return { documents: entries.map((entry) => view(entry, ctx)), count, cursor };
    },
  }),
  route(contract.getDocument, {
    summary: 'Read a document’s status and details.',
    auth: key('support:read'),
    async handle({ params: { orgId, docId }, principal: { modes } }, ctx) {
      const found = await findDocument(orgId, modes, docId);
      if (!found) throw missing();
      return { document: view(found, ctx) };
    },
  }),
  route(contract.setDocumentSegments, {
    summary: 'Replace a document’s segments; an empty list makes it answer every segment.',
    auth: key('support:write'),
    async handle({ params: { orgId, docId }, body, principal: { modes } }, ctx) {
      const tags = { segments: normalizeSegments(body.segments) };
      return { document: view(await documents.retag(ctx, { orgId, modes, sourceId: docId }, tags), ctx) };
    },
  }),
  route(contract.setDocumentAuthority, {
    summary: 'Set a document’s priority.',
    auth: key('support:write'),
    async handle({ params: { orgId, docId }, body, principal: { modes } }, ctx) {
      const tags = { authority: body.authority };
      return { document: view(await documents.retag(ctx, { orgId, modes, sourceId: docId }, tags), ctx) };
    },
  }),
  route(contract.setDocumentSource, {
    summary: 'Set how customers see a document below an answer: its title, and a link to where it can be read.',
    auth: key('support:write'),
    async handle({ params: { orgId, docId }, body, principal: { modes } }, ctx) {
      const given = { title: body.title?.trim() ?? null, public_url: body.public_url };
      const document = await citeDocument(orgId, modes, docId, given, ctx.clock());
      if (!document) throw missing();
      return { document: view(document, ctx) };
    },
  }),
  route(contract.deleteDocument, {
    summary: 'Delete a document; when this returns, nothing of it answers any more.',
    auth: key('support:write'),
    async handle({ params: { orgId, docId }, principal: { modes } }, ctx) {
      await documents.remove(ctx, { orgId, modes, sourceId: docId });
      return { doc_id: docId, deleted: true as const };
    },
  }),
  route(contract.reprocessDocument, {
    summary: 'Read and index a document again; until that is done, the former text goes on answering.',
    auth: key('support:write'),
    errors: ['CONFLICT'],
    status: 202,
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
