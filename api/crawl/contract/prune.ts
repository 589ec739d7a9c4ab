/** Zod schemas of pruning: the report of chunks without a page, and their removal. */
import { z } from 'zod';
import { id } from '../../base/contract/common.ts';
import { operation } from '../../base/contract/operation.ts';

const pruneBody = z.strictObject({
  apply: z
    .boolean()
    .optional()
    .meta({ description: 'Remove what is reported, within seconds; else it is only reported.' }),
});
const pruneReply = z.object({
  orphaned: z.array(
    z.object({ source_id: id, url: z.string().optional(), chunks: z.number().int() }).meta({ id: 'Orphan' }),
  ),
  live: z.number().int().meta({ description: 'Pages that are whole and answer questions.' }),
  deleted: z.number().int().meta({ description: 'Orphans whose removal is decided and under way; 0 without `apply`.' }),
});

export const pruneKnowledge = operation('pruneKnowledge', 'POST /orgs/{orgId}/knowledge-base/prune', {
  body: pruneBody,
  reply: pruneReply,
});
