/**
 * A crawl turns a site into part of the knowledge base, keeps it up to date, and respects the site's limits.
 * Whatever the site does, the crawl ends and reports the reason.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { Client, Connection } from '@temporalio/client';
import { newCrawler } from '../kit/crawling.ts';
import { sharedDatabase } from '../kit/database.ts';
import { apiAt, system, until, type Api, type TestOrg } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { page, redirect, sitesOfTest, type Reply, type TestSite } from '../kit/sites.ts';
import { everyRecord } from '../../models/base/define.ts';

const siteOf = sitesOfTest();

const shared = system();
let org: TestOrg;
let token: string;
beforeEach(async () => {
  org = await shared.newOrg();
  ({ token } = await shared.newKey(org));
});

type At = { api: Api; org: TestOrg; token: string };
const here = (): At => ({ api: shared, org, token });
const start = (url: string, options: object = {}, { api, org, token }: At = here()) =>
  api.request('POST', `/orgs/${org.orgId}/crawl`, { token, body: { url, options } });
const status = async ({ api, org, token }: At = here()) =>
  (await api.request('GET', `/orgs/${org.orgId}/crawl/status`, { token })).body.status;
const ended = (at: At = here()) =>
  until(async () => {
    const now = await status(at);
    return now.status !== 'crawling' && now;
  }, 'the crawl to end');
async function crawl(url: string, options: object = {}, at: At = here()) {
  const started = await start(url, options, at);
  expect([started.status, started.body.status?.status]).toEqual([202, 'crawling']);
  return ended(at);
}
const ask = async (query: string, context?: object) =>
  (
    await shared.request('POST', `/orgs/${org.orgId}/kb/query`, {
      token,
      body: { query, ...(context ? { context } : {}) },
    })
  ).body;
const pages = async () => (await shared.request('GET', `/orgs/${org.orgId}/knowledge-base?limit=100`, { token })).body;
const pageAt = async (url: string) =>
  (await pages()).entries.find((entry: { source_url: string }) => entry.source_url === url);
const reasons = (ended: { problems: { url: string; reason: string }[] }, site: TestSite) =>
  Object.fromEntries(ended.problems.map(({ url, reason }) => [url.replace(site.url, ''), reason]));

describe('a crawl', () => {
  it('a site’s crawled pages answer questions, are cited with their addresses, and rank after all other sources', async () => {
    const site = await siteOf({
      '/': page('Curlew Bank', 'The curlew account is free of charge for students of every school.', ['/loans']),
      '/loans': page('Loans', 'A curlew loan runs for seven years and can be repaid at any time.'),
    });
    const before = await status();
    expect([before.status, before.source, before.pages_found]).toEqual(['idle', 'last_run', 0]);
    const done = await crawl(site.url);
    expect(done).toMatchObject({
      status: 'completed',
      source: 'last_run',
      pages_found: 2,
      pages_processed: 2,
      problems: [],
    });
    const answer = await ask('How long does a curlew loan run?');
    expect(answer.answer).toContain('seven years');
    expect(answer.sources).toMatchObject([{ type: 'website', name: 'Loans', url: `${site.url}/loans` }]);
    const { entries, count } = await pages();
    expect([count, entries.map((e: { authority: string }) => e.authority)]).toEqual([2, ['background', 'background']]);

    const { body } = await shared.upload(org.orgId, token, {
      name: 'loan.md',
      content: 'A curlew loan runs for nine years.',
    });
    await shared.processed(org.orgId, token, body.document.doc_id);
    expect((await ask('How long does a curlew loan run?')).answer).toContain('nine years');
  });

  it('a crawl reports a reason in words for every page it leaves out', async () => {
    const text = 'The sandpiper card is accepted in forty countries and has no yearly fee at all.';
    const site = await siteOf({
      '/robots.txt': 'User-agent: *\nDisallow: /private/',
      '/': page('Start', text, [
        '/private/a',
        '/missing',
        '/hidden',
        '/moved',
        '/copy',
        '/data.json',
        '/print',
        '/nothing',
        '/broken',
        '/away',
      ]),
      '/hidden': page(
        'Hidden',
        'Nobody shall find the hidden sandpiper.',
        [],
        '<meta name="robots" content="noindex">',
      ),
      '/moved': redirect('/'),
      '/away': redirect('https://elsewhere.example/'),
      '/copy': page('Start', text),
      '/data.json': (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
      '/print': page('Printed', `Printed: ${text}`, [], '<link rel="canonical" href="/copy">'),
      '/nothing': '<html><body></body></html>',
      '/broken': (_, response) => void response.writeHead(500).end(),
    });
    const done = await crawl(site.url);
    expect(done).toMatchObject({ status: 'completed', pages_processed: 1, pages_skipped: 9, pages_failed: 1 });
    expect(reasons(done, site)).toEqual({
      '/private/a': expect.stringContaining('robots.txt'),
      '/missing': expect.stringContaining('404'),
      '/hidden': expect.stringContaining('noindex'),
      '/moved': expect.stringContaining(`${site.url}/`),
      '/away': expect.stringContaining('elsewhere.example'),
      '/copy': expect.stringContaining('duplicate'),
      '/data.json': expect.stringContaining('application/json'),
      '/print': expect.stringContaining('names'),
      '/nothing': expect.stringContaining('no text'),
      '/broken': expect.stringContaining('500'),
    });
    expect(site.hits.get('/private/a')).toBeUndefined();
  });

  it('a crawl finds pages that only a sitemap lists, and requests nothing outside its path', async () => {
    const site = await siteOf({
      '/sitemap.xml': '',
      '/help/': page('Help', 'The plover desk is open on weekdays from nine to five.', ['/news/', '/help/b']),
      '/help/b': page('Branches', 'The plover branch stands beside the old harbour wall.'),
      '/help/c': page('Cards', 'A lost plover card is replaced within two working days.'),
      '/news/': page('News', 'The plover festival begins in June this year.'),
    });
    site.pages['/sitemap.xml'] = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <url><loc>${site.url}/help/c?utm_source=map</loc></url><url><loc>${site.url}/news/</loc></url></urlset>`;
    const done = await crawl(`${site.url}/help/`);
    expect((await pages()).entries.map((e: { title: string }) => e.title).toSorted()).toEqual([
      'Branches',
      'Cards',
      'Help',
    ]);
    expect([done.status, site.hits.get('/news/')]).toEqual(['completed', undefined]);
  });

  it('a crawl ends at its page limit, and abandons an endless calendar before it uses up that limit', async () => {
    const day = (n: number) =>
      page(`Day ${n}`, `On day ${n} the ruff meets nobody in particular.`, [`/calendar/2026/${n + 1}`, `/day?d=${n}`]);
    const site = await siteOf({
      '/': page('Start', 'The ruff keeps a calendar.', [
        '/calendar/2026/1',
        ...Array.from({ length: 8 }, (_, i) => `/topic-${String.fromCharCode(97 + i)}`),
      ]),
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, i) => [
          `/topic-${String.fromCharCode(97 + i)}`,
          page(`Topic ${i}`, `Topic number ${i} of the ruff is a real one.`),
        ]),
      ),
      '*': (request, response) => {
        const n = Number(/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0);
        response.writeHead(request.url === '/robots.txt' || request.url === '/sitemap.xml' ? 404 : 200, {
          'content-type': 'text/html',
        });
        response.end(day(n));
      },
    });
    const done = await crawl(site.url, { max_pages: 30 });
    expect(done.status).toBe('completed');
    expect(done.pages_processed).toBeLessThanOrEqual(30);
    const titles = (await pages()).entries.map((e: { title: string }) => e.title);
    expect(titles.filter((title: string) => title.startsWith('Topic'))).toHaveLength(8);
  });

  it('a crawl waits while robots.txt is unavailable, shows the reason in its status, and requests no page meanwhile', async () => {
    const site = await siteOf({
      '/robots.txt': (_, response) => void response.writeHead(503).end(),
      '/': page('Start', 'The siskin page is not to be fetched yet.'),
    });
    expect((await start(site.url)).status).toBe(202);
    const said = await until(async () => (await status()).error, 'the status to say why nothing happens');
    expect(said).toContain('robots.txt cannot be had now (503)');
    expect((await status()).status).toBe('crawling');
    await (await newCrawler(shared, { org })).cancel();
    expect(await ended()).not.toHaveProperty('error');
    expect([(await status()).status, site.hits.get('/')]).toEqual(['cancelled', undefined]);
  });

  it('a crawl ends, with a reason for each page, on a site with endless, too large, broken-off or mislabelled responses', async () => {
    const html = { 'content-type': 'text/html' };
    const site = await siteOf({
      '/': page('Start', 'The shrike has a page that can be read.', [
        '/endless',
        '/bomb',
        '/cut',
        '/many',
        '/charset',
        '/deep',
      ]),
      '/endless': (_, response) => {
        response.writeHead(200, html);
        const more = (): void => {
          while (!response.destroyed && response.write('<p>and so on</p>'.repeat(4_000)));
        };
        response.on('drain', more);
        more();
      },
      '/bomb': (_, response) =>
        void response
          .writeHead(200, { ...html, 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(50 * 1024 * 1024))),
      '/cut': (_, response) => {
        response.writeHead(200, { ...html, 'content-length': '1000' });
        response.write('<html>');
        setImmediate(() => response.destroy());
      },
      '/many': page(
        'Many',
        'A shrike page with very many links.',
        Array.from({ length: 20_000 }, (_, i) => `/n${i}`),
      ),
      '/charset': (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html; charset=klingon' })
          .end(page('Odd', 'The shrike café has an odd charset.')),
      '/deep': `<title>Deep</title>${'<div>'.repeat(20_000)}The shrike is deep down.`,
    });
    const done = await crawl(site.url, { max_pages: 4 });
    expect(done.status).toBe('completed');
    expect(done.pages_found).toBeLessThanOrEqual(5_100);
    expect((await ask('What has the shrike café?')).answer).toContain('café');
    const said = reasons(done, site);
    expect(said).toMatchObject({
      '/endless': expect.stringContaining('larger'),
      '/bomb': expect.stringContaining('larger'),
      '/cut': expect.stringContaining('broke'),
      '/deep': expect.stringContaining('could not be read'),
    });
  });

  it('a crawl fails on a private address with the reason', async () => {
    const done = await crawl('http://169.254.169.254/latest/');
    expect([done.status, done.error]).toEqual(['failed', expect.stringContaining('private network')]);
  });

  it('a crawl is refused for a URL that cannot be a page, and while another crawl of the site runs', async () => {
    for (const url of ['ftp://a.example/', 'file:///etc/passwd', 'https://user:pw@a.example/', 'nonsense']) {
      const { status, body } = await start(url);
      expect([url, status, body.code]).toEqual([url, 400, 'VALIDATION']);
    }
    const site = await siteOf({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 20',
      '/': page('A', 'The godwit waits for its turn.'),
    });
    const both = await Promise.all([start(site.url), start(site.url)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([202, 409]);
    expect(both.find(({ status }) => status === 409)?.body.code).toBe('CRAWL_RUNNING');
    await (await newCrawler(shared, { org })).cancel();
    expect((await ended()).status).toBe('cancelled');
    const again = await shared.request('POST', `/orgs/${org.orgId}/crawl/cancel`, { token, body: {} });
    expect([again.status, again.body.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('a crawl whose workflow an operator terminated', () => {
  it('a crawl whose workflow an operator terminated can be cancelled, after which the next crawl can start', async () => {
    const site = await siteOf({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 20',
      '/': page('A', 'The dipper waits for its turn.'),
    });
    const { body } = await start(site.url);
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    try {
      const handle = new Client({ connection }).workflow.getHandle(`crawl:${body.crawl_id}`);
      await until(async () => site.hits.has('/robots.txt'), 'the workflow to be at work');
      await handle.terminate('test');
    } finally {
      await connection.close();
    }
    expect((await start(site.url)).status).toBe(409);
    await (await newCrawler(shared, { org })).cancel();
    expect(await status()).toMatchObject({ status: 'cancelled', error: 'Its workflow was terminated.' });
    delete site.pages['/robots.txt'];
    const other = await siteOf({ '/': page('B', 'The dipper has another site to read.') });
    expect((await crawl(other.url)).status).toBe('completed');
  });
});

describe('a crawl of a site that was crawled before', () => {
  it('a repeated crawl indexes changed pages, keeps unchanged ones with their tags, and removes missing ones', async () => {
    const tagged =
      (text: string, links: string[]): Reply =>
      (request, response) => {
        const etag = `"${text.length}"`;
        if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
        response.writeHead(200, { 'content-type': 'text/html', etag }).end(page('Front', text, links));
      };
    const site = await siteOf({
      '/': tagged('The avocet account has a front page.', ['/fee', '/old', '/same']),
      '/fee': page('Fee', 'The avocet fee is three euros a month.'),
      '/old': page('Old', 'The avocet bonus ends in spring.'),
      '/same': page('Same', 'The avocet hotline is open all day.'),
    });
    expect((await crawl(site.url, { segments: ['Retail'] })).pages_processed).toBe(4);
    const fee = await pageAt(`${site.url}/fee`);
    await shared.request('PATCH', `/orgs/${org.orgId}/knowledge-base/${fee.page_id}/authority`, {
      token,
      body: { authority: 'primary' },
    });

    site.pages['/fee'] = page('Fee', 'The avocet fee is four euros a month.');
    delete site.pages['/old'];
    const second = await crawl(site.url);
    expect(second).toMatchObject({ status: 'completed', pages_processed: 3, pages_unchanged: 2, pages_skipped: 1 });
    expect(await pageAt(`${site.url}/fee`)).toMatchObject({
      page_id: fee.page_id,
      authority: 'primary',
      segments: ['retail'],
    });
    expect((await ask('How much is the avocet fee?')).answer).toContain('four euros');
    expect(await pageAt(`${site.url}/old`)).toBeUndefined();
    expect((await ask('When does the avocet bonus end?')).answer).not.toContain('spring');

    await crawl(site.url, { segments: ['business'] });
    for (const entry of (await pages()).entries) expect(entry.segments).toEqual(['business']);
    expect((await ask('How much is the avocet fee?', { productType: 'retail' })).has_context).toBe(false);
  });

  it('a crawl with `replace` swaps the whole set of pages, and keeps the old set when the crawl fails', async () => {
    const site = await siteOf({
      '/': page('One', 'The dunlin rate is one percent a year.', ['/two']),
      '/two': page('Two', 'The dunlin office is in the second street.'),
    });
    const other = await siteOf({ '/': page('Three', 'The knot rate is three percent a year.') });
    await crawl(site.url);
    const failed = await crawl(`${other.url}/nothing/`, { replace: true });
    expect([failed.status, (await pages()).count]).toEqual(['failed', 2]);
    expect((await ask('What is the dunlin rate?')).answer).toContain('one percent');

    expect((await crawl(other.url, { replace: true, authority: 'normal' })).status).toBe('completed');
    const { entries } = await pages();
    expect(entries.map((e: { title: string; authority: string }) => [e.title, e.authority])).toEqual([
      ['Three', 'normal'],
    ]);
    expect((await ask('What is the dunlin rate?')).has_context).toBe(false);
    expect((await ask('What is the knot rate?')).answer).toContain('three percent');
  });
});

describe('a crawled page', () => {
  it('a crawled page is used in no answer after it is deleted, until a new crawl finds it again', async () => {
    const site = await siteOf({ '/': page('Whimbrel', 'The whimbrel deposit is guaranteed by the state.') });
    await crawl(site.url);
    const { page_id } = await pageAt(`${site.url}/`);
    const path = `/orgs/${org.orgId}/knowledge-base/${page_id}`;
    expect((await shared.request('DELETE', path, { token })).status).toBe(200);
    expect((await ask('Is the whimbrel deposit guaranteed?')).has_context).toBe(false);
    expect((await shared.request('DELETE', path, { token })).status).toBe(404);
    await crawl(site.url);
    expect((await ask('Is the whimbrel deposit guaranteed?')).answer).toContain('guaranteed');
  });

  it('a crawled page is invisible to other organizations, and cannot be deleted by them', async () => {
    const site = await siteOf({ '/': page('Turnstone', 'The turnstone vault is under the lake.') });
    await crawl(site.url);
    const { page_id } = await pageAt(`${site.url}/`);
    const stranger = await shared.newOrg();
    const other = (await shared.newKey(stranger)).token;
    const at = (path: string, method = 'GET', body?: object) =>
      shared.request(method, `/orgs/${stranger.orgId}${path}`, { token: other, ...(body ? { body } : {}) });
    expect((await at('/knowledge-base')).body.entries).toEqual([]);
    expect((await at('/crawl/status')).body.status.status).toBe('idle');
    expect((await at(`/knowledge-base/${page_id}/segments`, 'PATCH', { segments: ['x'] })).status).toBe(404);
    expect((await at(`/knowledge-base/${page_id}`, 'DELETE')).status).toBe(404);
    const { body } = await shared.request('POST', `/orgs/${stranger.orgId}/kb/query`, {
      token: other,
      body: { query: 'Where is the turnstone vault?' },
    });
    expect(body.has_context).toBe(false);
  });
});

describe('prune', () => {
  const db = sharedDatabase();
  const prune = async (body: object = {}) =>
    (await shared.request('POST', `/orgs/${org.orgId}/knowledge-base/prune`, { token, body })).body;

  it('pruning reports passages without a page, pages without passages and old versions of pages, and removes them on request', async () => {
    const site = await siteOf({
      '/': page('Start', 'The smew account has a start page.', ['/whole', '/half', '/lost']),
      '/whole': page('Whole', 'The smew page that is whole stays as it is.'),
      '/half': page('Half', 'The smew page of which only half is left.'),
      '/lost': page('Lost', 'The smew page whose record is lost.'),
    });
    await crawl(site.url);
    expect(await prune({ apply: true })).toEqual({ orphaned: [], live: 4, deleted: 0 });
    const { page_id: half } = await pageAt(`${site.url}/half`);
    const { page_id: lost } = await pageAt(`${site.url}/lost`);
    const { page_id: whole } = await pageAt(`${site.url}/whole`);
    const chunks = db().collection<{ _id: string; source_id: string; generation: number }>('chunks');
    await chunks.deleteMany({ source_id: half }, everyRecord);
    await db().collection<{ _id: string }>('pages').deleteOne({ _id: lost });
    const kept = (await chunks.findOne({ source_id: whole }, everyRecord))!;
    await chunks.insertOne({ ...kept, _id: `${whole}:9:0`, generation: 9 });

    const found = await prune();
    expect(
      found.orphaned.toSorted((a: { url?: string }, b: { url?: string }) => (a.url ?? '').localeCompare(b.url ?? '')),
    ).toEqual([
      { source_id: lost, chunks: 1 },
      { source_id: half, url: `${site.url}/half`, chunks: 0 },
      { source_id: whole, url: `${site.url}/whole`, chunks: 1 },
    ]);
    expect([found.live, found.deleted]).toEqual([2, 0]);
    expect(await prune({ apply: true })).toMatchObject({ deleted: 3 });
    await until(async () => (await prune()).orphaned.length === 0, 'the orphans to be removed');
    expect(await prune()).toEqual({ orphaned: [], live: 2, deleted: 0 });
    const standing = () => db().collection('prunings').countDocuments({ org_id: org.orgId });
    await until(async () => (await standing()) === 0, 'the decision to be forgotten');
    expect((await ask('Which smew page stays as it is?')).answer).toContain('whole');
    expect(await pageAt(`${site.url}/half`)).toBeUndefined();
  });
});

describe('in a separate system', () => {
  it('a crawl whose worker was killed continues without requesting the start page again, and stops at the page quota', async () => {
    const env = systemEnv('crawlkill', { FLEETS: 'crawl', LIMITS: 'sandbox_pages=30' });
    const running: Running[] = [];
    try {
      const process = await startProcess('api/server.ts', env);
      running.push(process);
      const api = apiAt(process.url);
      const org = await api.newOrg();
      const at: At = { api, org, token: (await api.newKey(org)).token };
      const links = Array.from({ length: 60 }, (_, i) => `/page-${i}-of-the-site`);
      let released = false;
      const waiting: (() => void)[] = [];
      const site = await siteOf({
        '/': page('Start', 'The site of the phalarope begins here.', links),
        ...Object.fromEntries(
          links.map((link, i): [string, Reply] => [
            link,
            (_, response) => {
              const answer = () =>
                void response
                  .writeHead(200, { 'content-type': 'text/html' })
                  .end(page(link, `Page ${i} is about phalarope number ${i}.`));
              if (released || i % 60 < 20) answer();
              else waiting.push(answer);
            },
          ]),
        ),
      });
      const first = await startProcess('test/kit/worker.ts', env);
      expect((await start(site.url, { max_pages: 100 }, at)).status).toBe(202);
      await until(async () => waiting.length > 0, 'the site to be in the middle of it');
      const before = await status(at);
      const death = once(first.child, 'exit');
      await first.kill();
      await death;
      released = true;
      for (const answer of waiting) answer();
      const stored = new Map(site.hits);
      running.push(await startProcess('test/kit/worker.ts', env));
      const done = await ended(at);
      expect([done.status, done.pages_processed]).toEqual(['limit_reached', 30]);
      expect(done.error).toContain('30 pages');
      expect(before.pages_processed).toBeGreaterThan(0);
      expect(site.hits.get('/')).toBe(stored.get('/'));
    } finally {
      await Promise.all(running.map((process) => process.stop()));
      await removeDataDir(env);
    }
  });
});
