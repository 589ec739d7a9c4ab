/** What became of the addresses of a crawl, where each leads, and what of the pages of before has to give way. Pure. */
import { reasonRow, type CrawlReason } from './crawlreason.ts';
import { pageKey, parametersOf, segmentsOf } from './url.ts';

/** What became of one address of a crawl; without an outcome it waits. `to`: where it leads, or what stands in its place. */
export type Fate = {
  outcome?: 'indexed' | 'unchanged' | 'skipped' | 'failed';
  why?: CrawlReason | undefined;
  to?: string | undefined;
};
/** By `pageKey`. */
export type Fates = ReadonlyMap<string, Fate>;

/**
 * What is found at the end of the way that an address leads: a page of this crawl, the site's word that there is none any
 * more, something that is not known yet, or neither (it failed, was refused, or goes in a circle).
 */
export function endOf(key: string, fates: Fates): 'page' | 'gone' | 'open' | 'none' {
  const met = new Set<string>();
  for (let at = key; !met.has(at);) {
    met.add(at);
    const fate = fates.get(at);
    if (fate === undefined) return 'none';
    const { outcome, why, to } = fate;
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

/** From where pages have come to an address, over however many moves, nearest first; both as keys. */
export function formersOf(moves: readonly { url: string; to: string }[]): (key: string) => string[] {
  const leading = Map.groupBy(moves, ({ to }) => pageKey(to));
  return (key) => {
    const met = new Set([key]);
    for (const at of met) for (const { url } of leading.get(at) ?? []) met.add(pageKey(url));
    return [...met].slice(1);
  };
}

/** Pages (keys) whose place another page of this crawl has taken, so that what was indexed from them may go. */
export function outlived(fates: Fates): string[] {
  return [...fates].flatMap(([key, { why }]) => {
    const end = why === 'moved' || why === 'canonical' ? endOf(key, fates) : 'none';
    return end === 'page' || (end === 'gone' && why === 'moved') ? [key] : [];
  });
}

/** Pages (keys) that named another one which turned out to be none: they are to be read for their own sake. */
export function unheard(fates: Fates): string[] {
  // Of two that name each other one is read, and the other has its page then.
  const left = new Map(fates);
  for (const [key, { why }] of fates) {
    if (why === 'canonical' && ['none', 'gone'].includes(endOf(key, left))) left.set(key, {});
  }
  return [...fates].flatMap(([key, { outcome }]) => (left.get(key)?.outcome === outcome ? [] : [key]));
}

/**
 * Pages (keys) of the standing set that a replacing crawl met and has nothing for, though the site did not take them away.
 * What it never came to is not among them: it has a limit. A duplicate's text is kept, but when more pages have become
 * duplicates than the crawl has read, the site answers everything with one page.
 */
export function lostOf(fates: Fates, standing: { has(key: string): boolean }): string[] {
  const all = [...fates];
  const read = all.filter(([, { outcome }]) => outcome === 'indexed' || outcome === 'unchanged').length;
  const copies = all.filter(([key, { why }]) => why === 'duplicate' && standing.has(key)).length;
  return all.flatMap(([key, { outcome, why }]) => {
    if (!standing.has(key)) return [];
    if (outcome === 'failed') return [key];
    if (why === 'duplicate') return copies > read ? [key] : [];
    if (outcome !== 'skipped' || why === undefined || why === 'trap') return [];
    const row = reasonRow(why);
    const safe = row.standing === 'elsewhere' ? endOf(key, fates) !== 'none' : row.standing === 'taken';
    return safe ? [] : [key];
  });
}

/**
 * Whether a page is left out because it names another one. The front page, named by a page of another path, is what a
 * template says that is the same on all pages; where it is meant, the texts are the same and the page is a duplicate.
 */
export function yieldsTo(url: string, canonical: string, start: string): boolean {
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
