/**
 * The states of a conversation and of its ticket, and how each act changes them. Pure; models/chat/act.ts turns these
 * tables into one atomic update.
 */
import { defined } from '../base/defined.ts';

export const conversationStatuses = ['open', 'pending', 'escalated', 'resolved'] as const;
/**
 * `open`: the agent answers. `escalated`: a person from the team must answer. `pending`: a person has answered, and the
 * customer's reply is awaited.
 */
export type ConversationStatus = (typeof conversationStatuses)[number];

export const ticketStatuses = ['open', 'in_progress', 'pending', 'escalated', 'resolved', 'closed'] as const;
export type TicketStatus = (typeof ticketStatuses)[number];

export const ticketEvents = ['ticket.created', 'ticket.escalated', 'ticket.resolved'] as const;
export type TicketEventType = (typeof ticketEvents)[number];

export const messageRoles = ['customer', 'ai', 'agent', 'system'] as const;

/**
 * Customers do `message` and `end`; the agent or a member does `escalate`. Members do all other acts, in the inbox or
 * in a connected service such as Slack or Linear.
 */
export const acts = ['message', 'reply', 'assign', 'unassign', 'escalate', 'resolve', 'end', 'reopen'] as const;
export type Act = (typeof acts)[number];

/**
 * The new status of a conversation after each act, by its current status. A status without an entry refuses the act.
 */
export const conversationMoves: Readonly<Record<Act, Partial<Record<ConversationStatus, ConversationStatus>>>> = {
  // A member has answered (`pending`), so the customer's next message waits for a person again.
  message: { open: 'open', pending: 'escalated', escalated: 'escalated', resolved: 'open' },
  reply: { open: 'pending', pending: 'pending', escalated: 'pending', resolved: 'pending' },
  assign: { open: 'open', pending: 'pending', escalated: 'escalated', resolved: 'resolved' },
  unassign: { open: 'open', pending: 'pending', escalated: 'escalated', resolved: 'resolved' },
  escalate: { open: 'escalated', pending: 'escalated', resolved: 'escalated' },
  resolve: { open: 'resolved', pending: 'resolved', escalated: 'resolved' },
  end: { open: 'resolved', pending: 'resolved', escalated: 'resolved', resolved: 'resolved' },
  reopen: { resolved: 'open' },
};

/**
 * The new status of an existing ticket after each act, by its current status. A status without an entry stays
 * unchanged.
 */
const ticketMoves: Readonly<Record<Act, Partial<Record<TicketStatus, TicketStatus>>>> = {
  message: { pending: 'open' },
  reply: { open: 'pending', in_progress: 'pending', escalated: 'pending', resolved: 'pending', closed: 'pending' },
  assign: { open: 'in_progress', escalated: 'in_progress' },
  // Nobody works on the ticket after this act.
  unassign: { in_progress: 'open' },
  escalate: {
    open: 'escalated',
    in_progress: 'escalated',
    pending: 'escalated',
    resolved: 'escalated',
    closed: 'escalated',
  },
  resolve: { open: 'resolved', in_progress: 'resolved', pending: 'resolved', escalated: 'resolved' },
  end: { open: 'closed', in_progress: 'closed', pending: 'closed', escalated: 'closed', resolved: 'closed' },
  reopen: { resolved: 'open', closed: 'open' },
};

/**
 * Whether the agent answers a customer's message: it does when no person is in charge. A message in a resolved
 * conversation is answered, too, because it was accepted before somebody ended the conversation.
 */
export const agentAnswers = (status: ConversationStatus): boolean => status === 'open' || status === 'resolved';

/**
 * Whether the agent still gives answers of which it is certain while the customer waits for a person. It does when the
 * customer did not ask for a person and no member has taken over yet. Answering, assigning or resolving the ticket ends
 * its status `escalated`.
 */
export const answersIfSure = (
  status: ConversationStatus,
  ticket: { status: TicketStatus; reason: EscalationReason } | undefined,
): boolean => status === 'escalated' && ticket?.status === 'escalated' && calledUnasked.includes(ticket.reason);

/**
 * The ticket's status after an act that led the conversation to `status`; undefined when there is no ticket. An act
 * that leads to `escalated` creates a ticket when there is none, so that every customer who waits for a person has a
 * ticket.
 */
