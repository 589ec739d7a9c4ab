/**
 * The inbox: the lists of conversations for members. This file only reads; models/chat/act.ts and models/chat/triage.ts
 * change conversations.
 */
import type mongoose from 'mongoose';
import { collectionOf } from '../base/define.ts';
import {
  ConversationModel,
  customerIndex,
  inboxIndex,
  tagIndex,
  waitingIndex,
  type Conversation,
} from './conversation.ts';
import { defined } from '../rules/base/defined.ts';
import type { Priority } from '../rules/base/priority.ts';
import { conversationStatuses, type ConversationStatus, type InboxSort } from '../rules/chat/conversation.ts';
import type { Mode } from '../rules/access/keys.ts';

/** `assignedTo`: a member's user id; null for unassigned conversations. */
export type InboxFilter = {
  modes: readonly Mode[];
  status?: ConversationStatus | undefined;
  assignedTo?: string | null | undefined;
  tag?: string | undefined;
  priority?: Priority | undefined;
  customerId?: string | undefined;
  /** True: only conversations with messages that no member has seen. */
  unread?: boolean;
  /** Bounds on the time of the last message: from `since` on, and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
  snoozed?: boolean | undefined;
};
/** The cursor of a list: the last entry of the previous page, and the time by which it is sorted. */
export type InboxPlace = { at: Date; convId: string };

/**
 * Lists conversations by the latest activity, newest first, unless `sort` says otherwise. A conversation with a new
 * message moves to the top. So a caller that reads page by page gets each conversation at most once, and misses a
 * conversation that moves up before its page is read.
 */
export async function listInbox(
  orgId: string,
  filter: InboxFilter,
  { limit, after, sort = 'newest' }: { limit: number; after?: InboxPlace | undefined; sort?: InboxSort | undefined },
): Promise<Conversation[]> {
  const [behind, order] =
    sort === 'waiting'
      ? ([longerWaiting, { waiting_since: 1, _id: 1 }] as const)
      : ([before, { last_message_at: -1, _id: -1 }] as const);
  return (
    collectionOf(ConversationModel)
      // The hint is needed because with few conversations MongoDB may choose any index and sort in memory.
      .find({ ...matching(orgId, filter, sort), ...(after ? behind(after) : {}) }, { hint: indexFor(filter, sort) })
      .sort(order)
      .limit(limit)
      .toArray()
  );
}

/** Conversations with a message, in no particular order: those with these ids, or those that changed since a time. */
export async function listInboxOf(
  orgId: string,
  modes: readonly Mode[],
  of: { ids: readonly string[] } | { since: Date; limit: number },
): Promise<Conversation[]> {
  const which = 'ids' in of ? { _id: { $in: [...of.ids] } } : { updated_at: { $gte: of.since } };
  return collectionOf(ConversationModel)
    .find({ org_id: orgId, mode: { $in: [...modes] }, last_message_at: { $exists: true }, ...which })
    .limit('ids' in of ? of.ids.length : of.limit)
    .toArray();
}

/** The number of conversations, and of the customer messages in them that no member has seen. */
export async function countInbox(
  orgId: string,
  filter: InboxFilter,
  sort: InboxSort = 'newest',
): Promise<{ count: number; unread: number }> {
  const [{ count, unread } = { count: 0, unread: 0 }] = await collectionOf(ConversationModel)
    .aggregate<{ count: number; unread: number }>(
      [
        { $match: matching(orgId, filter, sort) },
        { $group: { _id: null, count: { $sum: 1 }, unread: { $sum: '$unread' } } },
      ],
      { hint: indexFor(filter, sort) },
    )
    .toArray();
  return { count, unread };
}

type Filter = mongoose.mongo.Filter<Conversation> & { org_id: string };

const indexFor = ({ tag, customerId }: InboxFilter, sort: InboxSort) => {
  if (sort === 'waiting') return waitingIndex;
  if (customerId !== undefined) return customerIndex;
  return tag === undefined ? inboxIndex : tagIndex;
};

function matching(
  orgId: string,
  { modes, status, assignedTo, tag, priority, customerId, unread = false, since, until, snoozed }: InboxFilter,
  sort: InboxSort,
): Filter {
  return {
    org_id: orgId,
    mode: { $in: modes },
    // When all statuses are listed, MongoDB merges their sorted ranges of the index and need not sort.
    status: { $in: status === undefined ? conversationStatuses : [status] },
    ...(assignedTo === undefined ? {} : { assigned_to: assignedTo ?? { $exists: false } }),
    ...defined({ tags: tag, priority, customer_id: customerId }),
    ...(unread ? { unread: { $gt: 0 } } : {}),
    ...(snoozed === undefined ? {} : { snoozed: { $exists: snoozed } }),
    ...(sort === 'waiting' ? { waiting_since: { $gt: new Date(0) } } : {}),
    // The condition also excludes conversations without a message, which have no `last_message_at`.
    last_message_at: { $gte: since ?? new Date(1), ...(until ? { $lt: until } : {}) },
  };
}

function before({ at, convId }: InboxPlace) {
  return {
    $and: [{ last_message_at: { $lte: at } }],
    $nor: [{ last_message_at: at, _id: { $gte: convId } }],
  };
}

function longerWaiting({ at, convId }: InboxPlace) {
  return { waiting_since: { $gte: at }, $nor: [{ waiting_since: at, _id: { $lte: convId } }] };
}
