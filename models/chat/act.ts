/**
 * Acts: what customers, members and the agent do to a conversation. An act changes the conversation, its ticket, the
 * ticket's events and the notices to members in one atomic update. The tables of models/rules/chat/conversation.ts
 * define these changes.
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
import { intentFor, type Intent } from '../base/pending.ts';
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
import { noSuch, Problem } from '../rules/base/errors.ts';
import { noticeOf } from '../rules/chat/notice.ts';
import { keptUntil } from '../rules/chat/retention.ts';
import { conversationWork, noticesWork, ticketEventsWork } from '../rules/chat/work.ts';
import { defined } from '../rules/base/defined.ts';

export type ActOptions = {
  now: Date;
  /** The message that the act adds. It gets the next position, and its beginning is shown in lists. */
  message?: { body: string; byCustomer: boolean };
  /** The session of a customer's message, and the session's context. */
  session?: { id: string; context: Readonly<Record<string, unknown>> | undefined };
  reason?: EscalationReason;
  /** A member's note on an escalation. */
  note?: string;
  /** The user id of the new assignee, for `assign`. */
  assignTo?: string;
  /** The user id of the acting member. */
  by?: string;
  csat?: number;
  /** When given, the act is refused in any status that is not in this list. */
  from?: readonly ConversationStatus[];
  /** Called before the first message of a conversation; an error that it throws refuses the act. */
  begin?: () => Promise<void>;
  /**
   * Whether the act stores an intent to signal the conversation's workflow. The act `message` stores one only when it
   * changes the status, because the message has an intent of its own.
   */
  attend?: true;
};

/**
 * Performs an act in one atomic update. The update writes the status, the ticket with its events, the notices to
 * members, and the intents to send these events and notices. If the act adds a message, `position` in the returned
 * conversation is the position of that message. The caller must start the workflows of the returned conversation's
 * intents (`pending`) at once.
 * @throws Problem NOT_FOUND; Problem CONFLICT when the status or `withinBounds` does not allow the act; the error that
 * `begin` throws.
 */
export async function actOn(orgId: string, convId: string, act: Act, options: ActOptions): Promise<Conversation> {
  for (;;) {
    const standing = await findConversation(orgId, convId);
    if (!standing) throw noSuch('conversation');
    const status = conversationMoves[act][standing.status];
    if (status === undefined || options.from?.includes(standing.status) === false) {
      throw new Problem('CONFLICT', { message: `A conversation that is ${standing.status} does not allow this.` });
    }
    if (!withinBounds(act, standing.status, standing.events.length)) throw over(act);
    if (options.message && standing.position === 0) await options.begin?.();
    const done = await collectionOf(ConversationModel).findOneAndUpdate(
      // Optimistic locking: retries when the status, the ticket or the events changed meanwhile. A message that changes
      // none of them leaves `version` unchanged, so concurrent messages need no retry.
      { _id: convId, org_id: orgId, version: standing.version },
      change(standing, act, status, options),
      { returnDocument: 'after' },
    );
    if (done) return done;
  }
}

