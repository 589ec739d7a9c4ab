/** A site as crawls see it: what its host is owed by all crawls of a process, and how its robots.txt is obeyed. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { page, sitesOfTest, type Reply, type TestSite } from './sites.ts';
import { createHttp } from '../clients/http.ts';
import type { PageContent } from '../clients/pages.ts';
import { createSites, type Sites } from '../clients/site.ts';
import { maxRobotsBytes } from '../models/rules/robots.ts';

const siteOf = sitesOfTest();
const { signal } = new AbortController();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** The crawler's view of this site; what pages say is of no matter here. */
function crawlerOf(site: TestSite, options: { clock?: () => Date; concurrency?: number } = {}): Sites {
  const http = createHttp({ userAgent: 'TestBot/1.0', egressAllow: [new URL(site.url).host] });
  const read = async (): Promise<PageContent> => ({
    title: 'A page',
    noindex: false,
    nofollow: false,
    links: [],
    passages: [],
    textLength: 0,
    contentHash: '0'.repeat(64),
    empty: false,
  });
  const pages = { read, close: async () => undefined };
  closing.push(() => http.close());
  return createSites({ http, pages, agent: 'TestBot', clock: () => new Date(), ...options });
}
const answer =
  (status: number, headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    void response.writeHead(status, headers).end();

describe('a host that asks for a pause', () => {
  it('has it from all pages and all crawls: none waits in place, and none is asked for', async () => {
    const site = await siteOf({ '/a': answer(429, { 'retry-after': '590' }), '/b': page('B', 'The second page.') });
    const sites = crawlerOf(site);
    const [first, second] = [await sites.open(`${site.url}/`, signal), await sites.open(`${site.url}/b`, signal)];
    expect(first.waitMs()).toBe(0);
    const asked = await first.fetch(`${site.url}/a`, { signal });
    expect(asked).toEqual({ kind: 'later', waitMs: 590_000, tries: 1 });
    const other = await second.fetch(`${site.url}/b`, { signal });
    expect(other).toEqual({ kind: 'later', waitMs: expect.any(Number), tries: 0 });
    expect(second.waitMs()).toBeGreaterThan(500_000);
    expect([site.hits.get('/a'), site.hits.get('/b')]).toEqual([1, undefined]);
  });

  it('is asked three times for a page, however far apart', async () => {
    const site = await siteOf({ '/a': answer(503, { 'retry-after': '590' }) });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    const last = await opened.fetch(`${site.url}/a`, { tries: 2, signal });
    expect(last).toMatchObject({ kind: 'refused', reason: 'server_error', detail: 503 });
  });

  it('of a day is left alone: pages in line are not asked for either', async () => {
    const site = await siteOf({ '*': answer(429, { 'retry-after': '86400' }), '/robots.txt': '' });
    const opened = await crawlerOf(site, { concurrency: 1 }).open(`${site.url}/`, signal);
    const all = await Promise.all(['/a', '/b', '/c'].map((path) => opened.fetch(site.url + path, { signal })));
    expect(all).toEqual(Array.from({ length: 3 }, () => ({ kind: 'refused', reason: 'wait_too_long' })));
    expect([site.hits.get('/a'), site.hits.get('/b'), site.hits.get('/c')]).toEqual([1, undefined, undefined]);
  });

  it('by a crawl-delay has it before the first page', async () => {
    const site = await siteOf({ '/robots.txt': 'User-agent: *\nCrawl-delay: 20', '/': page('A', 'The first page.') });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(opened.waitMs()).toBeGreaterThan(10_000);
    expect(await opened.fetch(`${site.url}/`, { signal })).toMatchObject({ kind: 'later', tries: 0 });
    expect(site.hits.get('/')).toBeUndefined();
  });
});

describe('crawls of one host', () => {
  it('have two requests at a time together', async () => {
    const owed: ServerResponse[] = [];
    let [open, most] = [0, 0];
    const site = await siteOf({
      '/robots.txt': '',
      '*': (_, response) => {
        open += 1;
        most = Math.max(most, open);
        response.once('finish', () => (open -= 1));
        owed.push(response);
      },
    });
    const sites = crawlerOf(site);
    const crawls = await Promise.all([1, 2, 3].map(() => sites.open(`${site.url}/`, signal)));
    const kinds: string[] = [];
    const fetched = Promise.all(
      crawls.flatMap((crawl, i) => ['a', 'b'].map((name) => crawl.fetch(`${site.url}/${name}${i}`, { signal }))),
    ).then((all) => kinds.push(...all.map(({ kind }) => kind)));
    while (kinds.length === 0) {
      // Two are there, or the last one is: then one is answered, and another may come.
      if (owed.length > 1 || site.hits.size === 7)
        owed.shift()?.writeHead(200, { 'content-type': 'text/html' }).end('x');
      await delay(5);
    }
    await fetched;
    expect(kinds).toEqual(Array.from({ length: 6 }, () => 'page'));
    expect(most).toBe(2);
  });
});

describe('robots.txt', () => {
  it('over its limit: the line that was cut is not obeyed', async () => {
    const head = 'User-agent: *\nDisallow: /first\n';
    const robots = `${head}#${'x'.repeat(maxRobotsBytes - head.length - 13)}\nDisallow: /private-area\n`;
    expect(robots.slice(0, maxRobotsBytes)).toMatch(/Disallow: \/?$/);
    const site = await siteOf({ '/robots.txt': robots, '*': page('Help', 'A page that may be read.') });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect((await opened.fetch(`${site.url}/help`, { signal })).kind).toBe('page');
    expect(await opened.fetch(`${site.url}/first`, { signal })).toEqual({ kind: 'refused', reason: 'robots' });
  });
});

describe('sitemaps', () => {
  it('and pauses that are not as they should be are told of', async () => {
    const site = await siteOf({ '/map.xml': '<urlset><url', '/gone.xml': answer(500) });
    site.pages['/robots.txt'] =
      `User-agent: *\nCrawl-delay: 60\nSitemap: /map.xml\nSitemap: /gone.xml\nSitemap: /none.xml`;
    // A clock that runs, so that nobody waits for the pause.
    let now = Date.now();
    const opened = await crawlerOf(site, { clock: () => new Date((now += 30_001)) }).open(`${site.url}/`, signal);
    const { urls, problems } = await opened.listSitemaps(10, signal);
    expect([urls, problems]).toEqual([
      [],
      [
        { url: `${site.url}/robots.txt`, reason: expect.stringContaining('60 seconds') },
        { url: `${site.url}/map.xml`, reason: expect.stringContaining('broken') },
        { url: expect.any(String), reason: expect.stringContaining('slow') },
      ],
    ]);
  });

  it('that nobody named may be any page', async () => {
    const site = await siteOf({ '/sitemap.xml': page('Oops', 'There is no such page.') });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(await opened.listSitemaps(10, signal)).toEqual({ urls: [], problems: [] });
  });
});
