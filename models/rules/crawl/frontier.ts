/**
 * The order in which a crawl reads the pages it has found, and when a series of addresses has had enough: pages are
 * limited, and an endless calendar or a maze of parameters must not use them up. Pure: counts are rebuilt from addresses.
 */
import { parametersOf, segmentsOf } from './url.ts';

/** How a page was found: `depth` is the number of links from the start; a sitemap's entry counts as linked there. */
export type Found = { url: string; depth: number; sitemap?: boolean };

/** Deeper paths and more parameters than these are made by programs, not by people. */
const maxSegments = 16;
const maxParameters = 8;

/** Years as sites show them; what else has four digits is a number. */
const year = /^(?:19|20)\d{2}$/;
const isoDate = /^(?:19|20)\d{2}-?(?:0?[1-9]|1[0-2])(?:-?(?:0?[1-9]|[12]\d|3[01]))?(?:T.*)?$/;
const monthName = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}$/i;
const dateParameter = /^(?:date|day|week|month|mon|year|yr|start|end|from|to|tribe-bar-date|cal[-_]?date|time)$/i;

/** A series that an address belongs to: `pattern` is the same for all its members. */
export type Series = { pattern: string; kind: 'number' | 'parameters' | 'dates' };

/**
 * How many members of a series a crawl of `maxPages` reads: a share of the pages, and never less than `least`. A single
 * thing that counts up may well be how a site names its articles; several at once seldom are pages, dates hardly ever.
 */
const shares: Readonly<Record<Series['kind'], { share: number; least: number }>> = {
  number: { share: 0.5, least: 20 },
  parameters: { share: 0.1, least: 10 },
  dates: { share: 0.05, least: 5 },
};

export function seriesLimit(kind: Series['kind'], maxPages: number): number {
  return Math.max(shares[kind].least, Math.floor(maxPages * shares[kind].share));
}

const nameOf = (parameter: string): string => parameter.split('=', 1)[0] ?? '';
const valueOf = (parameter: string): string => parameter.slice(nameOf(parameter).length + 1);

/** Whether a segment is a date, or the month (number or English name), week or day after a year. */
function isDate(segment: string, previous: string | undefined): boolean {
  if (isoDate.test(segment)) return segment.includes('-') || segment.length === 8;
  if (previous === undefined || !year.test(previous)) return false;
  return monthName.test(segment) || (/^\d{1,2}$/.test(segment) && Number(segment) <= 53);
}

/** The path with what counts up replaced: dates by `{date}`, other segments of nothing but digits by `{n}`. */
function pathPattern(segments: readonly string[]): { pattern: string; dates: boolean; numbers: number } {
  const parts = segments.map((segment, at) => {
    if (isDate(segment, segments[at - 1])) return '{date}';
    return /^\d+$/.test(segment) ? '{n}' : segment;
  });
  const numbers = parts.filter((part) => part === '{n}').length;
  return { pattern: `/${parts.join('/')}`, dates: parts.includes('{date}'), numbers };
}

/**
 * The series an address belongs to, undefined for an address with neither numbers for segments nor parameters. An article
 * below a date (`/2026/11/a-title`) keeps its title in the pattern and so is in a series of its own.
 */
export function seriesOf(url: string): Series | undefined {
  return looksOf(url).series;
}

function seriesIn(segments: readonly string[], parameters: readonly string[]): Series | undefined {
  const path = pathPattern(segments);
  const dates =
    path.dates || parameters.some((given) => dateParameter.test(nameOf(given)) || isoDate.test(valueOf(given)));
  const varying = path.numbers + parameters.length;
  if (varying === 0 && !dates) return undefined;
  // Names of parameters are left out of the pattern: a maze makes up new ones.
  const pattern = parameters.length > 0 ? `${path.pattern}?` : path.pattern;
  return { pattern, kind: dates ? 'dates' : varying > 1 ? 'parameters' : 'number' };
}

/** Three times the same segments in a row: what a relative link in a page that answers under any path leads to. */
function repeats(segments: readonly string[]): boolean {
  for (let length = 1; length * 3 <= segments.length; length += 1) {
    let run = 0;
    for (let at = length; at < segments.length; at += 1) {
      run = segments[at] === segments[at - length] ? run + 1 : 0;
      if (run >= length * 2) return true;
    }
  }
  return false;
}

/** How many addresses of each series a crawl has read. Rebuilt from them, so it need not be stored. */
export type SeriesCounts = Map<string, number>;

const countKey = (series: Series): string => `${series.kind} ${series.pattern}`;

/** Counts one address that was fetched. */
export function countSeries(counts: SeriesCounts, url: string): void {
  const series = seriesOf(url);
  if (series !== undefined) counts.set(countKey(series), (counts.get(countKey(series)) ?? 0) + 1);
}

/** What the rules look at of an address. Taken from it once: a round may bring a hundred thousand. */
type Looks = { segments: string[]; parameters: string[]; series: Series | undefined };
const looksOf = (url: string): Looks => {
  const segments = segmentsOf(url);
  const parameters = parametersOf(url);
  return { segments, parameters, series: seriesIn(segments, parameters) };
};

/**
 * Whether fetching this address would be wasted: its path repeats itself, it is deeper or has more parameters than people
 * make them, or its series has had its share of `maxPages`. What a sitemap lists is its owner's word and never a trap.
 * Asked when a page is found and again when its turn has come.
 */
export function isTrap(found: Found, counts: ReadonlyMap<string, number>, maxPages: number): boolean {
  return found.sitemap !== true && isWaste(looksOf(found.url), counts, maxPages);
}

function isWaste({ segments, parameters, series }: Looks, counts: ReadonlyMap<string, number>, maxPages: number) {
  if (segments.length > maxSegments || parameters.length > maxParameters || repeats(segments)) return true;
  return series !== undefined && (counts.get(countKey(series)) ?? 0) >= seriesLimit(series.kind, maxPages);
}

/**
 * The place of a page in the queue; lower goes first. A point for each link from the start (one for all of a sitemap) and
 * each segment of the path, two for each parameter, four for a date: so plain pages near the start come before a series,
 * and an endless one, whose every step is a link deeper, soon costs more than any page that was found. The start is 0.
 */
export function crawlCost(found: Found): number {
  return costOf(found, looksOf(found.url));
}

function costOf({ depth, sitemap }: Found, { segments, parameters, series }: Looks): number {
  if (depth === 0) return 0;
  const dates = series?.kind === 'dates' ? 4 : 0;
  return (sitemap === true ? 1 : depth) + segments.length + 2 * parameters.length + dates;
}

/** The cost of a page that was found; undefined for a trap. */
export function placeOf(found: Found, counts: ReadonlyMap<string, number>, maxPages: number): number | undefined {
  const looks = looksOf(found.url);
  if (found.sitemap !== true && isWaste(looks, counts, maxPages)) return undefined;
  return costOf(found, looks);
}

/** The pages in the order they are read; those of equal cost stay in the order they were found. */
export function byCost<Page extends Found>(pages: readonly Page[]): Page[] {
  return pages
    .map((page) => ({ page, cost: crawlCost(page) }))
    .sort((a, b) => a.cost - b.cost)
    .map(({ page }) => page);
}

/** How many addresses a crawl notes that it leaves out without a request: files, traps, what a sitemap lists against robots.txt. */
export const maxUnasked = 500;

/**
 * How many found pages are remembered for a crawl of `maxPages`, the cheapest first: some are refused, gone or duplicates,
 * but a page with 100,000 links must not fill the memory or the database.
 */
export function frontierLimit(maxPages: number): number {
  return Math.max(1_000, maxPages * 10);
}
