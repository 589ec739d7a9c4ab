/**
 * Conversations and the tickets they become. What an act makes of both, and the events it causes, is one atomic update after
 * the tables of models/rules/conversation.ts; its frames are appended by the conversation's workflow.
 */
import type mongoose from 'mongoose';
import { isDuplicate } from './connect.ts';
import { collectionOf, defineModel, embedded, Mixed } from './define.ts';
import { newId } from './ids.ts';
import { pendingField, pendingIndex, type Intent } from './pending.ts';
import {
  conversationMoves,
  conversationStatuses,
  eventsOf,
  previewOf,
  testRetentionDays,
  ticketMoves,
  ticketStatuses,
  type Act,
  type ConversationStatus,
  type EscalationReason,
  type TicketEventType,
  type TicketStatus,
} from './rules/conversation.ts';
import { Problem } from './rules/errors.ts';
import { modes, type Mode } from './rules/keys.ts';

export type Ticket = {
  ticket_id: string;
  status: TicketStatus;
  reason: EscalationReason;
  /** What the member wrote who escalated. */
  note?: string;
  created_at: Date;
  updated_at: Date;
};
/** `seq` counts the events of one ticket from 1. */
export type TicketEvent = {
  event_id: string;
  seq: number;
  type: TicketEventType;
  ticket_status: TicketStatus;
  at: Date;
};

export type Conversation = {
  _id: string;
  org_id: string;
  mode: Mode;
  customer_id: string;
  /** Counts the customer's conversations from 1; unique, so that two who find none begin the same one. */
  ordinal: number;
  status: ConversationStatus;
  /** Counts whatever acts may race about: the status, the assignee, the ticket and its events. */
  version: number;
  /** Counts the moves of `status`; each is shown once. */
  status_version: number;
  shown_version: number;
  /** What a page told with `context_update`; it refines, and never widens, what is searched. */
  refinement?: Record<string, unknown>;
  /** A member's user id. */
  assigned_to?: string;
  /** Customer messages since a member looked. */
  unread: number;
  /** Given with every message, so that a history has one order whoever writes. */
  position: number;
  /** Answers without context in a row. */
  misses: number;
  /** The customer's message whose answer was counted last. */
  counted?: string;
  csat?: number;
  preview: string;
  /** Absent until somebody has written; such a conversation is in no list. */
  last_message_at?: Date;
  ticket?: Ticket;
  events: TicketEvent[];
  created_at: Date;
  updated_at: Date;
  /** Test conversations only. */
  expires_at?: Date;
  pending?: Intent[];
};

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

export const ConversationModel = defineModel<Conversation>(
  'Conversation',
  'conversations',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    mode: { type: String, enum: modes, required: true },
    customer_id: { type: String, required: true },
    ordinal: { type: Number, required: true },
    status: { type: String, enum: conversationStatuses, required: true },
    version: { type: Number, required: true },
    status_version: { type: Number, required: true },
    shown_version: { type: Number, required: true },
    refinement: { type: Mixed },
    assigned_to: String,
    unread: { type: Number, required: true },
    position: { type: Number, required: true },
    misses: { type: Number, required: true },
    counted: String,
    csat: Number,
    preview: { type: String },
    last_message_at: Date,
    ticket: embedded<Ticket>({
      ticket_id: { type: String, required: true },
      status: { type: String, enum: ticketStatuses, required: true },
      reason: { type: String, required: true },
      note: String,
      created_at: { type: Date, required: true },
      updated_at: { type: Date, required: true },
    }),
    events: {
      type: [
        embedded<TicketEvent>({
          event_id: { type: String, required: true },
          seq: { type: Number, required: true },
          type: { type: String, required: true },
          ticket_status: { type: String, required: true },
          at: { type: Date, required: true },
        }),
      ],
      required: true,
    },
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
    expires_at: Date,
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

const DAY_MS = 86_400_000;
/** When a conversation of this mode is forgotten that was last touched now. */
const expiry = (mode: Mode, now: Date) =>
  mode === 'test' ? { expires_at: new Date(now.getTime() + testRetentionDays * DAY_MS) } : {};

/** The customer's conversation that is not resolved; null when there is none. */
export async function findStanding(orgId: string, mode: Mode, customerId: string): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOne(
    { org_id: orgId, mode, customer_id: customerId, status: { $ne: 'resolved' } },
    { sort: { ordinal: -1 } },
  );
}

