/**
 * Keeps what belongs to a test conversation for as long as the conversation: without it the first messages of one that goes
 * on for weeks, and its customer, would be forgotten before it. What nobody touches any more MongoDB removes by itself.
 */
import type { Conversation } from './conversation.ts';
import { CustomerModel } from './customer.ts';
import { collectionOf } from '../base/define.ts';
import { FrameModel } from '../live/frame.ts';
import { MessageModel } from './message.ts';
import { customerDays, daysAfter, logDays } from '../rules/chat/retention.ts';

/**
 * Moves the expiry of the messages, of the customer and of the log's last frame on to that of the conversation. On most calls
 * this is one read. Safe to repeat, also when it was interrupted: the first message tells whether there is something to do,
 * and it is updated last.
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
