/** Questions of customers that found no answer: counted by their messages, so that an erased message counts nothing. */
import { collectionOf } from '../base/define.ts';
import { MessageModel } from './message.ts';
import { countingGap, type Asked, type Asker } from '../knowledge/gap.ts';
import type { Mode } from '../rules/access/keys.ts';

/**
 * Counts an unanswered question of a customer, once a message, and only if the message is there. One command looks for the
 * message and counts it: an attempt that stood still while the message was erased cannot bring its words back.
 */
export async function recordCustomerGap(orgId: string, mode: Mode, asked: Asked, asker: Asker): Promise<void> {
  const message = { $match: { _id: asker.messageId, org_id: orgId } };
  await collectionOf(MessageModel)
    .aggregate([message, ...countingGap(orgId, mode, asked, asker)])
    .toArray();
}
