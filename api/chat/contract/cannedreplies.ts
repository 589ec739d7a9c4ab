import { z } from 'zod';
import { id, timestamp } from '../../base/contract/common.ts';
import { maxShortcutLength } from '../../../models/rules/chat/cannedreply.ts';
import { maxBodyLength } from '../../../models/rules/chat/conversation.ts';
import { operation } from '../../base/contract/operation.ts';

const shortcut = z
  .string()
  .max(maxShortcutLength)
  .regex(/^[\p{L}\p{N}_-]+$/u, 'has letters, digits, - and _ only');
const body = z.string().max(maxBodyLength).regex(/\S/, 'must have something on it');
const shared = z.boolean().meta({ description: 'Whether all members have it, or only you. Admins share.' });

export const cannedReply = z
  .object({ reply_id: id, shortcut, body, shared, created_at: timestamp, updated_at: timestamp })
  .meta({ id: 'CannedReply' });
const cannedReplyList = z.object({ replies: z.array(cannedReply) });
const oneReply = z.object({ reply: cannedReply });
export const createBody = z.strictObject({ shortcut, body, shared: shared.optional() });
const changeBody = createBody.partial();
export const removedReply = z.object({ reply_id: id, removed: z.literal(true) });

export type CannedReply = z.output<typeof cannedReply>;

export const listCannedReplies = operation('listCannedReplies', 'GET /support/replies/orgs/{orgId}', {
  reply: cannedReplyList,
});
export const createCannedReply = operation('createCannedReply', 'POST /support/replies/orgs/{orgId}', {
  body: createBody,
  reply: oneReply,
});
export const changeCannedReply = operation('changeCannedReply', 'PATCH /support/replies/orgs/{orgId}/{replyId}', {
  body: changeBody,
  reply: oneReply,
});
export const removeCannedReply = operation('removeCannedReply', 'DELETE /support/replies/orgs/{orgId}/{replyId}', {
  reply: removedReply,
});
