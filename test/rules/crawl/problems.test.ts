import { describe, expect, it } from '@jest/globals';
import type { CrawlReason } from '../../../models/rules/crawl/crawlreason.ts';
import { countProblems, selectProblems, type ProblemGroup } from '../../../models/rules/crawl/problems.ts';

const group = (why: CrawlReason | undefined, count: number): ProblemGroup => ({
  why,
  count,
  first: Array.from({ length: Math.min(count, 200) }, (_, n) => ({ url: `https://a/${why}/${n}`, reason: `${why}` })),
});
/** Counts the shown problems by reason, in the order in which they are shown. */
const shown = (groups: ProblemGroup[], room: number): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { reason } of selectProblems(groups, room)) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
};

describe('the problems that a crawl shows', () => {
  it.each([
    ['all of them when there is room', { robots: 3, not_found: 2 }, 10, { not_found: 2, robots: 3 }],
    ['as many as there is room for when all have one reason', { robots: 900 }, 200, { robots: 200 }],
    ['equally many of each reason', { robots: 900, not_found: 900 }, 200, { not_found: 100, robots: 100 }],
    ['all of a rare reason, and more of the others', { robots: 900, gone: 1 }, 200, { gone: 1, robots: 199 }],
    [
      'first failures, then broken links, and limits last',
      { limit: 9, robots: 9, not_found: 9, server_error: 9 },
      8,
      { server_error: 2, not_found: 2, robots: 2, limit: 2 },
    ],
    [
      'at least one of each reason while there is room',
      { robots: 9, not_found: 9, timed_out: 9 },
      2,
      { timed_out: 1, not_found: 1 },
    ],
    ['none without room', { robots: 9 }, 0, {}],
  ] as const)('the problems that a crawl shows in its limited list are %s', (_, counts, room, expected) => {
    const groups = Object.entries(counts).map(([why, count]) => group(why as CrawlReason, count));
    expect(Object.entries(shown(groups, room))).toEqual(Object.entries(expected));
  });

  it('the problems of a crawl are counted by reason without an upper limit', () => {
    expect(countProblems([group('robots', 4_312), group(undefined, 2), group('not_found', 3)])).toEqual([
      { code: 'not_found', count: 3 },
      { code: 'robots', count: 4_312 },
      { code: 'other', count: 2 },
    ]);
  });
});
