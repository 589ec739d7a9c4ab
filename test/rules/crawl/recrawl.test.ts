import { describe, expect, it } from '@jest/globals';
import { Problem } from '../../../models/rules/base/errors.ts';
import { nextFiring, scheduleInterval, whySkipped } from '../../../models/rules/crawl/recrawl.ts';

const at = (time: string) => new Date(`2026-11-${time}Z`);

describe('scheduleInterval', () => {
  it.each([
    ['01T00:00:00.000', 1, 0],
    ['01T00:00:00.000', 24, 0],
    ['01T05:20:07.900', 1, (20 * 60 + 7) * 1_000],
    ['01T05:20:07.900', 24, (5 * 3_600 + 20 * 60 + 7) * 1_000],
  ])('a schedule anchored at %s with an interval of %i hours has a phase of %i ms', (anchor, hours, phaseMs) => {
    expect(scheduleInterval(at(anchor), hours)).toEqual({ everyMs: hours * 3_600_000, phaseMs });
  });
});

describe('nextFiring', () => {
  it.each([
    ['10T08:30:15.250', 6, '10T08:30:15.250', '10T14:30:15.000'],
    ['10T08:30:15.250', 6, '10T14:30:14.999', '10T14:30:15.000'],
    ['10T08:30:15.250', 6, '10T14:30:15.000', '10T20:30:15.000'],
    ['10T08:30:15.250', 6, '25T00:00:00.000', '25T02:30:15.000'],
    ['10T08:30:15.250', 1, '10T23:59:59.999', '11T00:30:15.000'],
    ['01T08:30:15.000', 660, '01T08:30:15.000', '28T20:30:15.000'],
  ])('a schedule anchored at %s that fires every %i hours fires next after %s at %s', (anchor, hours, now, then) => {
    expect(nextFiring(at(anchor), hours, at(now)).toISOString()).toBe(at(then).toISOString());
  });

  it('the next firing is a whole number of intervals after the anchor and at most one interval from now', () => {
    const anchor = at('10T08:30:15.000');
    for (let hours = 1; hours <= 720; hours++) {
      for (const passed of [0, 1, 3_599_999, 3_600_000, 40 * 86_400_000 + 17]) {
        const now = new Date(anchor.getTime() + passed);
        const next = nextFiring(anchor, hours, now).getTime();
        expect((next - anchor.getTime()) % (hours * 3_600_000)).toBe(0);
        expect(next - now.getTime()).toBeGreaterThan(0);
        expect(next - now.getTime()).toBeLessThanOrEqual(hours * 3_600_000);
      }
    }
  });
});

describe('whySkipped', () => {
  it('the reason for a skipped crawl says what prevented the crawl, and gives no advice', () => {
    expect(whySkipped(new Problem('CRAWL_RUNNING'))).toBe('Another crawl was running.');
    expect(whySkipped(new Problem('SANDBOX_LIMIT', { message: 'Full: 3 pages.' }))).toBe('Full: 3 pages.');
  });
});
