/** Zod schemas of the requests and replies about documents. */
import { z } from 'zod';
import { cursor, id, orgParams, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { authorities } from '../../../models/rules/knowledge/authority.ts';
import { documentStatuses } from '../../../models/rules/knowledge/document.ts';

export const segments = z.array(z.string().max(200)).max(100).meta({
  description:
    'Tags, normalised to lower case and underscores; `all`, `shared`, `global` and `common` reach every segment.',
});
export const authority = z.enum(authorities);

export const embedded_at = timestamp.nullable().meta({
  description:
    'Since when all its passages are found by meaning too. Null: some are found by their words alone as yet, or all are, because nothing is compared by meaning.',
});

export const document = z
  .object({
    doc_id: id,
    org_id: id,
    mode,
    filename: z.string(),
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
    indexed_at: timestamp.nullable(),
    embedded_at,
  })
  .meta({ id: 'Document' });

export { orgParams };
export const documentParams = orgParams.extend({ docId: id });
export const uploadForm = z.strictObject({
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
export const documentListQuery = pageQuery;
export const segmentsBody = z.strictObject({ segments });
export const authorityBody = z.strictObject({ authority });
export const removedReply = z.object({ doc_id: id, deleted: z.literal(true) });
export const emptyBody = z.strictObject({});
