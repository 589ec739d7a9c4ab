/** What goes on answering after a site was crawled again, and what does not: nothing is lost while a text is still on the site. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newCrawler, reasonsOf, type Crawler } from './crawling.ts';
import { system, until } from './harness.ts';
import { page, redirect, sitesOfTest, type Reply } from './sites.ts';

const shared = system();
const siteOf = sitesOfTest();
let crawler: Crawler;
beforeEach(async () => {
  crawler = await newCrawler(shared);
});

const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    void response.writeHead(code, headers).end();
const paths = async (): Promise<string[]> =>
  (await crawler.pages()).entries
    .map((entry: { source_url: string }) => new URL(entry.source_url).pathname)
    .toSorted((a: string, b: string) => a.localeCompare(b));
const rate = 'The curlew rate is two percent a year.';
const fee = 'The curlew fee is five euros a month.';

describe('a text that moves within its site', () => {
  it('to the place of another one, and that one to its place, answers from there', async () => {
    const site = await siteOf({
      '/': page('Start', 'The curlew bank has a start page.', ['/a', '/b']),
      '/a': page('Text', rate),
      '/b': page('Text', fee),
    });
    await crawler.crawl(site.url);
    Object.assign(site.pages, { '/a': site.pages['/b'], '/b': site.pages['/a'] });
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 3, pages_skipped: 0 });
    expect(await paths()).toEqual(['/', '/a', '/b']);
    expect(await crawler.answer('What is the curlew rate?')).toContain('two percent');
    expect(await crawler.answer('How much is the curlew fee?')).toContain('five euros');
    expect(await crawler.orphans()).toEqual([]);
  });

  it('to an address that is read before the old one is found gone, answers from there, with its tags', async () => {
    const site = await siteOf({
      '/': page('Start', 'The curlew bank has a start page.', ['/old/and/deep/fees']),
      '/old/and/deep/fees': page('Fees', fee),
    });
    await crawler.crawl(site.url, { segments: ['Retail'] });
    site.pages['/'] = page('Start', 'The curlew bank has a start page.', ['/fees', '/old/and/deep/fees']);
    site.pages['/fees'] = site.pages['/old/and/deep/fees']!;
    delete site.pages['/old/and/deep/fees'];
    expect((await crawler.crawl(site.url)).status).toBe('completed');
    const { entries } = await crawler.pages();
    expect(entries.map((entry: { segments: string[] }) => entry.segments)).toEqual([['retail'], ['retail']]);
    expect(await paths()).toEqual(['/', '/fees']);
  });

  it('and stays at the old address as well, is kept once', async () => {
    const site = await siteOf({
      '/': page('Start', 'The curlew bank has a start page.', ['/deep/and/old/fees']),
      '/deep/and/old/fees': page('Fees', fee),
    });
    await crawler.crawl(site.url);
    site.pages['/'] = page('Start', 'The curlew bank has a start page.', ['/fees', '/deep/and/old/fees']);
    site.pages['/fees'] = site.pages['/deep/and/old/fees']!;
    await crawler.crawl(site.url);
    expect((await paths()).length).toBe(2);
    expect(await crawler.answer('How much is the curlew fee?')).toContain('five euros');
  });

  it('by a permanent redirect, is replaced by what stands there', async () => {
    const site = await siteOf({
      '/': page('Start', 'The curlew bank has a start page.', ['/old', '/lame']),
      '/old': page('Fees', fee),
      '/lame': page('Rates', rate),
    });
    await crawler.crawl(site.url);
    Object.assign(site.pages, {
      '/old': redirect('/new'),
      '/new': page('Fees', 'The curlew fee is nine euros a month.'),
      '/lame': redirect('/broken'),
      '/broken': status(500),
    });
    await crawler.crawl(site.url);
    expect(await paths()).toEqual(['/', '/lame', '/new']);
    expect(await crawler.answer('How much is the curlew fee?')).not.toContain('five');
  });
});

describe('a site in maintenance', () => {
  const whole = () => ({
    '/': page('Start', 'The godwit bank has a start page.', ['/rates', '/fees']),
    '/rates': page('Rates', 'The godwit rate is one percent a year.'),
    '/fees': page('Fees', 'The godwit fee is one euro a month.'),
  });
  it.each([
    ['a redirect that is not for good', 302],
    ['a refusal', 403],
  ])('by %s loses no answer, also when its pages were to be replaced', async (_, code) => {
    const site = await siteOf(whole());
    await crawler.crawl(site.url);
    const away = status(code, { location: '/maintenance' });
    Object.assign(site.pages, {
      ...(code === 302 ? { '/': away } : {}),
      '/rates': away,
      '/fees': away,
      '/maintenance': page('Maintenance', 'We will be back soon.'),
    });
    const done = await crawler.crawl(site.url);
    expect(done.status).toBe('completed');
    if (code === 403) expect(reasonsOf(done)['/fees']).toContain('goes on answering');
    expect(await crawler.answer('What is the godwit rate?')).toContain('one percent');
    const replaced = await crawler.crawl(site.url, { replace: true });
    expect([replaced.status, replaced.error]).toEqual(['failed', expect.stringContaining('stay')]);
    expect(await crawler.answer('How much is the godwit fee?')).toContain('one euro');
  });
});

describe('a page whose address no longer holds its text', () => {
  it('goes when it is empty, no page, withheld or names another one that stands; it stays where one must sign in', async () => {
    const texts = ['empty', 'pdf', 'law', 'print', 'secret', 'away'];
    const site = await siteOf({
      '/': page('Start', 'The plover bank has a start page.', ['/fruit', ...texts.map((one) => `/${one}`)]),
      '/fruit': page('Fruit', 'Plover apples cost one euro.'),
      ...Object.fromEntries(texts.map((one) => [`/${one}`, page(one, `The plover text called ${one} is read.`)])),
    });
    await crawler.crawl(site.url);
    expect((await paths()).length).toBe(8);
    Object.assign(site.pages, {
      '/fruit': page('Fruit', 'Plover apples cost nine euros.'),
      '/empty': '<html><body></body></html>',
      '/pdf': status(200, { 'content-type': 'application/pdf' }),
      '/law': status(451),
      '/print': page('print', 'The plover text called print is read.', [], '<link rel="canonical" href="/fruit">'),
      '/secret': status(401),
      '/away': status(308, { location: 'https://elsewhere.example/' }),
    });
    const done = await crawler.crawl(site.url);
    expect(await paths()).toEqual(['/', '/fruit', '/secret']);
    expect(reasonsOf(done)['/secret']).toContain('goes on answering');
    expect(await crawler.orphans()).toEqual([]);
  });
});

describe('a page that names another one', () => {
  it('keeps its place when that one leads back, is refused, fails, or is the front page of a template', async () => {
    const names = (name: string, to: string) =>
      page(name, `The dunlin text called ${name} is here.`, [], `<link rel="canonical" href="${to}">`);
    const site = await siteOf({
      '/': page('Start', 'The dunlin bank has a start page.', ['/back', '/shut', '/broken', '/shell', '/one']),
      '/back': names('back', '/back/'),
      '/back/': redirect('/back'),
      '/shut': names('shut', '/forbidden'),
      '/forbidden': status(403),
      '/broken': names('broken', '/missing'),
      '/shell': names('shell', '/'),
      '/one': names('one', '/other'),
      '/other': names('other', '/one'),
    });
    const done = await crawler.crawl(site.url);
    expect([done.status, done.pages_processed]).toEqual(['completed', 6]);
    const found = await paths();
    expect(found).toEqual(expect.arrayContaining(['/back', '/shut', '/broken', '/shell']));
    expect(found.filter((path) => path === '/one' || path === '/other').length).toBe(1);
  });
});

describe('a site whose pages are all known from another one', () => {
  it('is crawled like any other', async () => {
    const pages = { '/': page('Start', 'The knot bank has a start page.') };
    await crawler.crawl((await siteOf(pages)).url);
    const done = await crawler.crawl((await siteOf(pages)).url);
    expect([done.status, done.pages_processed]).toEqual(['completed', 1]);
  });
});

describe('the status of crawls in both modes', () => {
  it('is that of the running one, and of any that is asked for', async () => {
    const { org } = crawler;
    await shared.goLive(org);
    const live = await newCrawler(shared, { org, mode: 'live' });
    const owed: (() => void)[] = [];
    const slow = await siteOf({
      '/': (_, response) => void owed.push(() => response.writeHead(200).end(page('Slow', 'The ruff is slow.'))),
    });
    const site = await siteOf({ '/': page('Quick', 'The ruff is quick.') });
    const running = await crawler.begin(slow.url);
    await until(async () => owed.length > 0, 'the request that hangs');
    const ended = (await live.crawl(site.url)).crawl_id;
    const statusOf = async (query = '') => {
      const reply = await shared.request('GET', `/orgs/${org.orgId}/crawl/status${query}`, { token: org.owner.token });
      return [reply.status, reply.body.crawl_id, reply.body.status?.status];
    };
    expect(await statusOf()).toEqual([200, running, 'crawling']);
    expect(await statusOf(`?crawl_id=${ended}`)).toEqual([200, ended, 'completed']);
    expect((await statusOf(`?crawl_id=${ended}&mode=test`))[0]).toBe(404);
    for (const answer of owed) answer();
    expect((await crawler.ended()).status).toBe('completed');
  });
});
