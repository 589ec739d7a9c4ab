/**
 * A site as crawls see it: the limits that all crawls of a process share for its host, and how robots.txt is obeyed.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { page, sitesOfTest, type Reply, type TestSite } from '../kit/sites.ts';
import { createHosts } from '../../clients/crawl/site/hosts.ts';
import { createHttp, type Http } from '../../clients/http/http.ts';
import type { PageContent, Pages } from '../../clients/crawl/site/pages.ts';
import { createSites, type Sites, type SitesOptions } from '../../clients/crawl/site/site.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { maxRobotsBytes } from '../../models/rules/crawl/robots.ts';

const siteOf = sitesOfTest();
const { signal } = new AbortController();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

type Options = Partial<Pick<SitesOptions, 'clock' | 'concurrency' | 'http' | 'renderer'>>;
/**
 * A crawler for this site. Its page reader ignores the HTML and returns `content` for every page, with the length of the
 * body as that of its text.
 */
function crawlerOf(site: TestSite, options: Options = {}, content: Partial<PageContent> = {}): Sites {
  const http = createHttp({ userAgent: 'TestBot/1.0', egressAllow: [new URL(site.url).host] });
  const read: Pages['read'] = async ({ body }) => ({
    title: 'A page',
    noindex: false,
    nofollow: false,
    links: [],
    chunks: [],
    textLength: body.length,
    contentHash: '0'.repeat(64),
    empty: false,
    ...content,
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
  it('a pause that a host asks for applies to all its pages in all crawls', async () => {
    const site = await siteOf({ '/a': answer(429, { 'retry-after': '590' }), '/b': page('B', 'The second page.') });
    const sites = crawlerOf(site);
    const [first, second] = [await sites.open(`${site.url}/`, signal), await sites.open(`${site.url}/b`, signal)];
    expect(first.waitMs()).toBe(0);
    const asked = await first.fetch(`${site.url}/a`, { signal });
    expect(asked).toEqual({ kind: 'later', of: 'host', waitMs: 590_000, tries: 1 });
    const other = await second.fetch(`${site.url}/b`, { signal });
    expect(other).toEqual({ kind: 'later', of: 'host', waitMs: expect.any(Number), tries: 0 });
    expect(second.waitMs()).toBeGreaterThan(500_000);
    expect([site.hits.get('/a'), site.hits.get('/b')]).toEqual([1, undefined]);
  });

  it('a host that asks for pauses is asked for each page at most three times, however long the pauses are', async () => {
    const site = await siteOf({ '/a': answer(503, { 'retry-after': '590' }) });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    const last = await opened.fetch(`${site.url}/a`, { tries: 2, signal });
    expect(last).toMatchObject({ kind: 'refused', reason: 'server_error', detail: 503 });
  });

  it('a 503 for one page pauses that page only, until many pages in a row answer 503', async () => {
    const site = await siteOf({
      '/robots.txt': '',
      '/fine': page('Fine', 'A page that may be read.'),
      '*': answer(503, { 'retry-after': '20' }),
    });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    const kindOf = async (path: string, tries = 0) => {
      const fetched = await opened.fetch(site.url + path, { tries, signal });
      return fetched.kind === 'later' ? fetched.of : fetched.kind;
    };
    const inOrder = async (paths: string[]) => {
      const kinds: string[] = [];
      for (const path of paths) kinds.push(await kindOf(path));
      return kinds;
    };
    expect(await inOrder(['/1', '/2', '/3', '/4', '/4', '/fine', '/5', '/6', '/7', '/8'])).toEqual([
      ...Array.from({ length: 5 }, () => 'page'),
      'page',
      ...Array.from({ length: 4 }, () => 'page'),
    ]);
    // A page that is given up after its last try does not pause the host.
    expect(await kindOf('/9', 2)).toBe('refused');
    expect([opened.waitMs(), site.hits.get('/fine')]).toEqual([0, 1]);
    expect(await kindOf('/9')).toBe('host');
    expect(opened.waitMs()).toBeGreaterThan(10_000);
    expect([await kindOf('/fine'), site.hits.get('/fine')]).toEqual(['host', 1]);
  });

  it('a page that asks for a pause of a day is refused, as are the queued pages, without further requests', async () => {
    const site = await siteOf({ '*': answer(429, { 'retry-after': '86400' }), '/robots.txt': '' });
    const opened = await crawlerOf(site, { concurrency: 1 }).open(`${site.url}/`, signal);
    const all = await Promise.all(['/a', '/b', '/c'].map((path) => opened.fetch(site.url + path, { signal })));
    expect(all).toEqual(Array.from({ length: 3 }, () => ({ kind: 'refused', reason: 'wait_too_long' })));
    expect([site.hits.get('/a'), site.hits.get('/b'), site.hits.get('/c')]).toEqual([1, undefined, undefined]);
  });

  it('a Crawl-delay applies before the first page too', async () => {
    const site = await siteOf({ '/robots.txt': 'User-agent: *\nCrawl-delay: 20', '/': page('A', 'The first page.') });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(opened.waitMs()).toBeGreaterThan(10_000);
    expect(await opened.fetch(`${site.url}/`, { signal })).toMatchObject({ kind: 'later', tries: 0 });
    expect(site.hits.get('/')).toBeUndefined();
  });
});

describe('concurrent crawls of one host', () => {
  it('concurrent crawls of one host together make at most two requests at a time', async () => {
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
      // Answers one of two concurrent requests, so that the next one may be sent. The last request is alone.
      if (owed.length > 1 || site.hits.size === 7)
        owed.shift()?.writeHead(200, { 'content-type': 'text/html' }).end('x');
      await delay(5);
    }
    await fetched;
    expect(kinds).toEqual(Array.from({ length: 6 }, () => 'page'));
    expect(most).toBe(2);
  });
});

