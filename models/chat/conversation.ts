/**
 * Conversations, and the tickets they become: the record, who has which, and what an answer makes of one. What is done to
 * one is models/chat/act.ts; its frames are appended by the conversation's workflow.
 */
import type mongoose from 'mongoose';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import {
  date,
  embedded,
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
import { Problem } from '../rules/base/errors.ts';
import type { ConversationNotice } from '../rules/chat/notice.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { keptUntil } from '../rules/chat/retention.ts';

/** Something that members are to be told, kept until they were told. */
export type Occasion = {
  event_id: string;
  kind: ConversationNotice;
  /** Also told to a member who has not read that the customer wrote before. */
  again: boolean;
  /** The member who has the conversation; without one it concerns all. */
  to?: string;
  /** The member who acted. */
  by?: string;
  /** Of an escalation. */
  reason?: EscalationReason;
};

export type SessionContext = { session_id: string; context: Readonly<Record<string, unknown>> };

/** The inbox: its list in order for any modes and statuses, and its totals without reading a record. */
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
  /** What the member wrote who escalated. */
  note: optional(string),
  created_at: date,
  updated_at: date,
});
export type Ticket = ValueOf<typeof ticket>;

/** `seq` counts the events of one ticket from 1. */
const ticketEvent = embedded({
  event_id: string,
  seq: number,
  type: oneOf(ticketEvents),
  ticket_status: oneOf(ticketStatuses),
  at: date,
});
export type TicketEvent = ValueOf<typeof ticketEvent>;

export const ConversationModel = defineModel(
  'Conversation',
  'conversations',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    customer_id: string,
    /** Counts the customer's conversations from 1; unique, so that two who find none begin the same one. */
    ordinal: number,
    status: oneOf(conversationStatuses),
    /** Counts changes of what acts may race about: the status, the assignee, the ticket and its events. */
    version: number,
    /** Counts the moves of `status`; each is shown once. */
    status_version: number,
    shown_version: number,
    /** What the session was minted with in which was spoken last; it outlives the session. */
    session_context: optional(mixed<SessionContext>()),
    /** What a page told with `context_update`; it refines, and never widens, what is searched. */
    refinement: optional(mixed<Record<string, unknown>>()),
    /** A member's user id. */
    assigned_to: optional(string),
    /** Customer messages since a member looked. */
    unread: number,
    /** How often a member has looked at unread ones; see models/chat/unread.ts. */
    reads: number,
    /** The last position given to a message; each gets the next, so that a history has one order. */
    position: number,
    /** Answers without context in a row. */
    misses: number,
    /** The customer's message whose answer was counted last. */
    counted: optional(string),
    csat: optional(number),
    /** How its last message begins. */
    preview: text,
    /** The same of the customer's last message, once there is one. */
    customer_preview: optional(string),
    /** Absent until somebody has written; such a conversation is in no list. */
    last_message_at: optional(date),
    ticket: optional(ticket),
    events: list(ticketEvent),
    /** `seq` of the last event whose deliveries are stored. */
    events_planned: optional(number),
    /** What members are still to be told, the oldest first. */
    untold: optional(list(mixed<Occasion>())),
    created_at: date,
    updated_at: date,
    /** Test conversations only. */
    expires_at: optional(date),
    pending: pendingField,
  },
  [
    { fields: { org_id: 1, mode: 1, customer_id: 1, _id: -1 } },
    { fields: { org_id: 1, mode: 1, customer_id: 1, ordinal: -1 }, unique: true },
    { fields: inboxIndex },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type Conversation = RecordOf<typeof ConversationModel>;

export async function findConversation(orgId: string, convId: string): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOne({ _id: convId, org_id: orgId });
}

/** Notes that this version of the status was shown. */
export async function settleShown(orgId: string, convId: string, version: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, shown_version: { $lt: version } },
    { $set: { shown_version: version } },
  );
}

/** Notes that the deliveries of events up to this one are stored. */
export async function settlePlanned(orgId: string, convId: string, seq: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne({ _id: convId, org_id: orgId }, { $max: { events_planned: seq } });
}

/** Notes that members were told of these occasions. */
export async function settleTold(orgId: string, convId: string, eventIds: readonly string[]): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId },
    { $pull: { untold: { event_id: { $in: [...eventIds] } } } },
  );
}

/**
 * Gives the answer to a message its position in the history, shows its beginning in lists, and counts it: an answer with
 * context sets the count of misses to 0, `missed` undefined leaves it. Called again for the same message it gives a new
 * position and counts no second miss. `untaken`: only if no member has taken over from the agent, who called one unasked;
 * null when one has.
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
          updated_at: now,
          expires_at: { $cond: [{ $eq: ['$mode', 'test'] }, keptUntil('test', now).expires_at, '$$REMOVE'] },
          preview: { $literal: previewOf(body) },
          ...(missed === undefined ? {} : { misses: missed ? oneMore : 0, counted: messageId }),
        },
      },
    ],
    { returnDocument: 'after', projection: { position: 1, misses: 1 } },
  );
  if (!done && !untaken) throw new Problem('NOT_FOUND', { message: 'There is no such conversation.' });
  return done;
}

/** As `answersIfSure` decides. */
const untakenCall = {
  status: 'escalated',
  'ticket.status': 'escalated',
  'ticket.reason': { $in: calledUnasked },
} satisfies mongoose.mongo.Filter<Conversation>;

/** The customer asks for the person whom the agent has called unasked: the ticket says so, unless a member has taken over. */
export async function noteAsked(orgId: string, convId: string, now: Date): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, ...untakenCall },
    { $set: { 'ticket.reason': 'asked', 'ticket.updated_at': now, updated_at: now }, $inc: { version: 1 } },
  );
}

/** What a page told about itself, in place of what it told before. */
export async function refineConversation(
  orgId: string,
  convId: string,
  refinement: Record<string, unknown>,
): Promise<void> {
  await collectionOf(ConversationModel).updateOne({ _id: convId, org_id: orgId }, { $set: { refinement } });
}

/** A customer's conversations that somebody has written in, or `all` of them, the newest first, from before `after` on. */
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
