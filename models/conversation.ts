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
  ticketAfter,
  ticketStatuses,
  type Act,
  type ConversationStatus,
  type EscalationReason,
  type TicketEventType,
  type TicketStatus,
  withinBounds,
} from './rules/conversation.ts';
import { Problem } from './rules/errors.ts';
import { modes, type Mode } from './rules/keys.ts';
import { keptUntil } from './rules/retention.ts';

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

export type SessionContext = { session_id: string; context: Readonly<Record<string, unknown>> };

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
  /** What the session was minted with in which was spoken last; it outlives the session. */
  session_context?: SessionContext;
  /** What a page told with `context_update`; it refines, and never widens, what is searched. */
  refinement?: Record<string, unknown>;
  /** A member's user id. */
  assigned_to?: string;
  /** Customer messages since a member looked. */
  unread: number;
  /** How often a member has looked at unread ones; see `countMissed`. */
  reads: number;
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
    session_context: { type: Mixed },
    refinement: { type: Mixed },
    assigned_to: String,
    unread: { type: Number, required: true },
    reads: { type: Number, required: true },
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

/**
 * The customer's conversation that is not resolved; of several the one that was written in last, since one of before may
 * have been taken up again. One that nobody has written in comes last. Null when there is none.
 */
export async function findStanding(orgId: string, mode: Mode, customerId: string): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOne(
    { org_id: orgId, mode, customer_id: customerId, status: { $ne: 'resolved' } },
    { sort: { last_message_at: -1, ordinal: -1 } },
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
    const standing = await findStanding(orgId, mode, customerId);
    if (standing) return standing;
    const last = await collectionOf(ConversationModel).findOne(
      { org_id: orgId, mode, customer_id: customerId },
      { sort: { ordinal: -1 }, projection: { ordinal: 1 } },
    );
    // It may have been begun, or opened again, since we looked; one begun from now on takes our number.
    const since = last && (await findStanding(orgId, mode, customerId));
    if (since) return since;
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
      reads: 0,
      position: 0,
      misses: 0,
      preview: '',
      events: [],
      created_at: now,
      updated_at: now,
      ...keptUntil(mode, now),
    };
    try {
      await collectionOf(ConversationModel).insertOne(fresh);
      return fresh;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}

/**
 * Removes a customer's conversations that nobody has written in: another one stands that was taken up again. Whoever is
 * connected to one hears of it and comes back to that.
 */
export async function removeEmpty({ _id, org_id, mode, customer_id }: Conversation): Promise<void> {
  await collectionOf(ConversationModel).deleteMany({
    org_id,
    mode,
    customer_id,
    _id: { $ne: _id },
    status: 'open',
    last_message_at: { $exists: false },
  });
}

export async function findConversation(orgId: string, convId: string): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOne({ _id: convId, org_id: orgId });
}

export type ActOptions = {
  now: Date;
  /** Of a message: it gets the next position, and the list shows its beginning. */
  message?: { body: string; byCustomer: boolean };
  /** Of a customer's message: the session it came with, and what that was minted with. */
  session?: { id: string; context: Readonly<Record<string, unknown>> | undefined };
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
  /** Stored only if the act moves the status; `leftIntent` tells. */
  intentIfMoved?: Intent;
};

/**
 * Does an act, at once with its ticket, its events and the intent to show it, as the tables say; `position` of what is
 * returned is the message's.
 * @throws Problem NOT_FOUND, or CONFLICT when the status, or `withinBounds`, does not allow it; what `begin` throws.
 */
export async function actOn(orgId: string, convId: string, act: Act, options: ActOptions): Promise<Conversation> {
  for (;;) {
    const standing = await findConversation(orgId, convId);
    if (!standing) throw new Problem('NOT_FOUND', { message: 'There is no such conversation.' });
    const status = conversationMoves[act][standing.status];
    if (status === undefined || options.from?.includes(standing.status) === false) {
      throw new Problem('CONFLICT', { message: `A conversation that is ${standing.status} does not allow this.` });
    }
    if (!withinBounds(act, standing.status, standing.events.length)) throw over(act);
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

/** A customer's client is told what it is told of one that was removed: it goes on in another. */
const over = (act: Act): Problem =>
  act === 'message'
    ? new Problem('NOT_FOUND', { message: 'This conversation takes no further messages; begin another one.' })
    : new Problem('CONFLICT', {
        message: 'This conversation was taken up too often; the customer begins another one.',
      });

function change(
  standing: Conversation,
  act: Act,
  status: ConversationStatus,
  { now, message, session, reason, note, assignTo, csat, intent: always, intentIfMoved }: ActOptions,
): mongoose.mongo.UpdateFilter<Conversation> {
  const before = standing.ticket?.status;
  const after = ticketAfter(act, before, status);
  const intent = always ?? (status === standing.status ? undefined : intentIfMoved);
  const context = session && newContext(standing.session_context, session);
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
      ...keptUntil(standing.mode, now),
      ...(ticket ? { ticket } : {}),
      ...(csat === undefined ? {} : { csat }),
      ...(assignTo === undefined ? {} : { assigned_to: assignTo }),
      ...(message ? { preview: previewOf(message.body) } : {}),
      ...(status !== standing.status ? { misses: 0 } : {}),
      ...(context ? { session_context: context } : {}),
    },
    ...(act === 'unassign' ? { $unset: { assigned_to: '' } } : {}),
    ...(context === null ? { $unset: { session_context: '' } } : {}),
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

/** What a message of this session makes of what is known of the sessions before: null removes it, undefined leaves it. */
function newContext(
  standing: SessionContext | undefined,
  { id, context = {} }: NonNullable<ActOptions['session']>,
): SessionContext | null | undefined {
  // A session's context never changes.
  if (standing?.session_id === id) return undefined;
  if (Object.keys(context).length > 0) return { session_id: id, context };
  return standing && null;
}

/** Why a person was called the last time. */
function whyEscalated(
  ticket: Ticket | undefined,
  act: Act,
  reason: EscalationReason | undefined,
  note: string | undefined,
): Pick<Ticket, 'reason' | 'note'> {
  if (act !== 'escalate' && ticket) return { reason: ticket.reason, ...(ticket.note ? { note: ticket.note } : {}) };
  // A customer's message makes a ticket only where a person has spoken.
  return { reason: reason ?? (act === 'message' ? 'replied' : 'member'), ...(note ? { note } : {}) };
}

/** Whether an act left this intent with the conversation: it is the one it was given for a status that moves. */
export const leftIntent = ({ pending = [] }: Conversation, { key }: Intent): boolean =>
  pending.some((intent) => intent.key === key);

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
          expires_at: { $cond: [{ $eq: ['$mode', 'test'] }, keptUntil('test', now).expires_at, '$$REMOVE'] },
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

/** A message that was counted turned out to be one that was there before. `reads`: as it was when it was counted. */
export async function uncountMessage(orgId: string, convId: string, reads: number): Promise<void> {
  await collectionOf(ConversationModel).updateOne(
    // Whoever has looked since has taken it off already.
    { _id: convId, org_id: orgId, reads, unread: { $gt: 0 } },
    { $inc: { unread: -1 } },
  );
}

/**
 * A message that was counted has been stored. If somebody looked in between they may not have seen it, so it counts again:
 * rather once too often than never. `reads`: as it was when it was counted.
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
