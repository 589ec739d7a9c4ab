/**
 * Conversations and their tickets: the record, and the updates for the agent's answers. `actOn` (models/chat/act.ts)
 * changes the status and the ticket. The conversation's workflow appends the frames that clients receive.
 */
import type mongoose from 'mongoose';
import {
  acrossShards,
  collectionOf,
  defineModel,
  finderOf,
  updaterOf,
  wordIndex,
  type RecordOf,
} from '../base/define.ts';
import {
  date,
  embedded,
  flag,
  list,
  mixed,
  number,
  oneOf,
  optional,
  string,
  text,
  type ValueOf,
} from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import {
  calledUnasked,
  conversationStatuses,
  previewOf,
  ticketStatuses,
  escalationReasonNames,
  type EscalationReason,
  ticketEvents,
} from '../rules/chat/conversation.ts';
import { noSuch } from '../rules/base/errors.ts';
import type { ConversationNotice } from '../rules/chat/notice.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { priorities } from '../rules/base/priority.ts';
import { keptUntil } from '../rules/chat/retention.ts';

/** A notice to members, stored until it is sent. */
export type Occasion = {
  event_id: string;
  kind: ConversationNotice;
  /** Whether to notify even a member who already has an unread notice about this customer. */
  again: boolean;
  /**
   * The user id of the member whom the notice concerns. If it is absent, the members who are present are notified, or
   * all members if nobody is present.
   */
  to?: string;
  /** The member who acted. */
  by?: string;
  reason?: EscalationReason;
};

export type SessionContext = { session_id: string; context: Readonly<Record<string, unknown>> };

/**
 * The index of the inbox. From this index, MongoDB reads the sorted list for any modes and statuses, and computes the
 * totals without reading the records.
 */
export const inboxIndex = {
  org_id: 1,
  mode: 1,
  status: 1,
  last_message_at: -1,
  _id: -1,
  assigned_to: 1,
  unread: 1,
} as const;

const ticket = embedded({
  ticket_id: string,
  status: oneOf(ticketStatuses),
  reason: oneOf(escalationReasonNames),
  /** The note of the member who escalated. */
  note: optional(string),
  created_at: date,
  updated_at: date,
});
export type Ticket = ValueOf<typeof ticket>;

/** `seq` numbers the events of a ticket from 1. */
const ticketEvent = embedded({
  event_id: string,
  seq: number,
  type: oneOf(ticketEvents),
  ticket_status: oneOf(ticketStatuses),
  at: date,
});
export type TicketEvent = ValueOf<typeof ticketEvent>;

/**
 * `until`: absent when only the customer's next message ends the snooze. `by`: the id of the member or API key that
 * snoozed.
 */
const snoozed = embedded({ until: optional(date), by: string });
export type Snoozed = ValueOf<typeof snoozed>;
/** `author`: a member's user id. `mentions`: user ids. */
const note = embedded({ note_id: string, author: string, body: string, mentions: list(string), at: date });
export type Note = ValueOf<typeof note>;

/** The index for the list of one customer's conversations. */
export const customerIndex = { org_id: 1, mode: 1, customer_id: 1, _id: -1 } as const;
/** The index for the list of the conversations with one tag. */
export const tagIndex = { org_id: 1, tags: 1, last_message_at: -1, _id: -1 } as const;
/** The index for the list of conversations that wait for a person, the longest wait first. */
export const waitingIndex = { org_id: 1, mode: 1, waiting_since: 1, _id: 1 } as const;

