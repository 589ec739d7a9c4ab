/**
 * Crawls of misbehaving sites, and malformed requests: each ends with a reason, and no page that answered before is
 * lost.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { newCrawler, reasonsOf, type Crawler } from '../kit/crawling.ts';
import { system, until } from '../kit/harness.ts';
import { page, redirect, sitesOfTest, type Reply } from '../kit/sites.ts';

const siteOf = sitesOfTest();

const shared = system();
let crawler: Crawler;
beforeEach(async () => {
  crawler = await newCrawler(shared);
});

const broken: Reply = (_, response) => void response.writeHead(500).end();
/** A page that never answers; the open responses are collected in `owed`. */
const hanging =
  (owed: ServerResponse[]): Reply =>
  (_, response) =>
    void owed.push(response);

describe('a URL to crawl', () => {
  it('a malformed URL is refused with a message on `url`, and starts no crawl', async () => {
    for (const [url, said] of [
      ['javascript:alert(1)', 'http'],
      ['data:text/html,<h1>x</h1>', 'http'],
      ['ftp://files.example/', 'http'],
      ['file:///etc/passwd', 'http'],
      ['https://user:password@site.example/', 'password'],
      ['http://user@site.example/', 'password'],
      [`https://site.example/${'a'.repeat(3_000)}`, '2048'],
      [`https://site.example/${'ä'.repeat(1_500)}`, 'longer'],
      ['site.example', 'valid'],
      ['http://', 'valid'],
      ['http://[::1', 'valid'],
      ['http://256.256.256.256/', 'valid'],
      ['http://www.127.0.0.1/', 'valid'],
      ['http://site..example/', 'valid'],
      ['http://site.example:22/', 'port 22,'],
      ['', ''],
    ] as const) {
      const { status, body } = await crawler.start(url);
      expect([url, status, body.code]).toEqual([url, 400, 'VALIDATION']);
      const detail = { path: ['body', 'url'], message: expect.stringContaining(said) };
      expect([url, body.details?.[0]]).toEqual([url, detail]);
      expect([url, (await crawler.status()).status]).toEqual([url, 'idle']);
    }
  });

  it('a URL that spells a private address in another notation is not requested, and the crawl reports that', async () => {
    // All other notations are in test/base/http.test.ts.
    for (const host of ['0xa9fea9fe', 'printer.local']) {
      const done = await crawler.crawl(`http://${host}/`);
      expect([host, done.status, done.error]).toEqual([host, 'failed', expect.stringContaining('private network')]);
    }
  });
});

describe('a site that asks crawlers to pause', () => {
  it('a site that asks crawlers to pause is not requested again before the time in its Retry-After', async () => {
    const asked: number[] = [];
    const site = await siteOf({
      '/': (_, response) => {
        asked.push(performance.now());
        if (asked.length === 1) return void response.writeHead(429, { 'retry-after': '1' }).end();
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end(page('Patience', 'The linnet waits for as long as it is asked to.'));
      },
    });
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 1 });
    expect(asked).toHaveLength(2);
    expect(asked[1]! - asked[0]!).toBeGreaterThanOrEqual(1_000);
  });

  it('a crawl reports a long pause that a site asks for, and requests the page once more after the pause', async () => {
    const asked: string[] = [];
    const site = await siteOf({
      '/': page('Start', 'The serin begins here.', ['/busy', '/calm']),
      '/calm': (_, response) => {
        asked.push('calm');
        response.writeHead(200, { 'content-type': 'text/html' }).end(page('Calm', 'The serin is calm.'));
      },
      '/busy': (_, response) => {
        asked.push('busy');
        if (asked.filter((name) => name === 'busy').length === 1)
          return void response.writeHead(429, { 'retry-after': '12' }).end();
        response.writeHead(200, { 'content-type': 'text/html' }).end(page('Busy', 'The serin was busy.'));
      },
    });
    site.pages['/robots.txt'] = 'User-agent: *\nCrawl-delay: 0.001';
    await crawler.begin(site.url);
    const waiting = await until(async () => {
      const now = await crawler.status();
      return now.error !== undefined && now;
    }, 'the status to say that the site asks for a pause');
    expect([waiting.status, waiting.error]).toEqual(['crawling', expect.stringContaining('left alone')]);
    const done = await crawler.ended();
    expect(done).toMatchObject({ status: 'completed', pages_processed: 3, problems: [] });
    expect(done.error).toBeUndefined();
    expect([asked.indexOf('busy') + 1, asked.length]).toEqual([asked.lastIndexOf('busy'), 3]);
  });

  it('a site with a long Crawl-delay is crawled completely, with one request for each page', async () => {
    const site = await siteOf({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 4',
      '/': page('Start', 'The start of the crossbill.', ['/next']),
      '/next': page('Next', 'The next page of the crossbill.'),
    });
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 2, pages_failed: 0 });
    expect([site.hits.get('/'), site.hits.get('/next'), site.hits.get('/sitemap.xml')]).toEqual([1, 1, 1]);
  });

  it('a page that asks for a pause of a day is requested once and left out with that reason', async () => {
    const later: Reply = (_, response) => void response.writeHead(503, { 'retry-after': '86400' }).end();
    const site = await siteOf({ '/': page('Start', 'The linnet reads on.', ['/later']), '/later': later });
    const done = await crawler.crawl(site.url);
    expect([done.status, reasonsOf(done)]).toEqual(['completed', { '/later': expect.stringContaining('wait') }]);
    expect(site.hits.get('/later')).toBe(1);
  });
});

