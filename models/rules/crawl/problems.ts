/**
 * Selects which of the left-out addresses of a crawl are shown: some for each reason, so that no reason hides another.
 * Pure.
 */
import { embedded, string, type ValueOf } from '../base/fields.ts';
import { crawlReasons, reasonRow, type CrawlReason } from './crawlreason.ts';

export const crawlProblem = embedded({ url: string, reason: string });
export type CrawlProblem = ValueOf<typeof crawlProblem>;

/**
 * The addresses left out for one reason: their number, and the first of these addresses. `why` is undefined when the
 * record of the address holds no reason code.
 */
export type ProblemGroup = { why: CrawlReason | undefined; count: number; first: readonly CrawlProblem[] };

/**
 * The maximum number of problems in a crawl's record, which keeps the record small. `countProblems` counts all of them.
 */
export const maxProblems = 200;

const order = Object.keys(crawlReasons) as CrawlReason[];

/**
 * The display order: errors, then broken links, then pages that the site or the rules of the crawl do not allow. Pages
 * beyond a limit, pages of a cancelled crawl, and pages without a reason code come last.
 */
function rankOf(why: CrawlReason | undefined): number {
  if (why === undefined || why === 'limit' || why === 'cancelled') return 3;
  if (reasonRow(why).kind === 'failed') return 0;
  return why === 'not_found' || why === 'gone' ? 1 : 2;
}

function inOrder(groups: readonly ProblemGroup[]): ProblemGroup[] {
  const placeOf = ({ why }: ProblemGroup): number => (why === undefined ? order.length : order.indexOf(why));
  return groups.toSorted((a, b) => rankOf(a.why) - rankOf(b.why) || placeOf(a) - placeOf(b));
}

/**
 * At most `room` problems. Each reason has an equal share; unused places go to the other reasons, in display order
 * (`rankOf`).
 */
export function selectProblems(groups: readonly ProblemGroup[], room: number): CrawlProblem[] {
  const sorted = inOrder(groups);
  const share = Math.max(1, Math.floor(room / Math.max(1, sorted.length)));
  let free = room - sorted.reduce((sum, { first }) => sum + Math.min(share, first.length), 0);
  return sorted
    .flatMap(({ first }) => {
      const more = Math.min(Math.max(0, first.length - share), Math.max(0, free));
      free -= more;
      return first.slice(0, share + more);
    })
    .slice(0, Math.max(0, room));
}

/** The number of left-out addresses for each reason code. */
export function countProblems(groups: readonly ProblemGroup[]): { code: string; count: number }[] {
  return inOrder(groups).map(({ why, count }) => ({ code: why ?? 'other', count }));
}
