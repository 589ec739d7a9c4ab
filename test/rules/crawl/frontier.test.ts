import { describe, expect, it } from '@jest/globals';
import {
  byCost,
  countSeries,
  crawlCost,
  frontierLimit,
  isTrap,
  placeOf,
  seriesLimit,
  seriesOf,
  type Found,
  type SeriesCounts,
} from '../../../models/rules/crawl/frontier.ts';

const at = (path: string): string => `https://example.com${path}`;

/**
 * Returns the pages that a crawl of at most `maxPages` reads when `linksOf` gives the links. Traps are refused when
 * found and again before they are read. The address with the lowest cost (`placeOf`) is read first, and each address
 * once.
 */
function crawl(maxPages: number, linksOf: (path: string) => string[]): string[] {
  const counts: SeriesCounts = new Map();
  const known = new Set(['/']);
  const read: string[] = [];
  let queue: (Found & { path: string })[] = [{ path: '/', url: at('/'), depth: 0 }];
  let inOrder = true;
  while (queue.length > 0 && read.length < maxPages) {
    if (!inOrder) queue = byCost(queue).slice(0, frontierLimit(maxPages));
    inOrder = true;
    const page = queue.shift();
    if (page === undefined || isTrap(page, counts, maxPages)) continue;
    countSeries(counts, page.url);
    read.push(page.path);
    for (const path of linksOf(page.path)) {
      const found = { path, url: at(path), depth: page.depth + 1 };
      if (known.has(path) || isTrap(found, counts, maxPages)) continue;
      known.add(path);
      queue.push(found);
      inOrder = false;
    }
  }
  return read;
}

/** A site of thirty real pages in three levels. Every page also has the links of `trap`. */
function siteWith(trap: (path: string) => string[]): (path: string) => string[] {
  return (path) => {
    const real = /^\/(?:guide-\d(?:\/topic-\d)?)?$/.test(path);
    if (!real) return trap(path);
    const level = path.split('/').filter(Boolean).length;
    const below =
      level === 0 ? [0, 1, 2, 3, 4].map((n) => `/guide-${n}`) : [0, 1, 2, 3, 4].map((n) => `${path}/topic-${n}`);
    return [...trap(path), ...(level < 2 ? below : [])];
  };
}
const realPages = (paths: readonly string[]): number => paths.filter((path) => /^\/(?:guide|$)/.test(path)).length;

describe('a crawl of fifty pages', () => {
  it('a crawl reads every real page although the site has an endless calendar, and reads few calendar pages', () => {
    const read = crawl(
      50,
      siteWith((path) => {
        const [, year = '2026', month = '0'] = /^\/calendar\/(\d+)\/(\d+)/.exec(path) ?? [];
        const months = Number(year) * 12 + Number(month) + 1;
        const next = `/calendar/${Math.floor(months / 12)}/${String((months % 12) + 1).padStart(2, '0')}`;
        return [
          next,
          ...[1, 2, 3].map((day) => `${next}/${String(day).padStart(2, '0')}`),
          `/calendar?month=${months}`,
        ];
      }),
    );
    expect(realPages(read)).toBe(31);
    expect(read.length - 31).toBeLessThanOrEqual(3 * seriesLimit('dates', 50));
  });

  it('a crawl reads every real page although the site generates endless random query parameters', () => {
    let made = 0;
    const read = crawl(
      50,
      siteWith(() => Array.from({ length: 20 }, () => `/maze?a${(made += 1)}=${made}&b=${made}`)),
    );
    expect(realPages(read)).toBe(31);
    expect(read.length - 31).toBe(seriesLimit('parameters', 50));
  });

  it('a crawl ends when a site has only sorted, filtered and paginated lists', () => {
    let made = 0;
    const read = crawl(1_000, () => Array.from({ length: 10 }, () => `/list?sort=${(made += 1) % 7}&page=${made}`));
    expect(read.length).toBe(1 + seriesLimit('parameters', 1_000));
  });

  it('a crawl ends when relative links make the path longer with every page', () => {
    const read = crawl(1_000, (path) => [`${path === '/' ? '' : path}/about/team`]);
    expect(read).toEqual(['/', '/about/team', '/about/team/about/team']);
  });

  it('a crawl reads all 1,000 pages of a manual whose addresses differ in words only', () => {
    const read = crawl(1_000, (path) =>
      path === '/' ? Array.from({ length: 999 }, (_, n) => `/manual/chapter-${n}`) : [],
    );
    expect(read).toHaveLength(1_000);
  });
});