export function ticketAfter(
  act: Act,
  before: TicketStatus | undefined,
  status: ConversationStatus,
): TicketStatus | undefined {
  if (before === undefined) return status === 'escalated' ? 'escalated' : undefined;
  return ticketMoves[act][before] ?? before;
}

/**
 * The ticket events caused by an act. `before` and `after` are the ticket's statuses; `before` is undefined when the
 * ticket is new.
 */
export function eventsOf(
  act: Act,
  before: TicketStatus | undefined,
  after: TicketStatus | undefined,
): TicketEventType[] {
  if (before === undefined) return after === undefined ? [] : ['ticket.created', 'ticket.escalated'];
  if (act === 'escalate') return ['ticket.escalated'];
  const over = (status: TicketStatus | undefined) => status === 'resolved' || status === 'closed';
  return !over(before) && over(after) ? ['ticket.resolved'] : [];
}

/**
 * The number of ticket events after which a conversation can be neither escalated nor reopened: about fifty
 * escalations, each resolved. Events are stored in the conversation's record, so a customer must not be able to make
 * the record grow without bound.
 */
export const maxTicketEvents = 100;

/**
 * Whether an act is allowed when the ticket has this many events. At `maxTicketEvents`, acts that escalate or reopen
 * are refused. The other acts then add at most one event, so a ticket never has more than `maxTicketEvents` + 1 events.
 */
export function withinBounds(act: Act, from: ConversationStatus, events: number): boolean {
  const reopens = from === 'resolved' && conversationMoves[act][from] !== 'resolved';
  return events < maxTicketEvents || (act !== 'escalate' && !reopens);
}

/** Why a conversation was escalated to a person; the sentences are for members. */
export const escalationReasons = {
  asked: 'The customer asked for a person.',
  no_context: 'Two questions in a row found no answer.',
  human_only: 'What the customer wants only a person may do.',
  unknown_outcome: 'It is not known whether an action was carried out; look before it is done again.',
  member: 'A member took it over.',
  replied: 'The customer wrote back after a member had answered.',
  failed: 'The agent could not look for an answer.',
} as const;
export type EscalationReason = keyof typeof escalationReasons;
export const escalationReasonNames = Object.keys(escalationReasons) as EscalationReason[];
/**
 * The reasons for an escalation that the customer did not ask for: the agent found no answer, or could not look for
 * one.
 */
export const calledUnasked: readonly EscalationReason[] = ['no_context', 'failed'];

/** The number of consecutive questions without an answer after which the agent escalates to a person. */
export const missesToEscalate = 2;

/** The maximum length of a message of a customer or member, in characters; a page of text has about 3,000. */
export const maxBodyLength = 8_000;
/** The maximum length of the last message shown in conversation lists, in characters. */
export const previewLength = 160;
/** The maximum length of a member's note on an escalation, in characters. */
export const maxNoteLength = 500;
/** The beginning of a message on one line, cut without splitting a surrogate pair. */
export const previewOf = (body: string): string =>
  body
    .slice(0, 4 * previewLength)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, previewLength)
    .replace(/[\ud800-\udbff]$/, '');

/**
 * The segments that a question may search. `pinned`: the segment of a signed session, which wins. `refined`: the
 * segment of a page's `context_update`, which counts only when the session names none (spec 4.7, segment rule 2).
 */
export function searchedSegments(pinned: string | undefined, refined: string | undefined): string[] {
  const named = [pinned, refined].find((value) => value !== undefined && value.trim() !== '');
  return named === undefined ? [] : [named];
}

/**
 * The customer's context for the agent: the session's context, overridden by the context that the page sent. When the
 * session has a segment (`pinned`), `productType` is always this segment. Undefined when there is no context.
 */
export function situationOf(
  session: Readonly<Record<string, unknown>> | undefined,
  page: Readonly<Record<string, unknown>> | undefined,
  pinned: string | undefined,
): Record<string, unknown> | undefined {
  const [product] = searchedSegments(pinned, undefined);
  const told = { ...session, ...page, ...defined({ productType: product }) };
  return Object.keys(told).length === 0 ? undefined : told;
}

/** The orders of the inbox. `waiting`: only conversations that wait for a person, the longest wait first. */
export const inboxSorts = ['newest', 'waiting'] as const;
export type InboxSort = (typeof inboxSorts)[number];
