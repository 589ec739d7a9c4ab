import { describe, expect, it } from '@jest/globals';
import { isHopeless, nextWaitMs, readRetryAfter, retryWaits } from '../../../models/rules/events/schedule.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = new Date('2026-11-22T10:00:00Z');

describe('the schedule', () => {
  it('a delivery has eight attempts: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((tries) => nextWaitMs(tries, undefined, 0));
    expect([0, ...waits]).toEqual([0, 5_000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour]);
    expect(nextWaitMs(8, undefined, 0)).toBeUndefined();
  });

  it.each(retryWaits.slice(1).map((wait, index) => [index + 1, wait]))(
    'after %i failures the next delivery attempt waits %i ms plus a jitter of at most a fifth',
    (tries, wait) => {
      expect(nextWaitMs(tries, undefined, 0)).toBe(wait);
      expect(nextWaitMs(tries, undefined, 0.999)!).toBeGreaterThan(wait * 1.19);
      expect(nextWaitMs(tries, undefined, 0.999)!).toBeLessThanOrEqual(wait * 1.2);
    },
  );

  it.each([
    ['longer than the usual wait', 1, hour, hour],
    ['shorter than the usual wait', 3, 1_000, 30 * minute],
    ['a year', 1, 365 * 24 * hour, 10 * hour],
  ])(
    'the wait before the next delivery attempt is at least as long as a Retry-After that is %s, up to ten hours',
    (_, tries, asked, waits) => {
      expect(nextWaitMs(tries, asked, 0)).toBe(waits);
    },
  );

  it('a Retry-After header does not add an attempt after the last one', () => {
    expect(nextWaitMs(8, hour, 0)).toBeUndefined();
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Sun, 22 Nov 2026 10:02:00 GMT', 2 * minute],
    ['Sun, 22 Nov 2026 09:59:00 GMT', undefined],
    ['0', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['12345678901', undefined],
    ['soon', undefined],
    ['2027', 2_027_000],
    ['', undefined],
    [undefined, undefined],
  ])('readRetryAfter reads %p as %p milliseconds', (value, ms) => {
    expect(readRetryAfter(value, now)).toBe(ms);
  });
});

describe('a destination', () => {
  it.each([
    [5 * 24 * hour - 1, false],
    [5 * 24 * hour, true],
  ])('deliveries to a destination that has failed for %i ms are given up: %p', (ms, given) => {
    expect(isHopeless(new Date(now.getTime() - ms), now)).toBe(given);
  });
});
