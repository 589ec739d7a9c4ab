import { describe, expect, it } from '@jest/globals';
import {
  awaitedBy,
  awaitedOnes,
  callMoves,
  callStates,
  isAgreedTo,
  leadsTo,
  movableFrom,
  refusalOf,
  refusedOutcome,
  waitMs,
  type Asked,
  type CallMove,
  type CallState,
} from '../../../models/rules/mcp/call.ts';

const now = new Date('2026-11-22T10:00:00Z');
const asked: Asked = {
  state: 'waiting',
  awaited: 'customer',
  ask_until: new Date(now.getTime() + waitMs.customer),
  arguments_sha256: 'a'.repeat(64),
};

describe('the transitions of a call', () => {
  const table: Record<CallMove, Partial<Record<CallState, CallState>>> = {
    ask: { new: 'waiting' },
    ask_on: { waiting: 'waiting' },
    agree: { waiting: 'agreed' },
    refuse: { waiting: 'ended' },
    expire: { waiting: 'ended' },
    send: { agreed: 'calling' },
    send_unasked: { new: 'calling' },
    drop: { new: 'ended', waiting: 'ended', agreed: 'ended' },
    inquire: { calling: 'waiting' },
    finish: { calling: 'ended' },
  };
  const rows = (Object.keys(table) as CallMove[]).flatMap((move) =>
    callStates.map((state) => [move, state, table[move][state]] as const),
  );
  it.each(rows)(
    'the transition %s of a tool call from %s leads to %s (undefined: it is not allowed)',
    (move, state, to) => {
      expect((callMoves[move] as Partial<Record<CallState, CallState>>)[state]).toBe(to);
      expect(movableFrom(move).includes(state)).toBe(to !== undefined);
      if (to !== undefined) expect(leadsTo(move)).toBe(to);
    },
  );

  it('an ended tool call never changes again, and no tool call is sent twice', () => {
    for (const move of Object.keys(callMoves) as CallMove[]) {
      expect(movableFrom(move)).not.toContain('ended');
      if (leadsTo(move) === 'calling') expect(['agreed', 'new']).toContain(movableFrom(move).join());
      // A call that asked the customer for input has done nothing yet, so it may wait.
      if (movableFrom(move).includes('calling')) expect(leadsTo(move)).toBe(move === 'inquire' ? 'waiting' : 'ended');
    }
  });
});

describe('refusalOf', () => {
  const end = asked.ask_until!.getTime();
  it.each([
    ['the one who was asked, in time', asked, 'customer', now, undefined],
    ['a moment before its end', asked, 'customer', new Date(end - 1), undefined],
    ['at its end', asked, 'customer', new Date(end), 'expired'],
    ['long after', asked, 'customer', new Date(end + 1), 'expired'],
    ['a member, where the customer was asked', asked, 'member', now, 'not_asked'],
    ['a customer, where a member was asked', { ...asked, awaited: 'member' }, 'customer', now, 'not_asked'],
    ['a plain confirmation, where a step-up was asked', { ...asked, awaited: 'step_up' }, 'customer', now, 'not_asked'],
    ['a second time', { ...asked, state: 'agreed' }, 'customer', now, 'decided'],
    ['while it is being called', { ...asked, state: 'calling' }, 'customer', now, 'decided'],
    ['after its end', { ...asked, state: 'ended' }, 'customer', now, 'decided'],
    ['before anybody was asked', { ...asked, state: 'new', awaited: undefined }, 'customer', now, 'not_asked'],
  ] as const)(
    'an approval or refusal counts only from the person who was asked, once and in time: %s',
    (_who, record, by, at, refusal) => {
      for (const approved of [true, false]) expect(refusalOf(record as Asked, { by, approved, at })).toBe(refusal);
    },
  );
});

describe('waiting for an approval', () => {
  it('a customer has ten minutes to approve a tool call, and a member has a day', () =>
    expect(waitMs).toEqual({ customer: 600_000, step_up: 600_000, member: 86_400_000, input: 600_000 }));
  it('each verdict that requires an approval names who has to approve: customer, step-up or member', () =>
    expect(awaitedBy).toEqual({ ask_customer: 'customer', ask_step_up: 'step_up', ask_member: 'member' }));
  it.each(awaitedOnes)(
    'when the person who is asked refuses an approval of kind %s, the tool call ends as declined or denied',
    (one) => expect(['declined', 'denied']).toContain(refusedOutcome[one]),
  );
  it.each([
    ['a', 'a', true],
    ['a', 'b', false],
    [undefined, 'a', false],
  ] as const)('an approval of call %s is valid for call %s: %s', (agreed, sent, counts) =>
    expect(isAgreedTo(agreed, sent)).toBe(counts),
  );
});