export const ConversationModel = defineModel(
  'Conversation',
  'conversations',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    customer_id: string,
    /**
     * Numbers the customer's conversations from 1. It is unique, so that concurrent first messages begin only one
     * conversation.
     */
    ordinal: number,
    status: oneOf(conversationStatuses),
    /** For optimistic locking: increments with each change of status, assignee, ticket or events. */
    version: number,
    /**
     * `status_version` counts the changes of `status`; `shown_version` is the `status_version` that the customer was
     * shown last.
     */
    status_version: number,
    shown_version: number,
    /** The context of the session that was used last; it is kept after the session ends. */
    session_context: optional(mixed<SessionContext>()),
    /**
     * The context that the page sent with `context_update`. It can narrow the search for an answer, but never widen it.
     */
    refinement: optional(mixed<Record<string, unknown>>()),
    /** The user id of the assigned member. */
    assigned_to: optional(string),
    /** The number of customer messages that no member has seen. */
    unread: number,
    /**
     * How often members have marked the conversation as read. models/chat/unread.ts compares this number to correct
     * `unread` after races.
     */
    reads: number,
    /** By user id, the position of the newest message that the member has seen. */
    read_by: optional(mixed<Record<string, number>>()),
    /** The position of the newest message. Positions number the messages in the order of the history. */
    position: number,
    /** The number of consecutive questions without an answer. */
    misses: number,
    /**
     * The id of the customer's message that was counted in `misses` last, so that a repeated attempt does not count it
     * again.
     */
    counted: optional(string),
    csat: optional(number),
    tags: optional(list(string)),
    priority: optional(oneOf(priorities)),
    snoozed: optional(snoozed),
    /** What members wrote for each other, oldest first. */
    notes: optional(list(note)),
    /** Whether the agent has answered a question, from documents or with a tool. */
    answered: flag,
    /** When a member first replied; the agent’s answers do not count. */
    first_reply_at: optional(date),
    /** When the conversation was resolved; set only while it is `resolved`. */
    resolved_at: optional(date),
    /** How often the conversation was reopened after it was resolved. */
    reopened: optional(number),
    /** Since when the customer waits for a person; set only while the conversation is `escalated`. */
    waiting_since: optional(date),
    /** The beginning of the last message. */
    preview: text,
    /** The beginning of the customer's last message, if there is one. */
    customer_preview: optional(string),
    /** The time of the last message; absent until the first one. A conversation without a message is in no list. */
    last_message_at: optional(date),
    ticket: optional(ticket),
    events: list(ticketEvent),
    /** `seq` of the last event whose deliveries are stored. */
    events_planned: optional(number),
    /** Notices that were not sent to members yet, oldest first. */
    untold: optional(list(mixed<Occasion>())),
    /** The time of the first message; until then, the time when the chat was opened. */
    created_at: date,
    /**
     * The time of the last change. It never goes back, even when the clock of a process is slow, because a member's page
     * ignores an entry that is older than the one that it shows.
     */
    updated_at: date,
    /** When the conversation expires; set only in test mode. */
    expires_at: optional(date),
    pending: pendingField,
  },
  [
    { fields: customerIndex },
    { fields: { org_id: 1, mode: 1, customer_id: 1, ordinal: -1 }, unique: true },
    { fields: inboxIndex },
    wordIndex('notes.body'),
    { fields: { org_id: 1, updated_at: -1 } },
    { fields: { org_id: 1, created_at: 1 } },
    { fields: tagIndex, partialFilterExpression: { tags: { $exists: true } } },
    { fields: waitingIndex, partialFilterExpression: { waiting_since: { $exists: true } } },
    { fields: { status: 1, waiting_since: 1 }, partialFilterExpression: { status: 'escalated' } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type Conversation = RecordOf<typeof ConversationModel>;

export const findConversation = finderOf(ConversationModel);
const update = updaterOf(ConversationModel);

/** Stores that the status change with this `status_version` was shown to the customer. */
export const settleShown = (orgId: string, convId: string, version: number) =>
  update(orgId, convId, { $set: { shown_version: version } }, { shown_version: { $lt: version } });

/** Stores that the deliveries of the events up to `seq` are stored. */
export const settlePlanned = (orgId: string, convId: string, seq: number) =>
  update(orgId, convId, { $max: { events_planned: seq } });

/** Removes notices that were sent to members. */
export const settleTold = (orgId: string, convId: string, eventIds: readonly string[]) =>
  update(orgId, convId, { $pull: { untold: { event_id: { $in: [...eventIds] } } } });

/**
 * Prepares an answer: gives it the next position, shows its beginning in lists, and updates `misses`.
 *
 * `missed`: true adds one to `misses`; false (the question was answered) resets `misses` to 0; undefined leaves
 * `misses` unchanged. A repeated call for the same message gives a new position, but counts no second miss.
 *
 * `untaken`: true when the agent has escalated the conversation by itself and still wants to add an answer. The result
 * is null if a member has taken over, or the customer has asked for a person, since the escalation.
 */
export async function placeAnswer(
  orgId: string,
  convId: string,
  answer: { messageId: string; body: string; missed: boolean | undefined; now: Date; untaken?: boolean },
): Promise<{ position: number; misses: number } | null> {
  const { messageId, body, missed, now, untaken = false } = answer;
  const oneMore = { $cond: [{ $eq: ['$counted', messageId] }, '$misses', { $add: ['$misses', 1] }] };
  const done = await collectionOf(ConversationModel).findOneAndUpdate(
    { _id: convId, org_id: orgId, ...(untaken ? untakenCall : {}) },
    [
      {
        $set: {
          position: { $add: ['$position', 1] },
          last_message_at: { $max: ['$last_message_at', now] },
          updated_at: { $max: ['$updated_at', now] },
          expires_at: { $cond: [{ $eq: ['$mode', 'test'] }, keptUntil('test', now).expires_at, '$$REMOVE'] },
          preview: { $literal: previewOf(body) },
          ...(missed === undefined ? {} : { misses: missed ? oneMore : 0, counted: messageId }),
          ...(missed === false ? { answered: true } : {}),
        },
      },
    ],
    { returnDocument: 'after', projection: { position: 1, misses: 1 } },
  );
  if (!done && !untaken) throw noSuch('conversation');
  return done;
}

/**
 * Matches a conversation that the agent escalated by itself and no member has taken over since. `answersIfSure` in
 * models/rules/chat/conversation.ts has the same rule.
 */
const untakenCall = {
  status: 'escalated',
  'ticket.status': 'escalated',
  'ticket.reason': { $in: calledUnasked },
} satisfies mongoose.mongo.Filter<Conversation>;

/**
 * Sets the ticket's reason to `asked`: the agent had escalated by itself, and then the customer asked for a person.
 * Does nothing when a member has taken over.
 */
export const noteAsked = (orgId: string, convId: string, now: Date) =>
  update(
    orgId,
    convId,
    {
      $set: { 'ticket.reason': 'asked', 'ticket.updated_at': now },
      $max: { updated_at: now },
      $inc: { version: 1 },
    },
    untakenCall,
  );

/** Stores the context that the page sent with `context_update`, in place of the context that the page sent before. */
export const refineConversation = (orgId: string, convId: string, refinement: Record<string, unknown>) =>
  update(orgId, convId, { $set: { refinement } });

/**
 * A customer's conversations, newest first; `after` is the last id of the previous page. Conversations without a
 * message are left out unless `all` is true.
 */
export async function listConversations(
  orgId: string,
  mode: Mode,
  customerId: string,
  { limit, after, all = false }: { limit: number; after?: string | undefined; all?: boolean },
): Promise<Conversation[]> {
  return collectionOf(ConversationModel)
    .find({
      org_id: orgId,
      mode,
      customer_id: customerId,
      ...(all ? {} : { last_message_at: { $exists: true } }),
      ...(after === undefined ? {} : { _id: { $lt: after } }),
    })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

/**
 * The number of live-mode conversations that wait for a person (`waiting`), and since when the longest-waiting customer
 * waits (`since`).
 */
export async function countEscalated(): Promise<{ waiting: number; since: Date | undefined }> {
  const escalated = { status: 'escalated', mode: 'live' } as const;
  const [waiting, oldest] = await Promise.all([
    acrossShards(ConversationModel).countDocuments(escalated),
    acrossShards(ConversationModel).findOne(escalated, {
      sort: { waiting_since: 1 },
      projection: { waiting_since: 1 },
    }),
  ]);
  return { waiting, since: oldest?.waiting_since };
}