describe('sitemaps', () => {
  it('a compressed sitemap index named in robots.txt leads to pages that nothing links to', async () => {
    const site = await siteOf({
      '/': page('Start', 'The start of the brambling links to nothing.'),
      '/a': page('A', 'The brambling has a first page.'),
      '/b': page('B', 'The brambling has a second page.'),
      '/c': page('C', 'The brambling has a third page.'),
    });
    const packed =
      (...paths: string[]): Reply =>
      (_, response) => {
        const urls = paths.map((path) => `<url><loc>${site.url}${path}</loc></url>`).join('');
        response.writeHead(200, { 'content-type': 'application/gzip' });
        response.end(gzipSync(`<?xml version="1.0"?><urlset>${urls}</urlset>`));
      };
    Object.assign(site.pages, {
      '/robots.txt': `User-agent: *\nDisallow: /c\n\nSitemap: ${site.url}/maps/index.xml`,
      '/maps/index.xml': `<sitemapindex><sitemap><loc>${site.url}/maps/1.xml.gz</loc></sitemap>
        <sitemap><loc>${site.url}/maps/2.xml.gz</loc></sitemap><sitemap><loc>${site.url}/maps/none.xml</loc></sitemap></sitemapindex>`,
      '/maps/1.xml.gz': packed('/a', '/c'),
      '/maps/2.xml.gz': packed('/b', '/a?utm_source=map'),
    });
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_found: 3, pages_processed: 3 });
    expect([site.hits.get('/sitemap.xml'), site.hits.get('/c')]).toEqual([undefined, undefined]);
    expect(await crawler.answer('Which page is the second of the brambling?')).toContain('second');
  });

  it('files that sitemaps list are left out with a reason, and a folder with a file-like name is crawled', async () => {
    const site = await siteOf({
      '/': page('Start', 'The crossbill has a start page.', ['/models.ai/', '/v1.zip/', '/fees.pdf', '/to-file']),
      '/models.ai/': page('Models', 'The crossbill is explained by models.', ['/models.ai/deep.png', '/fees.pdf']),
      '/v1.zip/': page('Version one', 'The crossbill came with version one.'),
      '/to-file': redirect('/answers.csv'),
      '/answers.csv': page('Answers', 'The crossbill answers in a page that is named like a file.'),
      '/sitemap.xml': '<urlset><url><loc>/picture.jpg</loc></url><url><loc>/answers.csv</loc></url></urlset>',
    });
    const done = await crawler.crawl(site.url);
    expect(done).toMatchObject({ status: 'completed', pages_processed: 4, pages_found: 5, pages_skipped: 1 });
    expect(reasonsOf(done)).toEqual({
      '/to-file': expect.stringContaining('/answers.csv'),
      '/fees.pdf': expect.stringContaining('that of a file'),
      '/models.ai/deep.png': expect.stringContaining('that of a file'),
      '/picture.jpg': expect.stringContaining('that of a file'),
    });
    expect(done.problem_counts).toContainEqual({ code: 'file', count: 3 });
    expect([site.hits.get('/fees.pdf'), site.hits.get('/picture.jpg')]).toEqual([undefined, undefined]);
  });

  it('hundreds of forbidden pages do not crowd broken links out of the crawl’s list of problems', async () => {
    const forbidden = Array.from({ length: 230 }, (_, n) => `/a-private/page-${n}`);
    const site = await siteOf({
      '/': page('Start', 'The siskin has a start page.', [...forbidden, '/z/missing', '/z/broken']),
      '/robots.txt': 'User-agent: *\nDisallow: /a-private',
      '/z/broken': broken,
    });
    const done = await crawler.crawl(site.url, { max_pages: 100 });
    expect(reasonsOf(done)).toMatchObject({
      '/z/missing': expect.stringContaining('404'),
      '/z/broken': expect.stringContaining('500'),
    });
    expect(done.problems.length).toBe(200);
    expect(done.problem_counts).toEqual([
      { code: 'server_error', count: 1 },
      { code: 'not_found', count: 1 },
      { code: 'robots', count: 230 },
    ]);
  });

  it('broken or unavailable sitemaps are listed in the problems, after the pages', async () => {
    const site = await siteOf({
      '/': page('Start', 'The start of the hawfinch.', ['/missing']),
      '/robots.txt': 'Sitemap: /cut.xml\nSitemap: /away.xml',
      '/cut.xml': '<urlset><url',
      '/away.xml': broken,
    });
    const done = await crawler.crawl(site.url);
    expect(done).toMatchObject({ status: 'completed', pages_found: 2, pages_skipped: 1, pages_failed: 0 });
    expect(done.problems).toEqual([
      { url: `${site.url}/missing`, reason: expect.stringContaining('404') },
      { url: `${site.url}/cut.xml`, reason: expect.stringContaining('broken') },
      { url: `${site.url}/away.xml`, reason: expect.stringContaining('500') },
    ]);
  });

  it('endless sitemaps cause a bounded number of requests and URLs', async () => {
    const site = await siteOf({ '/': page('Start', 'The start of the siskin has sitemaps without end.') });
    const maps = (from: number) =>
      Array.from({ length: 40 }, (_, i) => `<sitemap><loc>${site.url}/maps/${from + i}.xml</loc></sitemap>`);
    let served = 0;
    Object.assign(site.pages, {
      '/robots.txt': `Sitemap: ${site.url}/maps/0.xml\nSitemap: ${site.url}/long.xml`,
      '/long.xml': `<urlset>${Array.from({ length: 20_000 }, (_, i) => `<url><loc>${site.url}/page-${i}</loc></url>`).join('')}</urlset>`,
      '*': ((request, response) => {
        if (!request.url!.startsWith('/maps/')) return void response.writeHead(404).end();
        served += 1;
        response.writeHead(200, { 'content-type': 'application/xml' });
        response.end(`<sitemapindex>${maps(served * 40).join('')}</sitemapindex>`);
      }) satisfies Reply,
    });
    const done = await crawler.crawl(site.url, { max_pages: 1 });
    expect([done.status, done.pages_processed]).toEqual(['completed', 1]);
    expect(served).toBeLessThanOrEqual(50);
    expect(done.pages_found).toBeLessThanOrEqual(1_001);
  });
});

