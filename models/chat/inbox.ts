/**
 * The inbox: an organization's conversations as its members look for them. It only reads; what members do is
 * `actOn` in models/chat/act.ts.
 */
import type mongoose from 'mongoose';
import { collectionOf } from '../base/define.ts';
import { ConversationModel, inboxIndex, type Conversation } from './conversation.ts';
import { conversationStatuses, type ConversationStatus } from '../rules/chat/conversation.ts';
import type { Mode } from '../rules/access/keys.ts';

/** `assignedTo`: a member's user id; null for conversations that nobody has. */
export type InboxFilter = {
  modes: readonly Mode[];
  status?: ConversationStatus | undefined;
  assignedTo?: string | null | undefined;
};
/** Where a list goes on: the last entry of the page before. */
export type InboxPlace = { at: Date; convId: string };

/**
 * Newest activity first. A conversation that is written in moves to the top: a caller that reads page by page is given it
 * once or, if it was on a later page, finds it at the top when it reads from the start again.
 */
export async function listInbox(
  orgId: string,
  filter: InboxFilter,
  { limit, after }: { limit: number; after?: InboxPlace | undefined },
): Promise<Conversation[]> {
  return (
    collectionOf(ConversationModel)
      // Told which index: with few conversations MongoDB takes any, and sorts.
      .find({ ...matching(orgId, filter), ...(after ? before(after) : {}) }, { hint: inboxIndex })
      .sort({ last_message_at: -1, _id: -1 })
      .limit(limit)
      .toArray()
  );
}

/** How many conversations there are, and how many customer messages in them that no member has looked at. */
export async function countInbox(orgId: string, filter: InboxFilter): Promise<{ count: number; unread: number }> {
  const [{ count, unread } = { count: 0, unread: 0 }] = await collectionOf(ConversationModel)
    .aggregate<{ count: number; unread: number }>(
      [{ $match: matching(orgId, filter) }, { $group: { _id: null, count: { $sum: 1 }, unread: { $sum: '$unread' } } }],
      { hint: inboxIndex },
    )
    .toArray();
  return { count, unread };
}

type Filter = mongoose.mongo.Filter<Conversation>;

function matching(orgId: string, { modes, status, assignedTo }: InboxFilter): Filter {
  return {
    org_id: orgId,
    mode: { $in: modes },
    // Named one by one, MongoDB merges their stretches of the index and need not sort.
    status: { $in: status === undefined ? conversationStatuses : [status] },
    ...(assignedTo === undefined ? {} : { assigned_to: assignedTo ?? { $exists: false } }),
    // Leaves out conversations in which nobody has written.
    last_message_at: { $gt: new Date(0) },
  };
}

function before({ at, convId }: InboxPlace): Filter {
  return {
    last_message_at: { $gt: new Date(0), $lte: at },
    $nor: [{ last_message_at: at, _id: { $gte: convId } }],
  };
}
