/** Crawls in a hostile network, with a simulated name server and Internet: no request reaches a forbidden address. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newCrawler, reasonsOf, type Crawler } from '../kit/crawling.ts';
import { startDns, type TestDns } from '../kit/dns.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { page, redirect, sitesOfTest, startSite, type Reply, type TestSite } from '../kit/sites.ts';

/** For the worker this is an ordinary public address; the simulated Internet routes it to a site on loopback. */
const publicAddress = '93.184.215.14';

let dns: TestDns;
let api: Api;
let crawler: Crawler;
/** The only site on loopback that may be crawled, including its port. */
let site: TestSite;
let env: SystemEnv;
const running: Running[] = [];
beforeAll(async () => {
  [dns, site] = await Promise.all([startDns(), startSite({})]);
  env = systemEnv('crawlnetwork', {
    FLEETS: 'crawl',
    EGRESS_ALLOW: `${new URL(site.url).host},bücher.test`,
    TEST_DNS: String(dns.port),
    TEST_INTERNET: publicAddress,
    TEST_LIMITS: JSON.stringify({ headersTimeoutMs: 5_000, totalTimeoutMs: 6_000 }),
  });
  const started = await Promise.all([startProcess('api/server.ts', env), startProcess('test/kit/crawlworker.ts', env)]);
  running.push(...started);
  api = apiAt(started[0].url);
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await Promise.all([dns.close(), site.close(), removeDataDir(env)]);
});

const otherSite = sitesOfTest();
beforeEach(async () => {
  site.pages = {};
  site.hits.clear();
  dns.names = {};
  crawler = await newCrawler(api);
});

/** A page that closes its connection, so that the next request resolves the name again. */
const once =
  (html: string): Reply =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', connection: 'close' });
    response.end(html);
  };
const none: Reply = (_, response) => void response.writeHead(404, { connection: 'close' }).end();

describe('a page that redirects to a forbidden address', () => {
  it('a page that redirects to a forbidden address is left out with its reason, and the target is not requested', async () => {
    const service = await otherSite({ '*': 'The pintail keeps a secret here.' });
    site.pages = {
      '/': page('Start', 'The pintail has a start page.', [
        '/metadata',
        '/file',
        '/private',
        '/port',
        '/round',
        '/itself',
        '/script',
        '/good',
      ]),
      '/metadata': redirect('http://169.254.169.254/latest/meta-data'),
      '/file': redirect('file:///etc/passwd'),
      '/private': redirect('http://10.0.0.1'),
      '/port': redirect(`${service.url}/admin`),
      '/round': redirect('/round/2'),
      '/round/2': redirect('/round/3'),
      '/round/3': redirect('/round'),
      '/itself': redirect('/itself'),
      '/script': redirect('javascript:alert(1)'),
      '/good': page('Good', 'The pintail is read in spite of all that.'),
    };
    const done = await crawler.crawl(site.url);
    expect([done.status, done.pages_processed]).toEqual(['completed', 2]);
    expect(reasonsOf(done)).toEqual({
      '/metadata': expect.stringContaining('http://169.254.169.254/latest/meta-data outside the part'),
      '/file': expect.stringContaining('leads to file:///etc/passwd outside the part'),
      '/private': expect.stringContaining('http://10.0.0.1/ outside the part'),
      '/port': expect.stringContaining(`${service.url}/admin outside the part`),
      '/round': expect.stringContaining('/round/2'),
      '/round/2': expect.stringContaining('/round/3'),
      '/round/3': expect.stringContaining('/round'),
      '/itself': expect.stringContaining('in a circle'),
      '/script': expect.stringContaining('leads to javascript:alert(1) outside the part'),
    });
    expect(service.hits.size).toBe(0);
    expect([...site.hits].filter(([path]) => path.startsWith('/round')).map(([, count]) => count)).toEqual([1, 1, 1]);
    expect(await crawler.answer('Is the pintail read in spite of all that?')).toContain('in spite');
  });

  it('a redirect of robots.txt or a sitemap to a forbidden address is not followed', async () => {
    const service = await otherSite({ '*': `User-agent: *\nDisallow: /` });
    site.pages = {
      '/robots.txt': redirect(`${service.url}/robots.txt`),
      '/sitemap.xml': redirect(`${service.url}/sitemap.xml`),
      '/': page('Start', 'The gadwall has a start page and nothing else.'),
    };
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 1 });
    site.pages['/robots.txt'] = `Sitemap: ${service.url}/map.xml\nSitemap: http://169.254.169.254/map.xml`;
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 1 });
    expect(service.hits.size).toBe(0);
  });

  it('a forbidden address cannot be the start of a crawl, and the reason names the setting `EGRESS_ALLOW`', async () => {
    const service = await otherSite({ '*': 'The gadwall keeps a secret here.' });
    const done = await crawler.crawl(service.url);
    expect([done.status, done.error]).toEqual(['failed', expect.stringContaining('private network')]);
    expect(done.error).toContain('EGRESS_ALLOW');
    expect(service.hits.size).toBe(0);
  });
});

