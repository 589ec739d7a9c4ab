/** The opening hours of a team, checked against a slow minute-by-minute count. */
import { describe, expect, it } from '@jest/globals';
import { isOpen, nextOpening, openTime, type Hours } from '../../../models/rules/access/hours.ts';

const office: Hours = {
  timezone: 'Europe/Berlin',
  week: {
    mon: [
      { from: '09:00', until: '12:00' },
      { from: '13:00', until: '17:30' },
    ],
    fri: [{ from: '09:00', until: '24:00' }],
  },
  closed: ['2026-12-25'],
  away_message: null,
};

describe('the hours of a team', () => {
  it.each([
    ['2026-11-23T08:00:00Z', true],
    ['2026-11-23T07:59:59Z', false],
    ['2026-11-23T11:30:00Z', false],
    ['2026-11-23T16:29:00Z', true],
    ['2026-11-23T16:30:00Z', false],
    ['2026-11-27T22:59:00Z', true],
    ['2026-11-27T23:00:00Z', false],
    ['2026-11-24T10:00:00Z', false],
    // This day is a holiday.
    ['2026-12-25T10:00:00Z', false],
  ])('at %s a team with office hours in Berlin is open: %s', (iso, open) => {
    expect(isOpen(office, new Date(iso))).toBe(open);
  });

  it('the next opening of a team skips breaks, weekends and holidays, and a team without opening hours has none', () => {
    const next = (iso: string) => nextOpening(office, new Date(iso))?.toISOString();
    expect(next('2026-11-23T11:10:00Z')).toBe('2026-11-23T12:00:00.000Z');
    expect(next('2026-11-27T23:00:00Z')).toBe('2026-11-30T08:00:00.000Z');
    expect(next('2026-12-24T12:00:00Z')).toBe('2026-12-28T08:00:00.000Z');
    expect(nextOpening({ ...office, week: {} }, new Date())).toBeUndefined();
  });

  // On these dates the clocks change, except in Kathmandu; Apia skipped the whole 30 December 2011.
  it.each([
    ['Europe/Berlin', '2026-03-28T20:00:00Z'],
    ['Europe/Berlin', '2026-10-24T20:00:00Z'],
    ['America/New_York', '2026-03-08T00:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T10:00:00Z'],
    ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
    ['Pacific/Apia', '2011-12-29T12:00:00Z'],
  ])('in %s from %s nextOpening finds the same minute as a minute-by-minute search', (timezone, from) => {
    const spans = [
      { from: '02:15', until: '02:45' },
      { from: '09:00', until: '10:00' },
    ];
    const week = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, spans]));
    const hours: Hours = { timezone, week, closed: [], away_message: null };
    for (let minutes = 0; minutes < 2_880; minutes += 37) {
      const at = Date.parse(from) + minutes * 60_000;
      let slow = at + 60_000;
      while (!isOpen(hours, new Date(slow))) slow += 60_000;
      expect([timezone, new Date(at), nextOpening(hours, new Date(at))]).toEqual([
        timezone,
        new Date(at),
        new Date(slow),
      ]);
    }
  });
});

describe('the cache of time formats', () => {
  it('the cache of time formats drops the oldest format after many spellings of a time zone’s name', () => {
    const spellings = Array.from({ length: 1_024 }, (_, number) => {
      const spelled = Array.from('antarctica', (letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter));
      return `${spelled.join('')}/Casey`;
    });
    const { DateTimeFormat } = Intl;
    let made = 0;
    const counting = new Proxy(DateTimeFormat, {
      construct(target, given) {
        made += 1;
        return Reflect.construct(target, given) as Intl.DateTimeFormat;
      },
    });
    Object.assign(Intl, { DateTimeFormat: counting });
    try {
      for (const timezone of [...spellings, spellings[0]!]) isOpen({ ...office, timezone }, new Date());
    } finally {
      Object.assign(Intl, { DateTimeFormat });
    }
    // The first format was dropped, so it is made again.
    expect(made).toBe(spellings.length + 1);
  });
});

describe('openTime', () => {
  it.each([
    ['Europe/Berlin', '2026-03-27T20:00:00Z'],
    ['America/New_York', '2026-11-01T00:00:00Z'],
    ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
  ])('in %s from %s openTime equals a minute-by-minute count of the open time', (timezone, from) => {
    const spans = [
      { from: '09:00', until: '12:00' },
      { from: '11:30', until: '13:15' },
      { from: '22:00', until: '24:00' },
    ];
    const hours: Hours = { timezone, week: { sat: spans, sun: spans, mon: spans }, closed: [], away_message: null };
    const [begin, end] = [Date.parse(from), Date.parse(from) + 4 * 86_400_000];
    const measure = openTime(hours, begin, end);
    let counted = 0;
    for (let at = begin; at < end; at += 60_000) {
      if ((at - begin) % 7_020_000 === 0) expect([new Date(at), measure(begin, at)]).toEqual([new Date(at), counted]);
      if (isOpen(hours, new Date(at))) counted += 60_000;
    }
    expect(counted).toBeGreaterThan(0);
  });

  it.each([
    ['02:30', '03:00', 0],
    ['02:15', '02:45', 0],
    ['02:30', '04:00', 60],
    ['01:00', '02:30', 60],
  ])(
    'in the night in which the clocks of Berlin skip the hour from 02:00 on, a span from %s until %s has %i open minutes',
    (from, until, minutes) => {
      const hours: Hours = { ...office, week: { sun: [{ from, until }] } };
      const [begin, end] = [Date.parse('2026-03-28T12:00:00Z'), Date.parse('2026-03-29T12:00:00Z')];
      expect(openTime(hours, begin, end)(begin, end)).toBe(minutes * 60_000);
    },
  );
});
