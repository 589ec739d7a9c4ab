import { describe, expect, it } from '@jest/globals';
import { grouped, summarize, type Counted } from '../../../models/rules/chat/statistics.ts';

const day = 86_400_000;
const now = Date.parse('2026-03-10T00:00:00Z');
const ago = (ms: number) => new Date(now - ms);
const one = (more: Partial<Counted> = {}): Counted => ({
  created_at: ago(2 * day),
  last_message_at: ago(2 * day),
  ...more,
});
const called = (ms: number) => ({ ticket: { created_at: ago(ms) } });

describe('summarize', () => {
  it('without conversations every count is 0, and every time and average is null', () => {
    expect(summarize([], now)).toEqual({
      conversations: 0,
      escalated: 0,
      deflected: 0,
      resolved: 0,
      reopened: 0,
      first_response_seconds: { median: null, p90: null },
      resolution_seconds: { median: null, p90: null },
      within_hours: null,
      csat: { count: 0, average: null },
    });
  });

  it.each([
    ['an answer that nobody went on from', one({ answered: true }), 1],
    ['an answer an hour ago', one({ answered: true, last_message_at: ago(3_600_000) }), 0],
    [
      'an answer just now that ended the conversation',
      one({ answered: true, last_message_at: ago(0), resolved_at: ago(0) }),
      1,
    ],
    ['an answer after which a person was called', one({ answered: true, ...called(day) }), 0],
    [
      'an answer after which a member replied without being called',
      one({ answered: true, first_reply_at: ago(day) }),
      0,
    ],
    ['no answer', one(), 0],
  ])(
    'only an answered conversation that ended or went quiet without a person counts as deflected: %s',
    (_, counted, deflected) => expect(summarize([counted], now).deflected).toBe(deflected),
  );

  it('the statistics give the median and the 90th percentile of response and resolution times in seconds', () => {
    const waits = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
    const counted = waits.map((seconds) =>
      one({
        ...called(day),
        first_reply_at: ago(day - seconds * 1_000),
        resolved_at: ago(2 * day - seconds * 2_000),
      }),
    );
    // One conversation has no reply, and one was replied to before a person was called.
    counted.push(one(called(0)), one({ ...called(0), first_reply_at: ago(day) }));
    const { first_response_seconds, resolution_seconds, escalated, resolved } = summarize(counted, now);
    expect(first_response_seconds).toEqual({ median: 50, p90: 90 });
    expect(resolution_seconds).toEqual({ median: 100, p90: 180 });
    expect([escalated, resolved]).toEqual([12, 10]);
  });

  it('the times in `within_hours` count only the time in which the team is open', () => {
    const counted = [one({ ...called(day), first_reply_at: ago(0), resolved_at: ago(0) })];
    const half = (begin: number, end: number) => (end - begin) / 2;
    expect(summarize(counted, now, half).within_hours).toEqual({
      first_response_seconds: { median: 43_200, p90: 43_200 },
      resolution_seconds: { median: 86_400, p90: 86_400 },
    });
  });

  it('the statistics average the ratings, and count a conversation reopened twice as one reopened conversation', () => {
    const found = summarize([one({ csat: 5, reopened: 2 }), one({ csat: 2 }), one()], now);
    expect([found.csat, found.reopened]).toEqual([{ count: 2, average: 3.5 }, 1]);
  });
});

describe('grouped', () => {
  const counted = [
    one({ created_at: new Date('2026-03-02T23:59:59Z'), assigned_to: 'usr_b', tags: ['cards', 'fees'] }),
    one({ created_at: new Date('2026-03-01T00:00:00Z'), tags: ['cards'] }),
  ];
  it.each([
    ['day', { '2026-03-01': 1, '2026-03-02': 1 }],
    ['member', { none: 1, usr_b: 1 }],
    ['tag', { cards: 2, fees: 1 }],
  ] as const)('grouped() counts the conversations per %s', (by, expected) => {
    const found = grouped(counted, by, now).map(({ group, conversations }) => [group, conversations]);
    expect(found).toEqual(Object.entries(expected));
  });
});
