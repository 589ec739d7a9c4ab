/**
 * How many of a conversation's customer messages no member has looked at. A message is counted by the act that brings it
 * (models/chat/act.ts), before it is stored; what is here sets the count right when others come in between.
 */
import { ConversationModel } from './conversation.ts';
import { collectionOf } from '../base/define.ts';

/** A message that was counted had been stored before. `reads`: as it was when it was counted. */
export async function uncountMessage(orgId: string, convId: string, reads: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    // A member who has looked since has set the count to 0.
    { _id: convId, org_id: orgId, reads, unread: { $gt: 0 } },
    { $inc: { unread: -1 } },
  );
}

/**
 * A message that was counted has been stored. A member who looked in between may not have seen it, so it is counted again:
 * counting it once too often is better than never. `reads`: as it was when the message was counted.
 */
export async function countMissed(orgId: string, convId: string, reads: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, reads: { $ne: reads } },
    { $inc: { unread: 1 } },
  );
}

/**
 * A member looks at the newest messages. To be called before they are read: what is stored after it counts as unread, and
 * what was counted but never stored no longer does.
 */
export async function markRead(orgId: string, convId: string): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, unread: { $gt: 0 } },
    { $set: { unread: 0 }, $inc: { reads: 1 } },
  );
}