describe('seriesOf', () => {
  it.each([
    ['/help/open-an-account', undefined],
    ['/2026/11/21/a-title', { pattern: '/{n}/{date}/{n}/a-title', kind: 'dates' }],
    ['/articles/12345', { pattern: '/articles/{n}', kind: 'number' }],
    ['/calendar/2026/11', { pattern: '/calendar/{n}/{date}', kind: 'dates' }],
    ['/calendar/2026/nov', { pattern: '/calendar/{n}/{date}', kind: 'dates' }],
    ['/events/2026-11-21', { pattern: '/events/{date}', kind: 'dates' }],
    ['/events/20261121', { pattern: '/events/{date}', kind: 'dates' }],
    ['/reports/2026', { pattern: '/reports/{n}', kind: 'number' }],
    ['/call/0800/123', { pattern: '/call/{n}/{n}', kind: 'parameters' }],
    ['/faq?id=7', { pattern: '/faq?', kind: 'number' }],
    ['/faq?id=7&sort=a', { pattern: '/faq?', kind: 'parameters' }],
    ['/faq?month=5', { pattern: '/faq?', kind: 'dates' }],
    ['/faq?d=2026-05-01', { pattern: '/faq?', kind: 'dates' }],
  ])('seriesOf finds the series of similar addresses to which %s belongs, if there is one', (path, series) =>
    expect(seriesOf(at(path))).toEqual(series),
  );
});

describe('isTrap', () => {
  const none: SeriesCounts = new Map();
  it.each([
    ['/a/b', false],
    ['/a/a', false],
    ['/a/a/a', true],
    ['/x/a/b/a/b/a/b', true],
    ['/a/b/a/b', false],
    ['/a/b/c/a/b/c/a/b/c/d', true],
    [`/${Array.from({ length: 16 }, (_, n) => `s${n}`).join('/')}`, false],
    [`/${Array.from({ length: 17 }, (_, n) => `s${n}`).join('/')}`, true],
    [`/q?${Array.from({ length: 8 }, (_, n) => `p${n}=1`).join('&')}`, false],
    [`/q?${Array.from({ length: 9 }, (_, n) => `p${n}=1`).join('&')}`, true],
  ])('the address %s is a crawler trap: %s', (path, expected) =>
    expect(isTrap({ url: at(path), depth: 1 }, none, 50)).toBe(expected),
  );

  it('an address beyond the page limit of its series of similar addresses is a crawler trap, unless a sitemap lists it', () => {
    const counts: SeriesCounts = new Map();
    const limit = seriesLimit('number', 50);
    expect(limit).toBe(25);
    for (let n = 0; n < limit; n += 1) {
      expect(isTrap({ url: at(`/faq?id=${n}`), depth: 1 }, counts, 50)).toBe(false);
      countSeries(counts, at(`/faq?id=${n}`));
    }
    expect(isTrap({ url: at('/faq?id=new'), depth: 1 }, counts, 50)).toBe(true);
    expect(isTrap({ url: at('/faq?id=new'), depth: 1, sitemap: true }, counts, 50)).toBe(false);
    expect(isTrap({ url: at('/other?id=new'), depth: 1 }, counts, 50)).toBe(false);
  });

  it.each([
    ['number', 1_000, 500],
    ['number', 10, 20],
    ['parameters', 1_000, 100],
    ['parameters', 50, 10],
    ['dates', 1_000, 50],
    ['dates', 50, 5],
  ] as const)(
    'from a series of similar addresses of kind %s, a crawl of %d pages reads at most %d pages',
    (kind, pages, limit) => expect(seriesLimit(kind, pages)).toBe(limit),
  );
});

describe('byCost', () => {
  it('a crawl reads the start page first, then plain near pages, deep pages, and URLs with parameters or dates', () => {
    const pages: Found[] = [
      { url: at('/calendar/2026/11'), depth: 1 },
      { url: at('/list?sort=a&page=2'), depth: 1 },
      { url: at('/a/b/c'), depth: 1 },
      { url: at('/far'), depth: 4 },
      { url: at('/second'), depth: 1 },
      { url: at('/third'), depth: 9, sitemap: true },
      { url: at('/very/deep/start'), depth: 0 },
    ];
    const order = byCost(pages).map(({ url }) => new URL(url).pathname);
    expect(order).toEqual(['/very/deep/start', '/second', '/third', '/a/b/c', '/far', '/list', '/calendar/2026/11']);
    expect(pages.map(crawlCost)).toEqual([8, 6, 4, 5, 2, 2, 0]);
  });
});

describe('placeOf', () => {
  const counts: SeriesCounts = new Map();
  for (let n = 0; n < 20; n += 1) countSeries(counts, at(`/news/${n}`));
  it.each<[string, Omit<Found, 'url'>]>([
    ['/', { depth: 0 }],
    ['/fees', { depth: 2 }],
    ['/news/21', { depth: 1 }],
    ['/news/21', { depth: 1, sitemap: true }],
    ['/a?date=2026-11-02&b=1', { depth: 3 }],
    ['/x/x/x/x', { depth: 1 }],
    ['/2026/11/a-title', { depth: 4, sitemap: true }],
  ])('the address %s, found with %j, is queued by its crawl cost, and a trap is not queued', (path, how) => {
    const found = { url: at(path), ...how };
    expect(placeOf(found, counts, 20)).toBe(isTrap(found, counts, 20) ? undefined : crawlCost(found));
  });

  it('an address beyond the page limit of its series of similar addresses is queued only when a sitemap lists it', () => {
    expect(placeOf({ url: at('/news/21'), depth: 1 }, counts, 20)).toBeUndefined();
    expect(placeOf({ url: at('/news/21'), depth: 1, sitemap: true }, counts, 20)).toBe(3);
  });
});
