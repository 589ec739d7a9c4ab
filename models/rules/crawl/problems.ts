/** Which of the addresses that a crawl left out are shown: some of each reason, so that no reason hides another. Pure. */
import { crawlReasons, reasonRow, type CrawlReason } from './crawlreason.ts';

export type CrawlProblem = { url: string; reason: string };

/** The addresses that were left out for one reason: how many, and the first of them. Crawls of before noted no `why`. */
export type ProblemGroup = { why: CrawlReason | undefined; count: number; first: readonly CrawlProblem[] };

/** How many a crawl's record shows; with more of them a site's owner looks at the site. */
export const maxProblems = 200;

const order = Object.keys(crawlReasons) as CrawlReason[];

/** What somebody can mend comes first, broken links before what the site or our rules decided, limits last. */
function rankOf(why: CrawlReason | undefined): number {
  if (why === undefined || why === 'limit' || why === 'cancelled') return 3;
  if (reasonRow(why).kind === 'failed') return 0;
  return why === 'not_found' || why === 'gone' ? 1 : 2;
}

function inOrder(groups: readonly ProblemGroup[]): ProblemGroup[] {
  const placeOf = ({ why }: ProblemGroup): number => (why === undefined ? order.length : order.indexOf(why));
  return groups.toSorted((a, b) => rankOf(a.why) - rankOf(b.why) || placeOf(a) - placeOf(b));
}

/** At most `room` problems: each reason has an equal share, and what some leave free goes to the others in their order. */
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

/** How many addresses were left out for each reason, by its code. */
export function countProblems(groups: readonly ProblemGroup[]): { code: string; count: number }[] {
  return inOrder(groups).map(({ why, count }) => ({ code: why ?? 'other', count }));
}
