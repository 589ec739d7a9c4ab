/** The tables of conversations and tickets, every cell of them, and what events they cause. */
import { describe, expect, it } from '@jest/globals';
import {
  acts,
  agentAnswers,
  conversationMoves,
  conversationStatuses,
  eventsOf,
  previewLength,
  previewOf,
  searchedSegments,
  ticketMoves,
  ticketStatuses,
  type Act,
  type ConversationStatus,
  type TicketEventType,
  type TicketStatus,
} from '../../models/rules/conversation.ts';

const refused = undefined;
/** In the order of `conversationStatuses`: open, pending, escalated, resolved. */
const conversations: Record<Act, readonly (ConversationStatus | undefined)[]> = {
  message: ['open', 'escalated', 'escalated', 'open'],
  reply: ['pending', 'pending', 'pending', 'pending'],
  assign: ['open', 'pending', 'escalated', 'resolved'],
  unassign: ['open', 'pending', 'escalated', 'resolved'],
  escalate: ['escalated', 'escalated', refused, 'escalated'],
  resolve: ['resolved', 'resolved', 'resolved', refused],
  end: ['resolved', 'resolved', 'resolved', 'resolved'],
  reopen: [refused, refused, refused, 'open'],
};
/** In the order of `ticketStatuses`: open, in_progress, pending, escalated, resolved, closed. What stays is written out. */
const tickets: Record<Act, readonly TicketStatus[]> = {
  message: ['open', 'in_progress', 'open', 'escalated', 'resolved', 'closed'],
  reply: ['pending', 'pending', 'pending', 'pending', 'pending', 'pending'],
  assign: ['in_progress', 'in_progress', 'pending', 'in_progress', 'resolved', 'closed'],
  unassign: ['open', 'open', 'pending', 'escalated', 'resolved', 'closed'],
  escalate: ['escalated', 'escalated', 'escalated', 'escalated', 'escalated', 'escalated'],
  resolve: ['resolved', 'resolved', 'resolved', 'resolved', 'resolved', 'closed'],
  end: ['closed', 'closed', 'closed', 'closed', 'closed', 'closed'],
  reopen: ['open', 'in_progress', 'pending', 'escalated', 'open', 'open'],
};

const everyMove = acts.flatMap((act) =>
  conversationStatuses.map((from, i) => [act, from, conversations[act][i]] as const),
);
const everyTicketMove = acts.flatMap((act) => ticketStatuses.map((from, i) => [act, from, tickets[act][i]!] as const));

describe('a conversation', () => {
  it.each(everyMove)('%s, when %s: %s', (act, from, to) => {
    expect(conversationMoves[act][from]).toBe(to);
  });

  it('is the agent’s to answer only when it is open', () => {
    expect(conversationStatuses.filter(agentAnswers)).toEqual(['open']);
  });
});

describe('a ticket', () => {
  it.each(everyTicketMove)('%s, when %s: %s', (act, from, to) => {
    expect(ticketMoves[act][from] ?? from).toBe(to);
  });

  const over = ['resolved', 'closed'];
  it.each(everyTicketMove)('%s, when %s, tells what others wait for', (act, from, to) => {
    const expected: TicketEventType[] =
      act === 'escalate' ? ['ticket.escalated'] : !over.includes(from) && over.includes(to) ? ['ticket.resolved'] : [];
    expect(eventsOf(act, from, to)).toEqual(expected);
  });

  it.each(acts)('%s, when there is none: only an escalation makes one, and says so first', (act) => {
    const after = act === 'escalate' ? 'escalated' : undefined;
    expect(eventsOf(act, undefined, after)).toEqual(act === 'escalate' ? ['ticket.created', 'ticket.escalated'] : []);
  });
});

describe('the preview of a message', () => {
  it('is one line, and no longer than lists show', () => {
    expect(previewOf('  Hello,\n\n\tI lost\u00a0my card.  ')).toBe('Hello, I lost my card.');
    expect(previewOf('word '.repeat(5000)).length).toBeLessThanOrEqual(previewLength);
    expect(previewOf(' \n ')).toBe('');
  });

  it('never ends within a character', () => {
    for (const lead of ['', 'a']) {
      const preview = previewOf(lead + '😀'.repeat(previewLength));
      expect(preview.isWellFormed()).toBe(true);
      expect(preview.length).toBeGreaterThanOrEqual(previewLength - 1);
    }
  });
});

describe('what a question may search', () => {
  it.each([
    ['the signed product, whatever a page says later', 'retail', 'business', ['retail']],
    ['what the page says, when the session names nothing', undefined, 'business', ['business']],
    ['what the page says, when the session’s is blank', ' ', 'business', ['business']],
    ['everything, when nobody names anything', undefined, undefined, []],
    ['the signed product, when the page says nothing', 'retail', '', ['retail']],
  ])('%s', (_, pinned, refined, searched) => {
    expect(searchedSegments(pinned, refined)).toEqual(searched);
  });
});
