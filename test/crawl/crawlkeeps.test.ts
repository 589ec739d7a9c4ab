/** Which pages still answer after a site is crawled again: a text that is still on the site is never lost. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newCrawler, reasonsOf, type Crawler } from '../kit/crawling.ts';
import { system, until } from '../kit/harness.ts';
import { page, redirect, sitesOfTest, type Reply } from '../kit/sites.ts';

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
  it('when two pages of a site swap their texts, each text is found at its new URL', async () => {
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

  it('a text that moved keeps its tags and leaves the old URL, even when the new URL is crawled first', async () => {
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

  it('a text that is at a new URL and still at the old URL is stored once', async () => {
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

  it('a permanently redirected page is replaced by the page at the target, and stays when the target fails', async () => {
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

describe('a page that moved and changed its text', () => {
  it.each([
    ['by a permanent redirect', redirect('/limits/'), ['/limits']],
    ['by two permanent redirects', redirect('/moved'), ['/limits']],
    [
      'by a canonical link',
      page('Limits', 'The limits are elsewhere.', [], '<link rel="canonical" href="/limits/">'),
      ['/limits'],
    ],
    ['by a redirect, and the new URL is crawled before the old one', redirect('/limits/'), ['/limits/', '/links']],
  ])('a page that moved and changed its text keeps its tags: it moved %s', async (_, away, links) => {
    const start = (to: string[]) => page('Start', 'The whimbrel bank has a start page.', to);
    const site = await siteOf({
      '/': start(['/limits']),
      '/limits': page('Limits', 'The whimbrel limit is forty thousand euros.'),
    });
    await crawler.crawl(site.url, { segments: ['Staff'] });
    Object.assign(site.pages, {
      '/': start(links),
      '/links': page('Links', 'The whimbrel bank has links.', ['/limits']),
      '/limits': away,
      '/moved': redirect('/limits/'),
      '/limits/': page('Limits', 'The whimbrel limit is fifty thousand euros.'),
    });
    expect((await crawler.crawl(site.url)).status).toBe('completed');
    const { entries } = await crawler.pages();
    const limits = entries.filter((entry: { source_url: string }) => entry.source_url.includes('limits'));
    expect(limits).toMatchObject([{ source_url: `${site.url}/limits/`, segments: ['staff'] }]);
    expect(await crawler.orphans()).toEqual([]);
  });
});

describe('a page whose version (ETag) is no longer sent', () => {
  it('a page whose version (ETag) is no longer sent is fetched again when the site returns to the former version', async () => {
    let text = 'The avocet fee is five euros a month.';
    const site = await siteOf({
      '/': (request, response) => {
        const first = text.includes('five');
        if (first && request.headers['if-none-match'] === '"one"') return void response.writeHead(304).end();
        response.writeHead(200, { 'content-type': 'text/html', ...(first ? { etag: '"one"' } : {}) });
        response.end(page('Fees', text));
      },
    });
    await crawler.crawl(site.url);
    text = 'The avocet fee is nine euros a month.';
    await crawler.crawl(site.url);
    expect(await crawler.answer('How much is the avocet fee?')).toContain('nine');
    text = 'The avocet fee is five euros a month.';
    expect(await crawler.crawl(site.url)).toMatchObject({ pages_unchanged: 0, pages_processed: 1 });
    expect(await crawler.answer('How much is the avocet fee?')).toContain('five');
    expect(await crawler.crawl(site.url)).toMatchObject({ pages_unchanged: 1 });
  });
});

describe('a page that answers with Retry-After', () => {
  it('a page that answers with Retry-After is fetched last, while the other pages are fetched meanwhile', async () => {
    const asked: string[] = [];
    const note = (reply: Reply): Reply => {
      return (request, response) => {
        asked.push(request.url!);
        if (typeof reply === 'function') return reply(request, response);
        response.writeHead(200, { 'content-type': 'text/html' }).end(reply);
      };
    };
    const others = Array.from({ length: 6 }, (_, n) => `/products/${n}`);
    const busy = note((request, response) => {
      if (asked.filter((path) => path === request.url).length > 1) {
        response.writeHead(200, { 'content-type': 'text/html' }).end(page('Busy', 'The dotterel page is here again.'));
      } else response.writeHead(503, { 'retry-after': '4' }).end();
    });
    const site = await siteOf({
      '/': page('Start', 'The dotterel bank has a start page.', ['/busy', ...others]),
      '/busy': busy,
      // The delay makes the crawl request pages one by one, so they arrive in the order of their requests.
      '/robots.txt': 'User-agent: *\nCrawl-delay: 0.001',
      ...Object.fromEntries(others.map((one) => [one, note(page(one, `The dotterel product ${one} is sold.`))])),
    });
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 8, pages_failed: 0 });
    // The page is requested first, because it is nearest to the start, and again last.
    expect([asked[0], asked.at(-1), asked.length]).toEqual(['/busy', '/busy', 8]);
  });
});

describe('a site in maintenance', () => {
  const whole = () => ({
    '/': page('Start', 'The godwit bank has a start page.', ['/rates', '/fees']),
    '/rates': page('Rates', 'The godwit rate is one percent a year.'),
    '/fees': page('Fees', 'The godwit fee is one euro a month.'),
  });

  it.each([
    ['answers the start page with a notice and all other pages with 503', status(503)],
    ['answers all pages with the same notice', page('Maintenance', 'We will be back soon.')],
  ])('when a site in maintenance %s, no page is lost, even in a replacing crawl', async (_, others) => {
    const site = await siteOf(whole());
    await crawler.crawl(site.url);
    site.pages['/'] = page('Maintenance', 'We will be back soon.');
    Object.assign(site.pages, { '/rates': others, '/fees': others });
    const replaced = await crawler.crawl(site.url, { replace: true });
    expect([replaced.status, replaced.error]).toEqual(['failed', expect.stringContaining('stay')]);
    expect((await paths()).length).toBe(3);
    expect(await crawler.answer('How much is the godwit fee?')).toContain('one euro');
  });

  it('when a site answers every address with the same notice, an ordinary crawl loses no page and no segments', async () => {
    const site = await siteOf(whole());
    await crawler.crawl(site.url, { segments: ['Retail'] });
    const tags = async () =>
      (await crawler.pages()).entries.map((entry: { segments: string[] }) => entry.segments.join());
    const notice = page('Maintenance', 'We will be back soon.', ['/rates', '/fees']);
    Object.assign(site.pages, { '/': notice, '/rates': notice, '/fees': notice });
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 1, pages_skipped: 2 });
    expect([await paths(), await tags()]).toEqual([
      ['/', '/fees', '/rates'],
      ['retail', 'retail', 'retail'],
    ]);
    Object.assign(site.pages, whole());
    expect(await crawler.crawl(site.url)).toMatchObject({ pages_processed: 3, pages_unchanged: 2, pages_skipped: 0 });
    expect(await tags()).toEqual(['retail', 'retail', 'retail']);
  });

  it('an ordinary crawl removes a page that has become a duplicate of another page', async () => {
    const site = await siteOf(whole());
    await crawler.crawl(site.url);
    site.pages['/fees'] = site.pages['/rates']!;
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 2, pages_skipped: 1 });
    expect(await paths()).toEqual(['/', '/rates']);
    expect(await crawler.orphans()).toEqual([]);
  });

  it('a replacing crawl removes a page that the site has deleted and no longer links to', async () => {
    const site = await siteOf(whole());
    await crawler.crawl(site.url);
    delete site.pages['/rates'];
    site.pages['/'] = page('Start', 'The godwit bank has a new start page.', ['/fees']);
    expect((await crawler.crawl(site.url, { replace: true })).status).toBe('completed');
    expect(await paths()).toEqual(['/', '/fees']);
  });

  it.each([
    ['a temporary redirect', 302],
    ['the status 403', 403],
  ])('no page is lost by maintenance announced with %s, even in a replacing crawl', async (_, code) => {
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

describe('a page whose URL no longer has its text', () => {
  it('a crawl removes pages that are empty, no HTML, legally blocked, moved away or copies, and keeps pages behind a login', async () => {
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

describe('a page whose canonical link names another page', () => {
  it('a page stays indexed when its canonical link names a forbidden or failing page, the front page, or a page redirecting back', async () => {
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

describe('a site whose pages are all copies of another site’s', () => {
  it('a site is crawled even when all its pages have the same text as pages of another crawled site', async () => {
    const pages = { '/': page('Start', 'The knot bank has a start page.') };
    await crawler.crawl((await siteOf(pages)).url);
    const done = await crawler.crawl((await siteOf(pages)).url);
    expect([done.status, done.pages_processed]).toEqual(['completed', 1]);
  });
});

describe('the status of crawls in both modes', () => {
  it('the crawl status shows a member the crawl that runs in either mode, or the crawl whose id is given', async () => {
    const { org } = crawler;
    await shared.goLive(org);
    const live = await newCrawler(shared, { org, mode: 'live' });
    const owed: (() => void)[] = [];
    let released = false;
    const slow = await siteOf({
      '/': (_, response) => {
        const answer = () => response.writeHead(200).end(page('Slow', 'The ruff is slow.'));
        // The crawler may have given up the hanging request and may ask again.
        if (released) answer();
        else owed.push(answer);
      },
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
    released = true;
    for (const answer of owed) answer();
    expect((await crawler.ended()).status).toBe('completed');
  });
});
