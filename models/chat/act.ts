/**
 * Acts: what customers, members and the agent do to a conversation. What an act makes of it and of its ticket, the events it
 * causes, and what members are to be told is one atomic update after the tables of models/rules/chat/conversation.ts.
 */
import type mongoose from 'mongoose';
import {
  ConversationModel,
  findConversation,
  type Conversation,
  type Occasion,
  type SessionContext,
  type Ticket,
  type TicketEvent,
} from './conversation.ts';
import { collectionOf } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import { intentFor, isSameIntent, type Intent } from '../base/pending.ts';
import {
  conversationMoves,
  eventsOf,
  previewOf,
  ticketAfter,
  withinBounds,
  type Act,
  type ConversationStatus,
  type EscalationReason,
} from '../rules/chat/conversation.ts';
import { Problem } from '../rules/base/errors.ts';
import { noticeOf } from '../rules/chat/notice.ts';
import { keptUntil } from '../rules/chat/retention.ts';
import { noticesWork, ticketEventsWork } from '../rules/chat/work.ts';

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
  /** The user id of the member who acts. */
  by?: string;
  csat?: number;
  /** Only if it is still in one of these. */
  from?: readonly ConversationStatus[];
  /** Asked before the first message of all; what it throws refuses the act. */
  begin?: () => Promise<void>;
  /** What is to be started for the act, one intent per workflow: the same whatever the act makes, or decided by that. */
  intents?: readonly Intent[] | ((made: Made) => readonly Intent[]);
};

/** What an act has made of a conversation. `moved`: its status is another one. */
export type Made = { moved: boolean; events: readonly TicketEvent[] };

/**
 * Does an act, at once with its ticket, its events, what members are to be told, and the intents for all of it, as the tables say;
 * `position` of what is returned is the message's. Start the latter at once: `eventIntents`.
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
  { now, message, session, reason, note, assignTo, by, csat, intents = [] }: ActOptions,
): mongoose.mongo.UpdateFilter<Conversation> {
  const before = standing.ticket?.status;
  const after = ticketAfter(act, before, status);
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
  const given = typeof intents === 'function' ? intents({ moved: status !== standing.status, events }) : intents;
  const occasion = occasionOf(standing, act, { to: status, assigned: assignTo, by, reason: ticket?.reason });
  const pending = [
    ...given,
    ...(ticket && events.length > 0 ? [toSend(standing, ticket, now)] : []),
    ...(occasion ? [toTell(standing, now)] : []),
  ];
  return {
    $set: {
      status,
      updated_at: now,
      ...keptUntil(standing.mode, now),
      ...(ticket ? { ticket } : {}),
      ...(csat === undefined ? {} : { csat }),
      ...(assignTo === undefined ? {} : { assigned_to: assignTo }),
      ...(message ? { preview: previewOf(message.body) } : {}),
      ...(message?.byCustomer ? { customer_preview: previewOf(message.body) } : {}),
      ...(status !== standing.status ? { misses: 0 } : {}),
      // What happened before events were sent anywhere stays unsent.
      ...(events.length > 0 && standing.events_planned === undefined ? { events_planned: standing.events.length } : {}),
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
    ...(events.length > 0 || pending.length > 0
      ? {
          $push: {
            ...(events.length > 0 ? { events: { $each: events } } : {}),
            ...(pending.length > 0 ? { pending: { $each: pending } } : {}),
            ...(occasion ? { untold: occasion } : {}),
          },
        }
      : {}),
  };
}

/** What members are to be told of an act. */
function occasionOf(
  { status: from, assigned_to, untold = [] }: Conversation,
  act: Act,
  given: {
    to: ConversationStatus;
    assigned: string | undefined;
    by: string | undefined;
    reason: EscalationReason | undefined;
  },
): Occasion | undefined {
  const { to, by, assigned = assigned_to } = given;
  const notice = noticeOf(act, { from, to, assignedBefore: assigned_to, assigned, by });
  if (!notice) return undefined;
  const { kind, again } = notice;
  // Of a customer who writes on and on, one message is told.
  const waits = untold.some((one) => one.kind === kind && one.to === assigned && (one.again || !again));
  if (kind === 'customer_replied' && waits) return undefined;
  // A ticket keeps the reason for which a person was called first.
  const reason = act === 'message' ? 'replied' : given.reason;
  return {
    event_id: newId('event'),
    ...notice,
    ...(assigned === undefined ? {} : { to: assigned }),
    ...(by === undefined ? {} : { by }),
    ...(kind === 'conversation_escalated' && reason ? { reason } : {}),
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

const toSend = ({ _id, org_id }: Conversation, { ticket_id }: Ticket, now: Date): Intent =>
  intentFor(ticketEventsWork(org_id, _id, ticket_id), now);

const toTell = ({ _id, org_id }: Conversation, now: Date): Intent =>
  intentFor(noticesWork(org_id, { convId: _id }), now);

type OwnWork = ReturnType<typeof ticketEventsWork | typeof noticesWork>;
const ownWorkflows: readonly string[] = ['ticketEvents', 'notices'] satisfies OwnWork['workflow'][];

/**
 * The intents that acts left with a conversation by themselves, to send events and to tell members; whoever acted starts them.
 */
export const eventIntents = ({ pending = [] }: Pick<Conversation, 'pending'>): Intent[] =>
  pending.filter(({ workflow }) => ownWorkflows.includes(workflow));

/** Which of these intents an act left with the conversation. */
export const leftIntents = ({ pending = [] }: Conversation, intents: readonly Intent[]): Intent[] =>
  intents.filter((intent) => pending.some((left) => isSameIntent(left, intent)));
