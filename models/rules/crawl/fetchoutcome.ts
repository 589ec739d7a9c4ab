/** What became of the addresses of a crawl, where each leads, and which pages of former crawls have to go. Pure. */
import { reasonRow, type CrawlReason } from './crawlreason.ts';
import { pageKey, parametersOf, segmentsOf } from './url.ts';

/** What became of one address of a crawl; without an outcome it waits. `to`: where it leads, or what stands in its place. */
export type FetchOutcome = {
  outcome?: 'indexed' | 'unchanged' | 'skipped' | 'failed';
  why?: CrawlReason | undefined;
  to?: string | undefined;
};
/** By `pageKey`. */
export type FetchOutcomes = ReadonlyMap<string, FetchOutcome>;

/**
 * What an address leads to, over redirects and canonical addresses: a page of this crawl, `gone` when the site says that
 * there is none any more, `open` when it was not asked yet, else `none` (it failed, was refused, or goes in a circle).
 */
export function targetOf(key: string, outcomes: FetchOutcomes): 'page' | 'gone' | 'open' | 'none' {
  const met = new Set<string>();
  for (let at = key; !met.has(at);) {
    met.add(at);
    const found = outcomes.get(at);
    if (found === undefined) return 'none';
    const { outcome, why, to } = found;
    if (outcome === undefined) return 'open';
    if (outcome === 'indexed' || outcome === 'unchanged' || why === 'duplicate') return 'page';
    if (to === undefined || (why !== 'moved' && why !== 'canonical' && why !== 'redirect')) {
      const standing = why === undefined ? undefined : reasonRow(why).standing;
      return standing === 'taken' || standing === 'emptied' ? 'gone' : 'none';
    }
    at = pageKey(to);
  }
  return 'none';
}

/** The former addresses of a page, over any number of moves, nearest first; both as keys. */
export function formerAddresses(moves: readonly { url: string; to: string }[]): (key: string) => string[] {
  const leading = Map.groupBy(moves, ({ to }) => pageKey(to));
  return (key) => {
    const met = new Set([key]);
    for (const at of met) for (const { url } of leading.get(at) ?? []) met.add(pageKey(url));
    return [...met].slice(1);
  };
}

/** Pages (keys) that another page of this crawl has replaced, so that what was indexed from them is removed. */
export function replacedPages(outcomes: FetchOutcomes): string[] {
  return [...outcomes].flatMap(([key, { why }]) => {
    const end = why === 'moved' || why === 'canonical' ? targetOf(key, outcomes) : 'none';
    return end === 'page' || (end === 'gone' && why === 'moved') ? [key] : [];
  });
}

/** Pages (keys) whose canonical address turned out to hold no page: they are read themselves. */
export function unresolvedCanonicals(outcomes: FetchOutcomes): string[] {
  // Of two that name each other one is read, and the other has its page then.
  const left = new Map(outcomes);
  for (const [key, { why }] of outcomes) {
    if (why === 'canonical' && ['none', 'gone'].includes(targetOf(key, left))) left.set(key, {});
  }
  return [...outcomes].flatMap(([key, { outcome }]) => (left.get(key)?.outcome === outcome ? [] : [key]));
}

/**
 * Pages (keys) of the standing set that a replacing crawl met and has nothing for, though the site did not take them away.
 * What it never came to is not among them: it has a limit. A duplicate's text is kept, but when more pages have become
 * duplicates than the crawl has read, the site answers everything with one page.
 */
export function missingPages(outcomes: FetchOutcomes, standing: { has(key: string): boolean }): string[] {
  const all = [...outcomes];
  const read = all.filter(([, { outcome }]) => outcome === 'indexed' || outcome === 'unchanged').length;
  const copies = all.filter(([key, { why }]) => why === 'duplicate' && standing.has(key)).length;
  return all.flatMap(([key, { outcome, why }]) => {
    if (!standing.has(key)) return [];
    if (outcome === 'failed') return [key];
    if (why === 'duplicate') return copies > read ? [key] : [];
    if (outcome !== 'skipped' || why === undefined || why === 'trap') return [];
    const row = reasonRow(why);
    const safe = row.standing === 'elsewhere' ? targetOf(key, outcomes) !== 'none' : row.standing === 'taken';
    return safe ? [] : [key];
  });
}

/**
 * Whether a page is left out because it names another one. The front page, named by a page of another path, is what a
 * template says that is the same on all pages; where it is meant, the texts are the same and the page is a duplicate.
 */
export function defersTo(url: string, canonical: string, start: string): boolean {
  if (pageKey(canonical) === pageKey(url)) return false;
  const path = segmentsOf(canonical).join('/');
  const front = pageKey(canonical) === pageKey(start) || (path === '' && parametersOf(canonical).length === 0);
  return !front || path === segmentsOf(url).join('/');
}

/**
 * Whether a set that was built to replace another is whole. `lost`: pages that answer now and were not indexed anew, which
 * an outage must not take away. Of others at most a fifth of what was read may have failed, and one in any case: pages that
 * are broken for good are on many sites.
 */
export function isWholeSet({ read, failed, lost }: { read: number; failed: number; lost: number }): boolean {
  return read > 0 && lost === 0 && failed <= Math.max(1, Math.floor(read / 5));
}
