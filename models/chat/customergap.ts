/** Counts knowledge gaps: customers' questions that found no answer. */
import { collectionOf } from '../base/define.ts';
import { MessageModel } from './message.ts';
import { countingGap, type Asked, type Asker } from '../knowledge/gap.ts';
import type { Mode } from '../rules/access/keys.ts';

/**
 * Counts an unanswered question once per message, and only while the message exists. One command checks the message and
 * counts the question. So an attempt that hung while the message was erased cannot store the question again.
 */
export async function recordCustomerGap(orgId: string, mode: Mode, asked: Asked, asker: Asker): Promise<void> {
  const message = { $match: { _id: asker.messageId, org_id: orgId } };
  await collectionOf(MessageModel)
    .aggregate([message, ...countingGap(orgId, mode, asked, asker)])
    .toArray();
}
