/**
 * The life of a conversation and of the ticket it may have become: what each act makes of them. Pure; models/chat/act.ts
 * turns these tables into one atomic update.
 */

export const conversationStatuses = ['open', 'pending', 'escalated', 'resolved'] as const;
/** `open`: the agent answers. `escalated`: a person is awaited. `pending`: a person has answered and waits. */
export type ConversationStatus = (typeof conversationStatuses)[number];

export const ticketStatuses = ['open', 'in_progress', 'pending', 'escalated', 'resolved', 'closed'] as const;
export type TicketStatus = (typeof ticketStatuses)[number];

export const ticketEvents = ['ticket.created', 'ticket.escalated', 'ticket.resolved'] as const;
export type TicketEventType = (typeof ticketEvents)[number];

export const messageRoles = ['customer', 'ai', 'agent', 'system'] as const;
export type MessageRole = (typeof messageRoles)[number];

/** `message` and `end` are the customer's, `escalate` the agent's or a member's, the others a member's. */
export const acts = ['message', 'reply', 'assign', 'unassign', 'escalate', 'resolve', 'end', 'reopen'] as const;
export type Act = (typeof acts)[number];

/** Where an act leads; a status that is missing refuses it. */
export const conversationMoves: Readonly<Record<Act, Partial<Record<ConversationStatus, ConversationStatus>>>> = {
  // Once a person has taken over, the next question is for a person, too.
  message: { open: 'open', pending: 'escalated', escalated: 'escalated', resolved: 'open' },
  reply: { open: 'pending', pending: 'pending', escalated: 'pending', resolved: 'pending' },
  assign: { open: 'open', pending: 'pending', escalated: 'escalated', resolved: 'resolved' },
  unassign: { open: 'open', pending: 'pending', escalated: 'escalated', resolved: 'resolved' },
  escalate: { open: 'escalated', pending: 'escalated', resolved: 'escalated' },
  resolve: { open: 'resolved', pending: 'resolved', escalated: 'resolved' },
  end: { open: 'resolved', pending: 'resolved', escalated: 'resolved', resolved: 'resolved' },
  reopen: { resolved: 'open' },
};

/** What an act makes of a ticket that is there, by its status; one that is missing leaves it as it is. */
const ticketMoves: Readonly<Record<Act, Partial<Record<TicketStatus, TicketStatus>>>> = {
  message: { pending: 'open' },
  reply: { open: 'pending', in_progress: 'pending', escalated: 'pending', resolved: 'pending', closed: 'pending' },
  assign: { open: 'in_progress', escalated: 'in_progress' },
  // Nobody works on it any more.
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
 * Whether a customer's message is the agent's to answer: wherever no person is in charge. In a resolved conversation it is
 * one that was accepted before somebody ended it.
 */
export const agentAnswers = (status: ConversationStatus): boolean => status === 'open' || status === 'resolved';

/**
 * Whether the agent still says what it surely knows while a person is awaited: where the customer did not ask for one, and no
 * member has taken over. A ticket that a member has answered, assigned or resolved is no longer `escalated`.
 */
export const answersIfSure = (
  status: ConversationStatus,
  ticket: { status: TicketStatus; reason: EscalationReason } | undefined,
): boolean => status === 'escalated' && ticket?.status === 'escalated' && calledUnasked.includes(ticket.reason);

/**
 * The ticket's status after an act that led the conversation to `status`; undefined: there is none. Every act that
 * leads to `escalated` makes one, so that each customer who waits for a person has a ticket.
 */
export function ticketAfter(
  act: Act,
  before: TicketStatus | undefined,
  status: ConversationStatus,
): TicketStatus | undefined {
  if (before === undefined) return status === 'escalated' ? 'escalated' : undefined;
  return ticketMoves[act][before] ?? before;
}

/** What happened to a ticket whose status went from `before` (undefined: there was none) to `after` by this act. */
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
 * Events of a ticket after which its conversation is not reopened. They are kept in the record, and a customer who asks for a
 * person and leaves, over and over, must not make it grow without end. It is some fifty calls for a person, each resolved.
 */
export const maxTicketEvents = 100;

/**
 * Whether an act is still allowed in a conversation whose ticket has this many events. Ending it always is, so there is at
 * most one event beyond `maxTicketEvents`, and every event is kept.
 */
export function withinBounds(act: Act, from: ConversationStatus, events: number): boolean {
  const reopens = from === 'resolved' && conversationMoves[act][from] !== 'resolved';
  return events < maxTicketEvents || (act !== 'escalate' && !reopens);
}

/** Why a person is needed; the sentence is the members'. */
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
/** Where the agent called a person whom the customer did not ask for. */
export const calledUnasked: readonly EscalationReason[] = ['no_context', 'failed'];

/** Answers without context in a row after which a person is called. */
export const missesToEscalate = 2;

/** Longest body of a customer's or a member's message, in characters; a page of text is 3,000. */
export const maxBodyLength = 8_000;
/** Of a conversation's last message, for lists, in characters. */
export const previewLength = 160;
/** Longest note a member leaves with a ticket when escalating, in characters. */
export const maxNoteLength = 500;
/** The beginning of a message on one line; no character is cut in two. */
export const previewOf = (body: string): string =>
  body
    .slice(0, 4 * previewLength)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, previewLength)
    .replace(/[\ud800-\udbff]$/, '');

/** How long a test conversation is kept after its last message, in days. */
export const testRetentionDays = 30;

/**
 * What a question may search. The product of a signed session cannot be changed by the page: `context_update` may only
 * narrow a session that names none (spec 4.7, segment rule 2).
 */
export function searchedSegments(pinned: string | undefined, refined: string | undefined): string[] {
  const named = [pinned, refined].find((value) => value !== undefined && value.trim() !== '');
  return named === undefined ? [] : [named];
}

/**
 * What the agent is told of a customer's situation: what the session was minted with and, over it name by name, what the
 * page told. It names the product that is searched, whatever the page says; undefined when there is nothing to tell.
 */
export function situationOf(
  session: Readonly<Record<string, unknown>> | undefined,
  page: Readonly<Record<string, unknown>> | undefined,
  pinned: string | undefined,
): Record<string, unknown> | undefined {
  const [product] = searchedSegments(pinned, undefined);
  const told = { ...session, ...page, ...(product === undefined ? {} : { productType: product }) };
  return Object.keys(told).length === 0 ? undefined : told;
}
