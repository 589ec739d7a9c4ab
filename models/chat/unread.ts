/**
 * How much of a conversation was read: the number of customer messages that no member has seen, and the position up to
 * which each member has read. `actOn` (models/chat/act.ts) counts a message before the message is stored; the functions
 * here correct the count after races.
 */
import { ConversationModel } from './conversation.ts';
import { changerOf, updaterOf } from '../base/define.ts';

const update = updaterOf(ConversationModel);
const change = changerOf(ConversationModel);

/**
 * Lowers the count of unread messages again when a counted message turns out to be a duplicate. `reads`: how often
 * members had read the conversation when the message was counted.
 */
export const uncountMessage = (orgId: string, convId: string, reads: number) =>
  // When `reads` differs, a member has read the messages since and has reset the count to 0.
  update(orgId, convId, { $inc: { unread: -1 } }, { reads, unread: { $gt: 0 } });

/**
 * Corrects the count of unread messages after a message was stored. A member may have read the conversation between the
 * counting and the storing of the message. Then the message is counted again, because counting it twice is better than
 * not counting it. `reads`: the conversation's `reads` when the message was counted.
 */
export const countMissed = (orgId: string, convId: string, reads: number) =>
  update(orgId, convId, { $inc: { unread: 1 } }, { reads: { $ne: reads } });

/**
 * Marks a conversation as read. Call this function before you read the messages: messages stored later count as unread,
 * and messages that were counted but never stored no longer count. `updated_at` is set, because a member's page that
 * reconnects gets the conversations that changed meanwhile.
 */
export const markRead = (orgId: string, convId: string, now: Date) =>
  update(orgId, convId, { $set: { unread: 0 }, $inc: { reads: 1 }, $max: { updated_at: now } }, { unread: { $gt: 0 } });

/**
 * Stores that a member has read up to this position; the stored position never goes back. Null when the conversation
 * was removed.
 */
export const readUpTo = (orgId: string, convId: string, userId: string, position: number) =>
  change(orgId, convId, { $max: { [`read_by.${userId}`]: position } });

/** Marks a conversation as unread for this member. Null when the conversation was removed. */
export const forgetReading = (orgId: string, convId: string, userId: string) =>
  change(orgId, convId, { $set: { [`read_by.${userId}`]: 0 } });
