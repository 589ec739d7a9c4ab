/** The inbox: the lists of conversations for members. Read only; members' actions are `actOn` in models/chat/act.ts. */
import type mongoose from 'mongoose';
import { collectionOf } from '../base/define.ts';
import { ConversationModel, inboxIndex, type Conversation } from './conversation.ts';
import { conversationStatuses, type ConversationStatus } from '../rules/chat/conversation.ts';
import type { Mode } from '../rules/access/keys.ts';

/** `assignedTo`: a member's user id; null for unassigned conversations. */
export type InboxFilter = {
  modes: readonly Mode[];
  status?: ConversationStatus | undefined;
  assignedTo?: string | null | undefined;
};
/** The cursor of a list: the last entry of the previous page. */
export type InboxPlace = { at: Date; convId: string };

/**
 * Latest activity first. A conversation with a new message moves to the top. So a caller that reads page by page gets
 * it once, or finds it at the top when reading from the start again.
 */
export async function listInbox(
  orgId: string,
  filter: InboxFilter,
  { limit, after }: { limit: number; after?: InboxPlace | undefined },
): Promise<Conversation[]> {
  return (
    collectionOf(ConversationModel)
      // The hint is needed because with few conversations MongoDB may choose any index and sort in memory.
      .find({ ...matching(orgId, filter), ...(after ? before(after) : {}) }, { hint: inboxIndex })
      .sort({ last_message_at: -1, _id: -1 })
      .limit(limit)
      .toArray()
  );
}

/** The number of conversations, and of the customer messages in them that no member has seen. */
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
    // When all statuses are listed, MongoDB merges their sorted ranges of the index and need not sort.
    status: { $in: status === undefined ? conversationStatuses : [status] },
    ...(assignedTo === undefined ? {} : { assigned_to: assignedTo ?? { $exists: false } }),
    // Excludes conversations without a message.
    last_message_at: { $gt: new Date(0) },
  };
}

function before({ at, convId }: InboxPlace): Filter {
  return {
    last_message_at: { $gt: new Date(0), $lte: at },
    $nor: [{ last_message_at: at, _id: { $gte: convId } }],
  };
}