/**
 * The error for an act that `withinBounds` refuses. A customer gets the same error as for a removed conversation, so
 * that the client continues in a new one.
 */
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
  { now, message, session, reason, note, assignTo, by, csat, attend }: ActOptions,
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
  const occasion = occasionOf(standing, act, { to: status, assigned: assignTo, by, reason: ticket?.reason });
  const pending = [
    ...(attend && (act !== 'message' || status !== standing.status) ? [toAttend(standing, now)] : []),
    ...(ticket && events.length > 0 ? [toSend(standing, ticket, now)] : []),
    ...(occasion ? [toTell(standing, now)] : []),
  ];
  const waits = status === 'escalated';
  const gone = [
    ...(act === 'unassign' ? ['assigned_to'] : []),
    ...(context === null ? ['session_context'] : []),
    // A message of the customer ends the snooze.
    ...(act === 'message' ? ['snoozed'] : []),
    ...(waits ? [] : ['waiting_since']),
    ...(status === 'resolved' ? [] : ['resolved_at']),
  ];
  return {
    $set: {
      status,
      ...keptUntil(standing.mode, now),
      ...(ticket ? { ticket } : {}),
      ...defined({ csat, assigned_to: assignTo }),
      ...(message ? { preview: previewOf(message.body) } : {}),
      // A conversation begins with its first message, which may come weeks after the chat was opened.
      ...(message && standing.position === 0 ? { created_at: now } : {}),
      ...(message?.byCustomer ? { customer_preview: previewOf(message.body) } : {}),
      ...(status !== standing.status ? { misses: 0 } : {}),
      ...(waits && standing.status !== 'escalated' ? { waiting_since: now } : {}),
      ...(status === 'resolved' && standing.status !== 'resolved' ? { resolved_at: now } : {}),
      ...(act === 'reply' && !standing.first_reply_at ? { first_reply_at: now } : {}),
      // Only events after `events_planned` are delivered. If the field is missing, it is set to the number of existing
      // events, so that only the new events are delivered.
      ...(events.length > 0 && standing.events_planned === undefined ? { events_planned: standing.events.length } : {}),
      ...(context ? { session_context: context } : {}),
    },
    ...(gone.length > 0 ? { $unset: Object.fromEntries(gone.map((field) => [field, ''])) } : {}),
    // Neither time goes back, even when the clock of this process is slow. Otherwise a member's page could ignore the
    // change (`updated_at`), and a caller that reads the list page by page could get the conversation twice
    // (`last_message_at`).
    $max: { updated_at: now, ...(message ? { last_message_at: now } : {}) },
    $inc: {
      ...(moved ? { version: 1 } : {}),
      ...(status === standing.status ? {} : { status_version: 1 }),
      ...(message ? { position: 1 } : {}),
      ...(message?.byCustomer ? { unread: 1 } : {}),
      ...(standing.status === 'resolved' && status !== 'resolved' ? { reopened: 1 } : {}),
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

/** The notice to members that an act causes, if any. */
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
  // While a notice about an earlier message of the customer has not been sent, a further message adds no other notice.
  const waits = untold.some((one) => one.kind === kind && one.to === assigned && (one.again || !again));
  if (kind === 'customer_replied' && waits) return undefined;
  // A customer's message leaves the reason of an existing ticket unchanged. So the notice does not take the ticket's
  // reason, but says that the customer replied.
  const reason = act === 'message' ? 'replied' : given.reason;
  return {
    event_id: newId('event'),
    ...notice,
    ...defined({ to: assigned, by }),
    ...(kind === 'conversation_escalated' && reason ? { reason } : {}),
  };
}

/** The stored session context after a message of this session: null removes it, undefined leaves it unchanged. */
function newContext(
  standing: SessionContext | undefined,
  { id, context = {} }: NonNullable<ActOptions['session']>,
): SessionContext | null | undefined {
  // The context of a session never changes.
  if (standing?.session_id === id) return undefined;
  if (Object.keys(context).length > 0) return { session_id: id, context };
  return standing && null;
}

/** The ticket's reason and note. In an existing ticket, only the act `escalate` replaces them. */
function whyEscalated(
  ticket: Ticket | undefined,
  act: Act,
  reason: EscalationReason | undefined,
  note: string | undefined,
): Pick<Ticket, 'reason' | 'note'> {
  if (act !== 'escalate' && ticket) return { reason: ticket.reason, ...(ticket.note ? { note: ticket.note } : {}) };
  // A customer's message escalates only after a member has replied, so its reason is `replied`.
  return { reason: reason ?? (act === 'message' ? 'replied' : 'member'), ...(note ? { note } : {}) };
}

const toAttend = ({ _id, org_id }: Conversation, now: Date): Intent => intentFor(conversationWork(org_id, _id), now);

const toSend = ({ _id, org_id }: Conversation, { ticket_id }: Ticket, now: Date): Intent =>
  intentFor(ticketEventsWork(org_id, _id, ticket_id), now);

const toTell = ({ _id, org_id }: Conversation, now: Date): Intent =>
  intentFor(noticesWork(org_id, { convId: _id }), now);
