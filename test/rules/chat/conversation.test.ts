import { describe, expect, it } from '@jest/globals';
import {
  acts,
  agentAnswers,
  answersIfSure,
  conversationMoves,
  conversationStatuses,
  escalationReasons,
  eventsOf,
  previewLength,
  previewOf,
  searchedSegments,
  situationOf,
  ticketAfter,
  ticketStatuses,
  type Act,
  type ConversationStatus,
  type EscalationReason,
  type TicketEventType,
  type TicketStatus,
} from '../../../models/rules/chat/conversation.ts';

const refused = undefined;
/** One cell per status, in the order of `conversationStatuses`: open, pending, escalated, resolved. */
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
/**
 * One cell per status, in the order of `ticketStatuses`: open, in_progress, pending, escalated, resolved, closed. An
 * unchanged status is written out.
 */
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
  it.each(everyMove)(
    'the act %s in a conversation with status %s leads to status %s (undefined: it is refused)',
    (act, from, to) => {
      expect(conversationMoves[act][from]).toBe(to);
    },
  );

  it('the agent answers a conversation only while no person is in charge of it', () => {
    expect(conversationStatuses.map((status) => [status, agentAnswers(status)])).toEqual([
      ['open', true],
      ['pending', false],
      ['escalated', false],
      ['resolved', true],
    ]);
  });

  it('after the agent has escalated a conversation, the agent answers only when sure, and never once a member takes over', () => {
    const reasons = Object.keys(escalationReasons) as EscalationReason[];
    const sure = conversationStatuses.flatMap((status) => [
      ...(answersIfSure(status, undefined) ? [[status]] : []),
      ...ticketStatuses.flatMap((ticket) =>
        reasons
          .filter((reason) => answersIfSure(status, { status: ticket, reason }))
          .map((reason) => [status, ticket, reason]),
      ),
    ]);
    expect(sure).toEqual([
      ['escalated', 'escalated', 'no_context'],
      ['escalated', 'escalated', 'failed'],
    ]);
  });
});

describe('a ticket', () => {
  it.each(everyTicketMove)('the act %s on a ticket with status %s leads to status %s', (act, from, to) => {
    for (const status of conversationStatuses) expect(ticketAfter(act, from, status)).toBe(to);
  });

  const over = ['resolved', 'closed'];
  it.each(everyTicketMove)(
    'the act %s on a ticket with status %s causes an event only for an escalation or a resolution',
    (act, from, to) => {
      const expected: TicketEventType[] =
        act === 'escalate'
          ? ['ticket.escalated']
          : !over.includes(from) && over.includes(to)
            ? ['ticket.resolved']
            : [];
      expect(eventsOf(act, from, to)).toEqual(expected);
    },
  );

  it.each(everyMove)('only an escalation creates a ticket: the act %s changes status %s to %s', (act, _from, to) => {
    if (to === undefined) return;
    const after = ticketAfter(act, undefined, to);
    expect(after).toBe(to === 'escalated' ? 'escalated' : undefined);
    expect(eventsOf(act, undefined, after)).toEqual(after ? ['ticket.created', 'ticket.escalated'] : []);
  });
});

describe('the preview of a message', () => {
  it('the preview of a message is one line of limited length', () => {
    expect(previewOf('  Hello,\n\n\tI lost\u00a0my card.  ')).toBe('Hello, I lost my card.');
    expect(previewOf('word '.repeat(5000)).length).toBeLessThanOrEqual(previewLength);
    expect(previewOf(' \n ')).toBe('');
  });

  it('the preview of a message never ends in the middle of a character', () => {
    for (const lead of ['', 'a']) {
      const preview = previewOf(lead + '😀'.repeat(previewLength));
      expect(preview.isWellFormed()).toBe(true);
      expect(preview.length).toBeGreaterThanOrEqual(previewLength - 1);
    }
  });
});

describe('searchedSegments', () => {
  it.each([
    ['the product in the signed session, whatever the page names later', 'retail', 'business', ['retail']],
    ['the product that the page names, when the session names none', undefined, 'business', ['business']],
    ['the product that the page names, when the session’s is blank', ' ', 'business', ['business']],
    ['all products, when neither session nor page names one', undefined, undefined, []],
    ['the product in the signed session, when the page names none', 'retail', '', ['retail']],
  ])('a question searches the segments of %s', (_, pinned, refined, searched) => {
    expect(searchedSegments(pinned, refined)).toEqual(searched);
  });
});

describe('situationOf', () => {
  const session = { productType: 'retail', plan: 'gold', desk: 7 };
  it.each([
    ['nothing, when neither session nor page has a context', undefined, undefined, undefined, undefined],
    ['nothing, when both contexts are empty', {}, {}, ' ', undefined],
    ['the context of the session', session, undefined, 'retail', session],
    ['the context that the page sent', undefined, { url: '/fees' }, undefined, { url: '/fees' }],
    [
      'both contexts, with the page’s value where both have a field',
      session,
      { plan: 'none' },
      'retail',
      { ...session, plan: 'none' },
    ],
    [
      'the one with the product that is searched, whatever the page names',
      session,
      { productType: 'business' },
      'retail',
      session,
    ],
    [
      'the one with the page’s product, when the session names none',
      { plan: 'gold' },
      { productType: 'x' },
      undefined,
      { plan: 'gold', productType: 'x' },
    ],
    ['only the product, when the page sent nothing else', undefined, undefined, 'retail', { productType: 'retail' }],
  ])('the context that the agent is given about the customer is %s', (_, minted, page, pinned, told) => {
    expect(situationOf(minted, page, pinned)).toEqual(told);
  });

  it('the context that the agent is given is a copy, and the contexts of page and session stay unchanged', () => {
    const page = { plan: 'none' };
    expect(situationOf(session, page, undefined)).not.toBe(page);
    expect(session.plan).toBe('gold');
  });
});
