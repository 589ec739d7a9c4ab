/**
 * Keeps the messages, the customer and the frame log of a test conversation at least until the conversation expires.
 * Otherwise the first messages of a long conversation would expire before the conversation. MongoDB deletes expired
 * records.
 */
import type { Conversation } from './conversation.ts';
import { CustomerModel } from './customer.ts';
import { collectionOf } from '../base/define.ts';
import { FrameModel } from '../live/frame.ts';
import { MessageModel } from './message.ts';
import { customerDays, daysAfter, logDays } from '../rules/chat/retention.ts';

/**
 * Extends the expiry of the messages to that of the conversation. The last frame expires a day later, and the customer
 * two days later. Most calls are a single read. Idempotent, also after an interruption: the first message shows whether
 * there is work to do, and it is updated last.
 */
export async function keepTogether({ _id, org_id, customer_id, expires_at }: Conversation): Promise<void> {
  if (expires_at === undefined) return;
  const inside = { conv_id: _id, org_id };
  const messages = collectionOf(MessageModel);
  const first = await messages.findOne(inside, { sort: { position: 1 }, projection: { expires_at: 1 } });
  if (first?.expires_at === undefined || first.expires_at >= expires_at) return;
  const customerEnds = daysAfter(expires_at, customerDays);
  await collectionOf(CustomerModel).updateOne({ _id: customer_id, org_id }, { $max: { expires_at: customerEnds } });
  await collectionOf(FrameModel).findOneAndUpdate(
    { org_id, stream: _id },
    { $max: { expires_at: daysAfter(expires_at, logDays) } },
    { sort: { seq: -1 }, projection: { _id: 1 } },
  );
  await messages.updateMany({ ...inside, _id: { $ne: first._id } }, { $max: { expires_at } });
  await messages.updateOne({ ...inside, _id: first._id }, { $max: { expires_at } });
}
