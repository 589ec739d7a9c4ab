import { z } from 'zod';
import { cursor, id, line, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { authorities } from '../../../models/rules/knowledge/authority.ts';
import { documentStatuses, maxTextLength } from '../../../models/rules/knowledge/document.ts';
import { operation } from '../../base/contract/operation.ts';

export const segments = z.array(z.string().max(200)).max(100).meta({
  description:
    'Tags, normalised to lower case and underscores; `all`, `shared`, `global` and `common` reach every segment.',
});
export const authority = z.enum(authorities);

export const embedded_at = orNull(timestamp).meta({
  description:
    'Since when all its passages are found by meaning too. Null: some are found by their words alone as yet, or all are, because nothing is compared by meaning.',
});

export const document = z
  .object({
    doc_id: id,
    org_id: id,
    mode,
    filename: z.string(),
    title: z
      .string()
      .optional()
      .meta({ description: 'What customers see; otherwise the file name without extension.' }),
    public_url: z.string().optional().meta({ description: 'Where customers can read it; answers link to it.' }),
    mime_type: z.string(),
    file_size: z.number().int().meta({ description: 'Bytes.' }),
    sha256: z.string(),
    status: z.enum(documentStatuses),
    error: z.string().optional().meta({ description: 'Why it failed, when it did.' }),
    chunk_count: z.number().int(),
    segments: z.array(z.string()),
    authority,
    uploaded_by: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    indexed_at: orNull(timestamp),
    embedded_at,
  })
  .meta({ id: 'Document' });

const uploadForm = z.strictObject({
  segments: z.string().max(4000).optional().meta({ description: 'Comma-separated tags.' }),
  authority: authority.optional(),
});
export const documentReply = z.object({ document });
export const uploadReply = z.object({
  document,
  duplicate: z.literal(true).optional().meta({ description: 'These bytes were there already; nothing was stored.' }),
});
export const documentList = z.object({
  documents: z.array(document),
  count: z.number().int().meta({ description: 'All of them, not only this page.' }),
  cursor,
});
export const segmentsBody = z.strictObject({ segments });
export const authorityBody = z.strictObject({ authority });
const sourceBody = z.strictObject({
  title: line(200).nullable().meta({ description: 'Null: the file name without its extension.' }),
  public_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullable()
    .meta({ description: 'Where customers can read it. Null: nowhere.' }),
});
export const removedReply = z.object({ doc_id: id, deleted: z.literal(true) });
const text = z.string().max(maxTextLength).regex(/\S/, 'must have something on it').meta({ description: 'Markdown.' });
const name = line(200).meta({ description: 'A title, or a file name that ends in .md or .txt.' });
const articleBody = z.strictObject({
  name,
  text,
  segments: segments.optional(),
  authority: authority.optional(),
  gap_ids: z
    .array(id)
    .max(100)
    .optional()
    .meta({ description: 'Knowledge gaps that it answers, each by one of its ids; they are resolved.' }),
});
const articleReply = uploadReply.extend({
  resolved: z.number().int().meta({ description: 'Wordings of the gaps of `gap_ids`.' }),
});
const textReply = z.object({
  doc_id: id,
  name: z.string(),
  text: z.string(),
  sha256: z.string().meta({ description: 'Send it as `based_on` with a change.' }),
});
const textBody = z.strictObject({
  name: name.optional(),
  text,
  based_on: z.string().max(64).meta({ description: 'The `sha256` of the text that was changed.' }),
});

export type Document = z.output<typeof document>;

export const writeArticle = operation('writeArticle', 'POST /orgs/{orgId}/documents/text', {
  body: articleBody,
  reply: articleReply,
});
export const getDocumentText = operation('getDocumentText', 'GET /orgs/{orgId}/documents/{docId}/text', {
  reply: textReply,
});
export const changeDocumentText = operation('changeDocumentText', 'PUT /orgs/{orgId}/documents/{docId}/text', {
  body: textBody,
  reply: documentReply,
});
export const uploadDocument = operation('uploadDocument', 'POST /orgs/{orgId}/documents', {
  upload: true,
  body: uploadForm,
  reply: uploadReply,
});
export const listDocuments = operation('listDocuments', 'GET /orgs/{orgId}/documents', {
  query: pageQuery,
  reply: documentList,
});
export const getDocument = operation('getDocument', 'GET /orgs/{orgId}/documents/{docId}', { reply: documentReply });
export const setDocumentSegments = operation('setDocumentSegments', 'PATCH /orgs/{orgId}/documents/{docId}/segments', {
  body: segmentsBody,
  reply: documentReply,
});
export const setDocumentAuthority = operation(
  'setDocumentAuthority',
  'PATCH /orgs/{orgId}/documents/{docId}/authority',
  { body: authorityBody, reply: documentReply },
);
export const setDocumentSource = operation('setDocumentSource', 'PATCH /orgs/{orgId}/documents/{docId}/source', {
  body: sourceBody,
  reply: documentReply,
});
export const deleteDocument = operation('deleteDocument', 'DELETE /orgs/{orgId}/documents/{docId}', {
  reply: removedReply,
});
export const reprocessDocument = operation('reprocessDocument', 'POST /orgs/{orgId}/documents/{docId}/reprocess', {
  reply: documentReply,
});
