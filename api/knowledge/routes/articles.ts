/**
 * Routes of articles: documents whose text is written and changed through the API. They are processed as uploads are.
 */
import { createHash } from 'node:crypto';
import { beingProcessed, view } from './documents.ts';
import { key } from '../../access/auth.ts';
import * as contract from '../contract/documents.ts';
import { launch } from '../../../workflows/start.ts';
import { route, withStatus } from '../../http/route.ts';
import { storeUpload } from '../upload.ts';
import { isDuplicate } from '../../../models/base/connect.ts';
import {
  DocumentModel,
  findDocument,
  isCrowded,
  readBytes,
  restartDocument,
  type Document,
} from '../../../models/knowledge/document.ts';
import { setGapStatus } from '../../../models/knowledge/gap.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { Problem, sought } from '../../../models/rules/base/errors.ts';
import { articleName, fileTypeOfName, maxTextLength, mimeTypes } from '../../../models/rules/knowledge/document.ts';
import { normalizeSegments } from '../../../models/rules/knowledge/segments.ts';
import { processDocumentWork } from '../../../models/rules/knowledge/work.ts';

const conflict = (message: string) => new Problem('CONFLICT', { message });

const sizedText = (text: string) => ({
  text,
  size: Buffer.byteLength(text),
  sha256: createHash('sha256').update(text).digest('hex'),
});

/** The file name of an article, and the file type that follows from this name. */
function namedFile(title: string) {
  const filename = articleName(title);
  const file_type = fileTypeOfName(filename) ?? 'md';
  return { filename, file_type, mime_type: mimeTypes[file_type] };
}

/** The text of a document. @throws Problem CONFLICT when members cannot change the text. */
async function textOf(document: Document): Promise<string> {
  if (document.text !== undefined) return document.text;
  if (document.file_type !== 'md' && document.file_type !== 'txt')
    throw conflict('Only texts (MD, TXT) can be changed here; upload a new file instead.');
  if (document.file_size > 4 * maxTextLength)
    throw conflict('This text is too long to be changed here; upload it anew.');
  try {
    const bytes = Buffer.concat(await readBytes(document).toArray());
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw conflict('This text is not in UTF-8; upload it anew.');
    throw error;
  }
}

export const articleRoutes = [
  route(contract.writeArticle, {
    summary:
      'Write a document here, in Markdown; it is processed like an upload, and the gaps that it answers are resolved.',
    auth: key('support:write'),
    status: 201,
    otherStatuses: [200],
    errors: ['SANDBOX_LIMIT', 'BETA_LIMIT_REACHED'],
    async handle({ params: { orgId }, body, principal }, ctx) {
      const { filename, file_type: type } = namedFile(body.name);
      const tags = { segments: normalizeSegments(body.segments ?? []), ...defined({ authority: body.authority }) };
      const upload = { ...sizedText(body.text), filename, type, tags };
      const { document, duplicate } = await storeUpload(ctx, orgId, principal, upload);
      const resolved = await setGapStatus(orgId, [document.mode], body.gap_ids ?? [], 'resolved');
      const reply = { document: view(document, ctx), resolved };
      return duplicate ? withStatus(200, { ...reply, duplicate }) : reply;
    },
  }),
  route(contract.getDocumentText, {
    summary: 'The text of a document (MD, TXT), to be changed.',
    auth: key('support:read'),
    errors: ['CONFLICT'],
    async handle({ params: { orgId, docId }, principal: { modes } }) {
      const found = await sought(findDocument(orgId, modes, docId), 'document');
      return { doc_id: docId, name: found.filename, text: await textOf(found), sha256: found.sha256 };
    },
  }),
  route(contract.changeDocumentText, {
    summary: 'Change the text of a document; until it is indexed, the former text goes on answering.',
    auth: key('support:write'),
    async handle({ params: { orgId, docId }, body, principal: { modes } }, ctx) {
      const found = await sought(findDocument(orgId, modes, docId), 'document');
      if (found.sha256 !== body.based_on)
        throw conflict('Somebody has changed this text meanwhile; read it again and put your change into it.');
      await textOf(found);
      const { text, size, sha256 } = sizedText(body.text);
      // With a new name, the file type is derived from this name, because the file type decides how the text is read.
      const to = { text, file_size: size, sha256, ...(body.name === undefined ? {} : namedFile(body.name)) };
      const generation = found.generation + 1;
      const work = processDocumentWork(orgId, docId, generation, { crowded: await isCrowded(found) });
      const changed = await launch(ctx, DocumentModel, [work], ([intent]) =>
        restartDocument({ orgId, modes, docId }, generation, ctx.clock(), intent, { basedOn: body.based_on, to }),
      ).catch((error: unknown) => {
        throw isDuplicate(error) ? conflict('Another document has this very text already.') : error;
      });
      if (!changed) throw beingProcessed();
      return { document: view(changed, ctx) };
    },
  }),
];
