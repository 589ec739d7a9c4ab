/**
 * How much of a conversation was read: the number of customer messages that no member has seen, and the position up to
 * which each member has read. `actOn` (models/chat/act.ts) counts a message before the message is stored; the functions
 * here correct the count after races.
 */
import { ConversationModel, type Conversation } from './conversation.ts';
import { collectionOf } from '../base/define.ts';

/**
 * Lowers the count of unread messages again when a counted message turns out to be a duplicate. `reads`: how often
 * members had read the conversation when the message was counted.
 */
export async function uncountMessage(orgId: string, convId: string, reads: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    // When `reads` differs, a member has read the messages since and has reset the count to 0.
    { _id: convId, org_id: orgId, reads, unread: { $gt: 0 } },
    { $inc: { unread: -1 } },
  );
}

/**
 * Corrects the count of unread messages after a message was stored. A member may have read the conversation between the
 * counting and the storing of the message. Then the message is counted again, because counting it twice is better than
 * not counting it. `reads`: the conversation's `reads` when the message was counted.
 */
export async function countMissed(orgId: string, convId: string, reads: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, reads: { $ne: reads } },
    { $inc: { unread: 1 } },
  );
}

/**
 * Marks a conversation as read. Call this function before you read the messages: messages stored later count as unread,
 * and messages that were counted but never stored no longer count. `updated_at` moves on, because a member's page that
 * reconnects gets the conversations that changed meanwhile.
 */
export async function markRead(orgId: string, convId: string, now: Date): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, unread: { $gt: 0 } },
    { $set: { unread: 0 }, $inc: { reads: 1 }, $max: { updated_at: now } },
  );
}

/**
 * Notes that a member has read up to this position; the stored position never goes back. Null when the conversation was
 * removed.
 */
export async function readUpTo(
  orgId: string,
  convId: string,
  userId: string,
  position: number,
): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOneAndUpdate(
    { _id: convId, org_id: orgId },
    { $max: { [`read_by.${userId}`]: position } },
    { returnDocument: 'after' },
  );
}

/** Marks a conversation as unread for this member. Null when the conversation was removed. */
export async function forgetReading(orgId: string, convId: string, userId: string): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOneAndUpdate(
    { _id: convId, org_id: orgId },
    { $set: { [`read_by.${userId}`]: 0 } },
    { returnDocument: 'after' },
  );
}