/** The customer's conversation that is not resolved, begun now if there is none; the same one for all who race. */
export async function provideConversation(
  orgId: string,
  mode: Mode,
  customerId: string,
  now: Date,
): Promise<Conversation> {
  for (;;) {
    const last = await collectionOf(ConversationModel).findOne(
      { org_id: orgId, mode, customer_id: customerId },
      { sort: { ordinal: -1 } },
    );
    if (last && last.status !== 'resolved') return last;
    // An older one may have been opened again.
    const standing = last && (await findStanding(orgId, mode, customerId));
    if (standing) return standing;
    const fresh: Conversation = {
      _id: newId('conversation'),
      org_id: orgId,
      mode,
      customer_id: customerId,
      // Whoever has begun one since we looked has taken this number.
      ordinal: (last?.ordinal ?? 0) + 1,
      status: 'open',
      version: 0,
      status_version: 0,
      shown_version: 0,
      unread: 0,
      position: 0,
      misses: 0,
      preview: '',
      events: [],
      created_at: now,
      updated_at: now,
      ...expiry(mode, now),
    };
    try {
      await collectionOf(ConversationModel).insertOne(fresh);
      return fresh;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}

export async function findConversation(orgId: string, convId: string): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOne({ _id: convId, org_id: orgId });
}

export type ActOptions = {
  now: Date;
  /** Of a message: it gets the next position, and the list shows its beginning. */
  message?: { body: string; byCustomer: boolean };
  reason?: EscalationReason;
  /** Of an escalation by a member. */
  note?: string;
  /** Of `assign`: a member's user id. */
  assignTo?: string;
  csat?: number;
  /** Only if it is still in one of these. */
  from?: readonly ConversationStatus[];
  /** Asked before the first message of all; what it throws refuses the act. */
  begin?: () => Promise<void>;
  intent?: Intent;
};

/**
 * Does an act, at once with its ticket, its events and the intent to show it, as the tables say; `position` of what is
 * returned is the message's.
 * @throws Problem NOT_FOUND, or CONFLICT when the status does not allow it; what `begin` throws.
 */
export async function actOn(orgId: string, convId: string, act: Act, options: ActOptions): Promise<Conversation> {
  for (;;) {
    const standing = await findConversation(orgId, convId);
    if (!standing) throw new Problem('NOT_FOUND', { message: 'There is no such conversation.' });
    const status = conversationMoves[act][standing.status];
    if (status === undefined || options.from?.includes(standing.status) === false) {
      throw new Problem('CONFLICT', { message: `A conversation that is ${standing.status} does not allow this.` });
    }
    if (options.message && standing.position === 0) await options.begin?.();
    const done = await collectionOf(ConversationModel).findOneAndUpdate(
      // Whoever moved its status, its ticket or its events meanwhile makes us look again; messages may race.
      { _id: convId, org_id: orgId, version: standing.version },
      change(standing, act, status, options),
      { returnDocument: 'after' },
    );
    if (done) return done;
  }
}

function change(
  standing: Conversation,
  act: Act,
  status: ConversationStatus,
  { now, message, reason, note, assignTo, csat, intent }: ActOptions,
): mongoose.mongo.UpdateFilter<Conversation> {
  const before = standing.ticket?.status;
  const after =
    before === undefined ? (act === 'escalate' ? 'escalated' : undefined) : (ticketMoves[act][before] ?? before);
  const assigns = act === 'assign' || act === 'unassign';
  const moved = status !== standing.status || after !== before || act === 'escalate' || assigns;
  const events = eventsOf(act, before, after).map((type, index): TicketEvent => ({
    event_id: newId('event'),
    seq: standing.events.length + 1 + index,
    type,
    ticket_status: after!,
    at: now,
  }));
  const ticket: Ticket | undefined =
    after === undefined
      ? undefined
      : {
          ticket_id: standing.ticket?.ticket_id ?? newId('ticket'),
          status: after,
          ...whyEscalated(standing.ticket, act, reason, note),
          created_at: standing.ticket?.created_at ?? now,
          updated_at: after === before && reason === undefined ? standing.ticket!.updated_at : now,
        };
  return {
    $set: {
      status,
      updated_at: now,
      ...expiry(standing.mode, now),
      ...(ticket ? { ticket } : {}),
      ...(csat === undefined ? {} : { csat }),
      ...(assignTo === undefined ? {} : { assigned_to: assignTo }),
      ...(message ? { preview: previewOf(message.body) } : {}),
      ...(status !== standing.status ? { misses: 0 } : {}),
      // Whoever answers has read.
      ...(act === 'reply' ? { unread: 0 } : {}),
    },
    ...(act === 'unassign' ? { $unset: { assigned_to: '' } } : {}),
    // Never back, whose clock ever is slow: a list that is read page by page must not meet it twice.
    ...(message ? { $max: { last_message_at: now } } : {}),
    $inc: {
      ...(moved ? { version: 1 } : {}),
      ...(status === standing.status ? {} : { status_version: 1 }),
      ...(message ? { position: 1 } : {}),
      ...(message?.byCustomer ? { unread: 1 } : {}),
    },
    ...(events.length > 0 || intent
      ? {
          $push: {
            ...(events.length > 0 ? { events: { $each: events } } : {}),
            ...(intent ? { pending: intent } : {}),
          },
        }
      : {}),
  };
}

/** Why a person was called the last time. */
function whyEscalated(
  ticket: Ticket | undefined,
  act: Act,
  reason: EscalationReason | undefined,
  note: string | undefined,
): Pick<Ticket, 'reason' | 'note'> {
  if (act !== 'escalate' && ticket) return { reason: ticket.reason, ...(ticket.note ? { note: ticket.note } : {}) };
  return { reason: reason ?? 'member', ...(note ? { note } : {}) };
}

/** The status that was not shown yet has been. */
export async function settleShown(orgId: string, convId: string, version: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, shown_version: { $lt: version } },
    { $set: { shown_version: version } },
  );
}

