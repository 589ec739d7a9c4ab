import { z } from 'zod';
import { id, orNull, timestamp } from '../../base/contract/common.ts';
import { environments } from '../../../models/rules/access/keys.ts';
import { operation } from '../../base/contract/operation.ts';

const count = z.number().int();
export const goLiveBody = z.strictObject({
  copy_from_test: z
    .boolean()
    .optional()
    .meta({ description: 'Take the documents and pages of test mode over into live mode; those of test mode stay.' }),
});
export const goLiveReply = z.object({
  org_id: id,
  environment: z.enum(environments),
  live: z
    .object({ documents: count, pages: count, tools: count, settings: count })
    .meta({ description: 'What live mode has: approved tools and changed settings hold in test mode, too.' }),
  test: z.object({ documents: count, pages: count }).meta({ description: 'What test mode has.' }),
  copy: z
    .object({
      status: z.enum(['running', 'finished']),
      requested_at: timestamp,
      finished_at: orNull(timestamp),
      documents: orNull(count),
      pages: orNull(count),
      left_out: z
        .array(z.object({ id, reason: z.string() }))
        .meta({ description: 'Documents and pages of test mode.' }),
    })
    .nullable()
    .meta({ description: 'What became of the last `copy_from_test`; null where there was none.' }),
});

export const seeGoLive = operation('seeGoLive', 'GET /orgs/{orgId}/go-live', { reply: goLiveReply });
export const goLive = operation('goLive', 'POST /orgs/{orgId}/go-live', { body: goLiveBody, reply: goLiveReply });
