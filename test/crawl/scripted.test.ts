/** Crawling pages whose text is created by scripts, with a real worker and a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { processTree } from '../../clients/crawl/render/browser.ts';
import { newCrawler, reasonsOf, type Crawler } from '../kit/crawling.ts';
import { apiAt, system, until } from '../kit/harness.ts';
import { killIfThere, removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { page, sitesOfTest, type Reply } from '../kit/sites.ts';

const siteOf = sitesOfTest();

const shared = system();
let crawler: Crawler;
beforeEach(async () => {
  crawler = await newCrawler(shared);
});

const shell = (script: string) =>
  `<!doctype html><html lang="en"><title>App</title><body><div id="app"></div><script src="${script}"></script></body></html>`;
const fees = 'A transfer within the country is free of charge, and one abroad costs three euros and fifty cents.';

describe('a page that needs JavaScript', () => {
  const script: Reply = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript', 'cache-control': 'no-cache' });
    response.end(`
      fetch('/fees.json').then((reply) => reply.json()).then(({ text }) => {
        document.getElementById('app').innerHTML = '<main><h1>Fees</h1><p>' + text + '</p><a href="/app/cards">Cards</a></main>';
      });`);
  };
  const data =
    (text: string): Reply =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ text }));
    };

  it('a page that needs JavaScript is rendered in a browser, so that its text is indexed and its links are followed', async () => {
    const site = await siteOf({
      '/app': (request, response) => {
        // The HTML never changes, but the output of the scripts does.
        response.writeHead(request.headers['if-none-match'] === '"1"' ? 304 : 200, {
          'content-type': 'text/html',
          etag: '"1"',
        });
        response.end(shell('/app.js'));
      },
      '/app/cards': shell('/app.js'),
      '/app.js': script,
      '/fees.json': data(fees),
    });
    const done = await crawler.crawl(`${site.url}/app`);
    expect(done).toMatchObject({ status: 'completed', pages_processed: 1 });
    expect(reasonsOf(done)['/app/cards']).toBe(`The page is a duplicate of ${site.url}/app.`);
    expect(Object.fromEntries(site.hits)).toMatchObject({ '/app': 1, '/app/cards': 1, '/app.js': 1, '/fees.json': 2 });
    expect(await crawler.answer('What does a transfer abroad cost?')).toContain('three euros and fifty cents');

    site.pages['/fees.json'] = data(fees.replace('three euros', 'four euros'));
    expect(await crawler.crawl(`${site.url}/app`)).toMatchObject({ pages_processed: 1, pages_unchanged: 0 });
    expect(await crawler.answer('What does a transfer abroad cost?')).toContain('four euros and fifty cents');
  });

  it('a page that needs JavaScript stays indexed while its data is unavailable, and is removed when it is really empty', async () => {
    const site = await siteOf({
      '/': page('Start', 'Where everything begins, and where the other page is linked.', ['/app']),
      '/app': shell('/app.js'),
      '/app.js': script,
      '/fees.json': data(fees),
      '/app/cards': page('Cards', 'Where the cards of the house are shown to whoever likes them.'),
    });
    expect(await crawler.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 3 });
    site.pages['/fees.json'] = (_, response) => void response.writeHead(503).end();
    const away = await crawler.crawl(site.url);
    expect(reasonsOf(away)['/app']).toContain(
      'some of what its scripts asked for could not be had. What was read there',
    );
    expect(await crawler.answer('What does a transfer abroad cost?')).toContain('three euros and fifty cents');

    site.pages['/app.js'] = (_, response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end();
    site.pages['/app'] = shell('/app.js?2');
    site.pages['/app.js?2'] = site.pages['/app.js'];
    expect(reasonsOf(await crawler.crawl(site.url))['/app']).toBe('The page has no text that can be read.');
    const { entries } = await crawler.pages();
    expect(entries.map(({ source_url }: { source_url: string }) => source_url)).not.toContain(`${site.url}/app`);
  });

  it('the browser obeys robots.txt, follows a redirect by a page’s script, and stops a script that never ends', async () => {
    const site = await siteOf({
      '/robots.txt': 'User-agent: *\nDisallow: /private',
      '/': page('Start', 'Where everything begins, and where the other pages are linked.', [
        '/spy',
        '/moved',
        '/loop',
        '/hours',
      ]),
      '/spy': shell('/spy.js'),
      '/spy.js': `fetch('/private/data').catch(() => fetch('http://127.0.0.1:1/')).catch(() => { document.body.textContent = 'Nothing.'; });`,
      '/private/data': 'A secret.',
      '/moved': shell('/moved.js'),
      '/moved.js': `location.replace('/new');`,
      '/new': page('New', 'What stood at the old address stands here now.'),
      '/loop': shell('/loop.js'),
      '/loop.js': 'for (;;);',
      '/hours': page('Hours', 'The desk at the ferry opens at seven.', [], '<script src="/loop.js" defer></script>'),
    });
    const done = await crawler.crawl(site.url);
    expect(reasonsOf(done)).toMatchObject({
      '/moved': `The address leads on to ${site.url}/new.`,
      '/loop': 'The page has too little text without JavaScript: its scripts did not come to an end in time.',
    });
    expect(site.hits.get('/private/data')).toBeUndefined();
    // The static text of the page, although short, is used when rendering fails.
    expect(reasonsOf(done)['/hours']).toBeUndefined();
    expect(await crawler.answer('When does the desk at the ferry open?')).toContain('opens at seven');
    const { entries } = await crawler.pages();
    expect(entries.map(({ source_url }: { source_url: string }) => source_url)).toContain(`${site.url}/new`);
  });
});

describe('a browser that dies or does not start', () => {
  let env: SystemEnv;
  let api: Running;
  let own: Crawler;
  beforeAll(async () => {
    env = systemEnv('scripted', { FLEETS: 'crawl' });
    api = await startProcess('api/server.ts', env);
  });
  afterAll(async () => {
    await api.stop();
    await removeDataDir(env);
  });
  const workers: Running[] = [];
  beforeEach(async () => {
    own = await newCrawler(apiAt(api.url));
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });
  async function startWorker(extra: Record<string, string> = {}): Promise<Running> {
    const worker = await startProcess('test/kit/worker.ts', { ...env, ...extra });
    workers.push(worker);
    return worker;
  }

  it('when a browser dies, its page is rendered again in a new browser, and the pages after it are rendered too', async () => {
    const worker = await startWorker();
    const browsers = () =>
      processTree(worker.child.pid!).filter((pid) => {
        try {
          return /chrom/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[0]!);
        } catch {
          return false;
        }
      });
    let killed = 0;
    const site = await siteOf({
      '/': page('Start', 'Where everything begins, and where the other pages are linked.', ['/one', '/two']),
      '/one': shell('/one.js'),
      '/one.js': `fetch('/data').then((reply) => reply.text()).then((text) => { document.getElementById('app').textContent = text; });`,
      '/data': (_, response) => {
        // Kills the browser that requests the page for the first time.
        if (killed === 0) for (const pid of browsers()) killIfThere(pid);
        killed += 1;
        response.end(fees);
      },
      '/two': shell('/two.js'),
      '/two.js': `document.getElementById('app').textContent = 'The branch in the old harbour opens at nine and closes at five.';`,
    });
    expect(await own.crawl(site.url)).toMatchObject({ status: 'completed', pages_processed: 3, problems: [] });
    expect(killed).toBe(2);
    await workers.pop()!.stop();
    await until(async () => browsers().length === 0, 'no browser to be left');
  });

  it('when no browser starts, a page that needs JavaScript is left out, and the crawl reports the reason', async () => {
    const worker = await startWorker({ PUPPETEER_EXECUTABLE_PATH: '/nowhere/chromium' });
    const site = await siteOf({
      '/': page('Start', 'Where everything begins, and where the other pages are linked.', ['/app']),
      '/app': shell('/app.js'),
    });
    const done = await own.crawl(site.url);
    expect(reasonsOf(done)).toEqual({
      '/app': 'The page has too little text without JavaScript: there is no browser here that starts.',
    });
    await until(async () => worker.output().includes('did not start'), 'the log to say so');
  });
});