/**
 * Takes the place of the answer to a message in the history, shows its beginning in lists, and counts it: an answer with
 * context begins the count of misses anew, `hasContext` undefined leaves it. Asked again for the same message it gives a
 * new place and counts no second miss.
 */
export async function placeAnswer(
  orgId: string,
  convId: string,
  answer: { messageId: string; body: string; hasContext: boolean | undefined; now: Date },
): Promise<{ position: number; misses: number }> {
  const { messageId, body, hasContext, now } = answer;
  const missed = { $cond: [{ $eq: ['$counted', messageId] }, '$misses', { $add: ['$misses', 1] }] };
  const done = await collectionOf(ConversationModel).findOneAndUpdate(
    { _id: convId, org_id: orgId },
    [
      {
        $set: {
          position: { $add: ['$position', 1] },
          last_message_at: { $max: ['$last_message_at', now] },
          updated_at: now,
          expires_at: { $cond: [{ $eq: ['$mode', 'test'] }, expiry('test', now).expires_at, '$$REMOVE'] },
          preview: { $literal: previewOf(body) },
          ...(hasContext === undefined ? {} : { misses: hasContext ? 0 : missed, counted: messageId }),
        },
      },
    ],
    { returnDocument: 'after', projection: { position: 1, misses: 1 } },
  );
  if (!done) throw new Problem('NOT_FOUND', { message: 'There is no such conversation.' });
  return done;
}

/** A message that was counted turned out to be one that was there before. */
export async function uncountMessage(orgId: string, convId: string): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, unread: { $gt: 0 } },
    { $inc: { unread: -1 } },
  );
}

/** A member has looked at it, up to the message at this position; if there are newer ones by now all count as unread still. */
export async function markRead(orgId: string, convId: string, upTo: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    { _id: convId, org_id: orgId, position: { $lte: upTo }, unread: { $gt: 0 } },
    { $set: { unread: 0 } },
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