describe('a host', () => {
  const hostsOf = (now = 0) => createHosts(() => new Date(now), 2);

  it('subresources of a page (scripts, styles) are requested while other pages wait for the host’s pause', async () => {
    // The clock stands still, so that no page gets its turn.
    const host = hostsOf().of('https://site.example/');
    host.setDelay('https://site.example', 2_000);
    const given = new AbortController();
    const waiting = Promise.allSettled([1, 2, 3].map(() => host.inTurn(async () => 'page', given.signal)));
    expect(await host.asPart(async () => 'part')).toBe('part');
    given.abort();
    expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('a host is the same with http or https and with or without www, and its longest pause applies', () => {
    const hosts = hostsOf();
    const host = hosts.of('http://site.example/a');
    expect(hosts.of('https://www.site.example/b')).toBe(host);
    expect(hosts.of('https://site.example:8443/')).not.toBe(host);
    host.setDelay('http://site.example', 9_000);
    host.setDelay('https://site.example', 4_000);
    host.setDelay('https://www.site.example', 0);
    expect(host.waitMs()).toBe(9_000);
  });

  it('after the host’s pause, a redirect from http to https is followed without another pause', async () => {
    let ahead = 0;
    const asked: string[] = [];
    const reply = (url: string): Awaited<ReturnType<Http['follow']>> => {
      const base = { url, redirects: [], body: Buffer.alloc(0) };
      if (url.endsWith('/robots.txt')) return { ...base, status: 200, headers: {}, body: Buffer.from(robots) };
      asked.push(url);
      if (url.startsWith('https:')) return { ...base, status: 200, headers: { 'content-type': 'text/html' } };
      return { ...base, status: 301, headers: { location: url.replace('http:', 'https:') } };
    };
    const robots = 'User-agent: *\nCrawl-delay: 3.1';
    const http: Http = {
      request: async (url) => reply(url),
      follow: async (url) => reply(url),
      close: async () => undefined,
    };
    const sites = crawlerOf(await siteOf({}), { http, clock: () => new Date(Date.now() + ahead) });
    const opened = await sites.open('http://site.example/', signal);
    ahead = 60_000;
    expect((await opened.fetch('http://site.example/a', { signal })).kind).toBe('page');
    expect(asked).toEqual(['http://site.example/a', 'https://site.example/a']);
  });
});

describe('a page’s response', () => {
  it('a 304 response to a request without conditional headers is an error', async () => {
    const site = await siteOf({ '/a': answer(304) });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(await opened.fetch(`${site.url}/a`, { signal })).toEqual({ kind: 'refused', reason: 'protocol' });
    expect(await opened.fetch(`${site.url}/a`, { etag: '"1"', signal })).toEqual({ kind: 'unchanged' });
    const since = { lastModified: 'Sat, 01 Nov 2025 10:00:00 GMT', signal };
    expect(await opened.fetch(`${site.url}/a`, since)).toEqual({ kind: 'unchanged' });
  });

  it('an unchanged page (304) is refused when any of its headers forbids indexing', async () => {
    const tagged =
      (...tags: string[]): Reply =>
      (_, response) =>
        void response.writeHead(304, { 'x-robots-tag': tags }).end();
    const site = await siteOf({
      '/one': tagged('noindex'),
      '/several': tagged('otherbot: noarchive', 'noindex'),
      '/us': tagged('TestBot: none'),
      '/other': tagged('otherbot: noindex', 'noarchive'),
    });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    const ask = (path: string) => opened.fetch(site.url + path, { etag: '"1"', signal });
    for (const path of ['/one', '/several', '/us'])
      expect(await ask(path)).toEqual({ kind: 'refused', reason: 'noindex' });
    expect(await ask('/other')).toEqual({ kind: 'unchanged' });
  });

  it.each([
    ['temporarily', {}, false],
    ['permanently when it forbids indexing', { noindex: true }, true],
    ['permanently when its canonical link names the target', { canonical: 'https://site.example/b' }, true],
    ['temporarily when its canonical link names another page', { canonical: 'https://site.example/c' }, false],
  ])(
    'a meta refresh redirects temporarily or permanently, depending on the page’s robots and canonical tags: %s',
    async (_, content, permanent) => {
      const site = await siteOf({ '/a': page('Moved', 'This page is elsewhere.') });
      const to = 'https://site.example/b';
      const opened = await crawlerOf(site, {}, { refresh: to, ...content }).open(`${site.url}/`, signal);
      expect(await opened.fetch(`${site.url}/a`, { signal })).toEqual({ kind: 'redirect', to, permanent });
    },
  );

  it('a redirect to an address in raw UTF-8 leads to that address', async () => {
    const location = Buffer.from('/gebühren').toString('latin1');
    const site = await siteOf({ '/a': answer(301, { location }) });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    const to = `${site.url}/geb%C3%BChren`;
    expect(await opened.fetch(`${site.url}/a`, { signal })).toEqual({ kind: 'redirect', to, permanent: true });
  });

  it('the text of a page that comes with status 203 is read', async () => {
    const site = await siteOf({
      '/a': (_, response) => void response.writeHead(203, { 'content-type': 'text/html' }).end('The text.'),
    });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    const fetched = await opened.fetch(`${site.url}/a`, { signal });
    expect(fetched).toMatchObject({ kind: 'page', content: { textLength: 9 } });
  });

  it('a page that redirects to itself is not requested again', async () => {
    const site = await siteOf({ '/a': answer(302, { location: '/a?utm_source=b' }) });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(await opened.fetch(`${site.url}/a`, { signal })).toEqual({ kind: 'refused', reason: 'too_many_redirects' });
    expect(site.hits.get('/a')).toBe(1);
  });
});

describe('robots.txt', () => {
  it('a robots.txt that never ends is read up to the size limit', async () => {
    const endless: Reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('User-agent: *\nDisallow: /first\n');
      const more = () => {
        while (!response.destroyed && response.write('# and so on\n'.repeat(1_000)));
      };
      response.on('drain', more);
      more();
    };
    const site = await siteOf({ '/robots.txt': endless, '*': page('Help', 'A page that may be read.') });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(opened.unavailable).toBeUndefined();
    expect((await opened.fetch(`${site.url}/help`, { signal })).kind).toBe('page');
    expect(await opened.fetch(`${site.url}/first`, { signal })).toEqual({ kind: 'refused', reason: 'robots' });
  });

  it('a robots.txt over the size limit is truncated, and the incomplete last line is ignored', async () => {
    const head = 'User-agent: *\nDisallow: /first\n';
    const robots = `${head}#${'x'.repeat(maxRobotsBytes - head.length - 13)}\nDisallow: /private-area\n`;
    expect(robots.slice(0, maxRobotsBytes)).toMatch(/Disallow: \/?$/);
    const site = await siteOf({ '/robots.txt': robots, '*': page('Help', 'A page that may be read.') });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect((await opened.fetch(`${site.url}/help`, { signal })).kind).toBe('page');
    expect(await opened.fetch(`${site.url}/first`, { signal })).toEqual({ kind: 'refused', reason: 'robots' });
  });
});

describe('a host that does not exist', () => {
  const at = (table: Record<string, string>): Http => {
    const reply = async (url: string): Promise<Awaited<ReturnType<Http['follow']>>> => {
      const location = table[url];
      if (location === undefined) throw new HttpError('no_host', { url });
      const base = { url, redirects: [], headers: { location }, body: Buffer.alloc(0) };
      return { ...base, status: url.endsWith('robots.txt') ? 404 : 301 };
    };
    return { request: reply, follow: reply, close: async () => undefined };
  };

  it('a host that does not exist is named in the error, and none of its pages is fetched', async () => {
    const opened = await crawlerOf(await siteOf({}), { http: at({}) }).open('https://mistyped.example/help', signal);
    expect(opened.unavailable).toEqual({ reason: 'no_host', message: expect.stringContaining('mistyped.example') });
    const refused = { kind: 'refused', reason: 'no_host', detail: 'mistyped.example' };
    expect(await opened.fetch('https://mistyped.example/help', { signal })).toEqual(refused);
  });

  it('when a page redirects to another spelling of its host that does not exist, the error names that spelling', async () => {
    const http = at({ 'http://a.example/robots.txt': '', 'http://a.example/': 'https://www.a.example/' });
    const opened = await crawlerOf(await siteOf({}), { http }).open('http://a.example/', signal);
    expect(opened.unavailable).toBeUndefined();
    const refused = { kind: 'refused', reason: 'no_host', detail: 'www.a.example' };
    expect(await opened.fetch('http://a.example/', { signal })).toEqual(refused);
  });

  it('a robots.txt that redirects to an unknown host counts as temporarily unavailable', async () => {
    const http = at({});
    const follow = async (): Promise<never> => {
      throw new HttpError('no_host', { url: 'https://elsewhere.example/robots.txt' });
    };
    const opened = await crawlerOf(await siteOf({}), { http: { ...http, follow } }).open('http://a.example/', signal);
    expect(opened.unavailable?.reason).toBe('robots_unavailable');
  });
});

describe('sitemaps', () => {
  it('the URLs of sitemaps are listed in three groups: pages, files, and URLs that robots.txt forbids', async () => {
    const site = await siteOf({});
    const urls = ['/a', '/models.ai/', '/fees.pdf', '/private/b', '/fees.pdf'];
    site.pages['/sitemap.xml'] = urls.map((path) => site.url + path).join('\n');
    site.pages['/robots.txt'] = 'User-agent: *\nDisallow: /private';
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(await opened.listSitemaps(10, signal)).toEqual({
      urls: [`${site.url}/a`, `${site.url}/models.ai/`],
      files: [`${site.url}/fees.pdf`],
      forbidden: [`${site.url}/private/b`],
      problems: [],
    });
  });

  it('malformed sitemaps and a long Crawl-delay are reported as problems', async () => {
    const site = await siteOf({ '/map.xml': '<urlset><url', '/gone.xml': answer(500) });
    site.pages['/robots.txt'] =
      `User-agent: *\nCrawl-delay: 60\nSitemap: /map.xml\nSitemap: /gone.xml\nSitemap: /none.xml`;
    // The clock advances with every reading, so that the pause takes no real time.
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

  it('an ordinary page at the default URL of the sitemap is no problem when robots.txt does not name that URL', async () => {
    const site = await siteOf({ '/sitemap.xml': page('Oops', 'There is no such page.') });
    const opened = await crawlerOf(site).open(`${site.url}/`, signal);
    expect(await opened.listSitemaps(10, signal)).toEqual({ urls: [], files: [], forbidden: [], problems: [] });
  });
});
