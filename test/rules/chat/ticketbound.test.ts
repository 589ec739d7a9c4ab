/**
 * The number of events of one ticket is bounded. No sequence of acts exceeds the bound, and the ticket can always be
 * ended.
 */
import { describe, expect, it } from '@jest/globals';
import {
  acts,
  conversationMoves,
  conversationStatuses,
  eventsOf,
  maxTicketEvents,
  ticketAfter,
  withinBounds,
  type Act,
  type ConversationStatus,
  type TicketStatus,
} from '../../../models/rules/chat/conversation.ts';

type State = { status: ConversationStatus; ticket: TicketStatus | undefined; events: number };
const begun: State = { status: 'open', ticket: undefined, events: 0 };

/** The state after an act. A refused act leaves the state unchanged. */
function after(state: State, act: Act): State {
  const status = conversationMoves[act][state.status];
  if (status === undefined || !withinBounds(act, state.status, state.events)) return state;
  const ticket = ticketAfter(act, state.ticket, status);
  return { status, ticket, events: state.events + eventsOf(act, state.ticket, ticket).length };
}

describe('the events of a ticket', () => {
  it.each([
    ['a customer who asks for a person and leaves', ['message', 'escalate', 'end']],
    ['a member who calls and answers', ['escalate', 'reply']],
    ['a member who answers and resolves', ['escalate', 'reply', 'resolve']],
    ['a member who reopens and resolves', ['escalate', 'resolve', 'reopen']],
  ] as [string, Act[]][])(
    'a ticket has a bounded number of events and can still be resolved, even if %s repeats these acts endlessly',
    (_, story) => {
      let state = begun;
      for (let round = 0; round < 3 * maxTicketEvents; round += 1) state = story.reduce(after, state);
      expect(state.events).toBeGreaterThanOrEqual(maxTicketEvents);
      expect(state.events).toBeLessThanOrEqual(maxTicketEvents + 1);
      state = after(state, 'end');
      expect(state).toMatchObject({ status: 'resolved' });
      for (const act of acts) expect(after(state, act)).toEqual(state);
    },
  );

  it('the number of a ticket’s events is bounded in every reachable state, and ending the ticket is never refused', () => {
    const reached = new Map<string, State>([[JSON.stringify(begun), begun]]);
    for (const state of reached.values()) {
      for (const act of acts) {
        const next = after(state, act);
        // This limit ends the search even if the rule sets no bound, so that the test fails and does not hang.
        if (next.events <= 2 * maxTicketEvents) reached.set(JSON.stringify(next), next);
      }
    }
    const states = [...reached.values()];
    expect(Math.max(...states.map(({ events }) => events))).toBe(maxTicketEvents + 1);
    expect(states.filter((state) => after(state, 'end').status !== 'resolved')).toEqual([]);
  });

  it('no act on a ticket is refused before the ticket reaches its maximum number of events', () => {
    for (const act of acts)
      for (const status of conversationStatuses) expect(withinBounds(act, status, maxTicketEvents - 1)).toBe(true);
  });
});