describe('a host name whose DNS answer changes (DNS rebinding)', () => {
  it('a crawl sends no further request to a host name that has changed to a loopback address', async () => {
    // robots.txt, the sitemap and the first page are requested at the public address; then the name resolves to
    // loopback.
    dns.names = { 'rebind.test': [publicAddress, publicAddress, publicAddress, '127.0.0.1'] };
    const victim = await otherSite({
      '/robots.txt': none,
      '/sitemap.xml': none,
      '/': once(page('Start', 'The wigeon has a public start page.', ['/admin', '/secret'])),
      '/admin': once(page('Admin', 'The wigeon keeps a secret here.')),
      '/secret': once(page('Secret', 'The wigeon keeps another secret here.')),
    });
    const done = await crawler.crawl(`http://rebind.test:${new URL(victim.url).port}/`);
    expect([done.status, done.pages_processed]).toEqual(['completed', 1]);
    expect(reasonsOf(done)).toEqual({
      '/admin': expect.stringContaining('private network'),
      '/secret': expect.stringContaining('private network'),
    });
    expect([...victim.hits.keys()].toSorted()).toEqual(['/', '/robots.txt', '/sitemap.xml']);
    expect(dns.asked.filter((name) => name === 'rebind.test').length).toBeGreaterThanOrEqual(4);
  });

  it.each([
    ['10.0.0.1.nip.test', '10.0.0.1'],
    ['xn--mnchen-3ya.test', '127.0.0.1'],
  ])('a host name that resolves to a private address from the start, %s, is not reached', async (name, address) => {
    const service = await otherSite({ '*': 'The wigeon keeps a secret here.' });
    dns.names = { [name]: [address] };
    const done = await crawler.crawl(
      `http://${name.replace('xn--mnchen-3ya', 'münchen')}:${new URL(service.url).port}/`,
    );
    expect([done.status, done.error]).toEqual(['failed', expect.stringContaining('private network')]);
    expect([service.hits.size, dns.asked.includes(name)]).toEqual([0, true]);
  });

  it('an internationalized host name can be crawled, and an operator can name it in EGRESS_ALLOW', async () => {
    const shop = await otherSite({ '/': page('Bücher', 'The garganey sells books in every script.') });
    dns.names = { 'xn--bcher-kva.test': ['127.0.0.1'] };
    const done = await crawler.crawl(`http://BÜCHER.test:${new URL(shop.url).port}/`);
    expect([done.status, done.pages_processed]).toEqual(['completed', 1]);
    expect((await crawler.pages()).entries[0].source_url).toContain('http://xn--bcher-kva.test:');
  });
});

describe('a host that does not exist', () => {
  it('a crawl of a host that does not exist fails at once with the host’s name, and keeps the old pages', async () => {
    site.pages = { '/': page('Start', 'The pochard stays where it is.') };
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 1 });
    const done = await crawler.crawl('http://mistyped.test/help', { replace: true });
    expect(done).toMatchObject({ status: 'failed', pages_processed: 0, pages_failed: 1 });
    expect(done.error).toContain('no host with the name mistyped.test');
    expect(done.problems).toEqual([{ url: 'http://mistyped.test/help', reason: done.error }]);
    // Only robots.txt was requested, once: the crawl did not wait for a retry.
    expect(dns.asked.filter((name) => name === 'mistyped.test').length).toBe(1);
    expect(await crawler.answer('Does the pochard stay where it is?')).toContain('stays');
  });
});

describe('a page that is sent very slowly', () => {
  it('a page that is sent very slowly is aborted at the time limit, and other pages are crawled', async () => {
    const begun: number[] = [];
    const drips: NodeJS.Timeout[] = [];
    site.pages = {
      '/': page('Start', 'The shoveler has a start page.', ['/drip', '/quick']),
      '/quick': page('Quick', 'The shoveler has a quick page as well.'),
      '/drip': (_, response) => {
        begun.push(1);
        response.writeHead(200, { 'content-type': 'text/html' });
        const drip = setInterval(() => response.write('<p>and'), 20);
        drips.push(drip);
        response.on('close', () => {
          clearInterval(drip);
          begun.pop();
        });
      },
    };
    const done = await crawler.crawl(site.url);
    expect([done.status, done.pages_processed, done.pages_failed]).toEqual(['completed', 2, 1]);
    expect(reasonsOf(done)).toEqual({ '/drip': expect.stringContaining('too long') });
    expect(drips.length).toBeGreaterThan(1);
    await until(async () => begun.length === 0, 'the connections to be let go of');
  });
});