describe('a crawl that is cancelled while the site does not answer', () => {
  it('a cancelled crawl ends as cancelled, and closes the open connection', async () => {
    const owed: ServerResponse[] = [];
    const site = await siteOf({
      '/': page('Start', 'The start of the twite is stored before.', ['/hang']),
      '/hang': hanging(owed),
    });
    await crawler.begin(site.url);
    await until(async () => owed.length > 0, 'the request that hangs');
    const closed = once(owed[0]!, 'close');
    await crawler.cancel();
    expect(await crawler.ended()).toMatchObject({ status: 'cancelled', pages_processed: 1 });
    await closed;
    expect(await crawler.orphans()).toEqual([]);
    expect(await crawler.answer('What is the start of the twite?')).toContain('stored before');
  });
});

describe('crawls of both modes at the same time', () => {
  it('crawls of test mode and live mode that run at the same time do not see each other’s pages', async () => {
    await shared.goLive(crawler.org);
    const live = await newCrawler(shared, { org: crawler.org, mode: 'live' });
    const owed: ServerResponse[] = [];
    const site = await siteOf({ '/': hanging(owed) });
    await Promise.all([crawler.begin(site.url), live.begin(site.url)]);
    await until(async () => owed.length === 2, 'both crawls to ask for the page');
    expect([(await crawler.start(site.url)).status, (await live.start(site.url)).status]).toEqual([409, 409]);
    for (const [index, response] of owed.entries()) {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(page(`Copy ${index}`, `The fieldfare page of crawl number ${index}.`));
    }
    const done = await Promise.all([crawler.ended(), live.ended()]);
    expect(done.map(({ status, pages_processed }) => [status, pages_processed])).toEqual([
      ['completed', 1],
      ['completed', 1],
    ]);
    const titles = await Promise.all(
      [crawler, live].map(async (one) => (await one.pages()).entries.map((entry: { title: string }) => entry.title)),
    );
    expect(titles.toSorted()).toEqual([['Copy 0'], ['Copy 1']]);
  });
});

describe('a set of pages that replaces another one', () => {
  const old = {
    '/': page('Old', 'The redwing rate is one percent a year.', ['/fees', '/office']),
    '/fees': page('Old fees', 'The redwing fee is one euro a month.', ['/office']),
    '/office': page('Old office', 'The redwing office is in the first street.'),
  };
  const fresh = {
    '/': page('New', 'The redwing rate is two percent a year.', ['/fees', '/office']),
    '/fees': page('New fees', 'The redwing fee is two euros a month.', ['/office']),
  };
  const titles = async () =>
    (await crawler.pages()).entries.map((entry: { title: string }) => entry.title).toSorted() as string[];
  async function expectOld(): Promise<void> {
    expect(await titles()).toEqual(['Old', 'Old fees', 'Old office']);
    expect(await crawler.orphans()).toEqual([]);
    expect(await crawler.answer('What is the redwing rate?')).toContain('one percent');
    expect(await crawler.answer('How much is the redwing fee?')).toContain('one euro');
  }

  it('a replacing crawl keeps the old pages when the site starts to fail', async () => {
    const site = await siteOf({ ...old });
    await crawler.crawl(site.url);
    Object.assign(site.pages, { ...fresh, '/office': broken });
    const done = await crawler.crawl(site.url, { replace: true });
    expect([done.status, done.error]).toEqual(['failed', expect.stringContaining(`${site.url}/office`)]);
    expect(done.error).toContain('stay');
    await expectOld();
    delete site.pages['/office'];
    expect((await crawler.crawl(site.url, { replace: true })).status).toBe('completed');
    expect(await titles()).toEqual(['New', 'New fees']);
    expect(await crawler.answer('What is the redwing rate?')).toContain('two percent');
    expect(await crawler.orphans()).toEqual([]);
  });

  it('a replacing crawl keeps the old pages when many new pages fail, but not when one link never worked', async () => {
    await crawler.crawl((await siteOf({ ...old })).url);
    const other = await siteOf({ ...fresh, '/office': broken, '/fees': broken });
    const done = await crawler.crawl(other.url, { replace: true });
    expect([done.status, done.error]).toEqual(['failed', expect.stringContaining('2 pages')]);
    await expectOld();
    Object.assign(other.pages, fresh);
    expect((await crawler.crawl(other.url, { replace: true })).status).toBe('completed');
    expect(await titles()).toEqual(['New', 'New fees']);
    expect(await crawler.orphans()).toEqual([]);
  });

  it('cancelling a replacing crawl half-way removes its new pages and keeps the old pages', async () => {
    const site = await siteOf({ ...old });
    await crawler.crawl(site.url);
    const owed: ServerResponse[] = [];
    Object.assign(site.pages, { ...fresh, '/office': hanging(owed) });
    await crawler.begin(site.url, { replace: true });
    await until(async () => owed.length > 0, 'the request that hangs');
    expect((await crawler.status()).pages_processed).toBe(1);
    await crawler.cancel();
    expect((await crawler.ended()).status).toBe('cancelled');
    await expectOld();
  });
});
