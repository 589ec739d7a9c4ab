/**
 * Crawls whose worker dies, whose quota is used up, or whose pages are deleted while being written: nothing is done
 * twice, and nothing is left over.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { newCrawler, type Crawler } from '../kit/crawling.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import { startOpenAiServer } from '../kit/openai-server.ts';
import { pagesARound } from '../../activities/crawl/batch.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { page, sitesOfTest, startSite, type Reply, type TestSite } from '../kit/sites.ts';
import { createSearch } from '../../clients/knowledge/search/search.ts';

const quota = 60;
let env: SystemEnv;
let apis: [Api, Api];
let mongo: MongoClient;
let db: Db;
const running: Running[] = [];
beforeAll(async () => {
  env = systemEnv('crawldeaths', { FLEETS: 'crawl,sources', LIMITS: 'sandbox_pages=1000' });
  mongo = await openClient(env['MONGODB_URI']!);
  db = mongo.db();
  const started = await Promise.all([startProcess('api/server.ts', env), startProcess('api/server.ts', env)]);
  running.push(...started);
  apis = [apiAt(started[0].url), apiAt(started[1].url)];
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await mongo.close();
  await removeDataDir(env);
});

let crawler: Crawler;
const workers: Running[] = [];
beforeEach(async () => {
  crawler = await newCrawler(apis[0]);
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});
// The sites are removed only after the workers have stopped, because a worker may still be reading them.
const siteOf = sitesOfTest();
async function startWorker(extra: Record<string, string> = {}): Promise<Running> {
  const worker = await startProcess('test/kit/crawlworker.ts', { ...env, ...extra });
  workers.push(worker);
  return worker;
}
/**
 * A worker that pauses once per listed crawler: after that crawler's `at`-th write to the index, and before it
 * publishes what it wrote.
 */
async function holdingWorker(at: readonly (readonly [Crawler, number])[]) {
  const worker = await startWorker({
    HOLD_AT: JSON.stringify(Object.fromEntries(at.map(([{ org }, n]) => [org.orgId, n]))),
  });
  const held = new Set<string>();
  worker.child.on('message', (message: { type?: string; orgId: string }) => {
    if (message.type === 'held') held.add(message.orgId);
  });
  return {
    held: ({ org }: Crawler) => until(async () => held.has(org.orgId), 'the worker to come to its point'),
    go: () => worker.child.send('go'),
    async kill() {
      workers.splice(workers.indexOf(worker), 1);
      await worker.kill();
    },
  };
}

/** A site of `count` pages, all linked from the start page. */
const manyPages = (count: number, of: string): Record<string, Reply> => {
  const paths = Array.from({ length: count }, (_, i) => `/${of}-page-${i}`);
  return {
    '/': page(`The ${of}`, `The site of the ${of} begins here.`, paths),
    ...Object.fromEntries(paths.map((path, i) => [path, page(path, `This is about ${of} number ${i} alone.`)])),
  };
};

type PageRecord = { _id: string; url: string; live: boolean; generation: number; live_generation?: number };
type ChunkRecord = { source_id: string; generation: number; ordinal: number };

/**
 * Expects that MongoDB and the index hold exactly the published generation of the crawler's `count` pages, each passage
 * once.
 */
async function expectEachOnce(crawler: Crawler, count: number): Promise<void> {
  const { orgId } = crawler.org;
  const pages = await db.collection<PageRecord>('pages').find({ org_id: orgId }).toArray();
  const chunks = await db.collection<ChunkRecord>('chunks').find({ org_id: orgId }).toArray();
  const search = createSearch({ uri: join(env.DATA_DIR, 'search') });
  try {
    const rows = await search.listSources({ org_id: orgId, mode: 'test' });
    const published = pages.map((one) => `${one._id}:${one.live ? one.live_generation : 'none'}`).toSorted();
    expect([pages.length, new Set(pages.map(({ url }) => url)).size]).toEqual([count, count]);
    expect(chunks.map((one) => `${one.source_id}:${one.generation}`).toSorted()).toEqual(published);
    expect(rows.map((row) => `${row.source_id}:${row.generation}`).toSorted()).toEqual(published);
    expect(rows.every((row) => row.chunks === 1)).toBe(true);
  } finally {
    search.close();
  }
  const links = await db.collection<{ _id: string }>('page_links').find().toArray();
  const known = new Set((await db.collection<PageRecord>('pages').find().toArray()).map(({ _id }) => _id));
  expect(links.filter(({ _id }) => !known.has(_id))).toEqual([]);
  expect(await crawler.orphans()).toEqual([]);
}
/** The URLs of the crawl whose outcome is stored. */
const settled = async (crawlId: string): Promise<string[]> =>
  (await db.collection('crawl_frontier').find({ crawl_id: crawlId, done: true }).toArray()).map(({ url }) =>
    String(url),
  );

describe('a worker that is killed while it stores one batch of pages and fetches the next', () => {
  /** All three crawls share one crash of the worker, because Temporal takes seconds to notice it. */
  /** The number of pages in two full rounds and a short one. */
  const many = 2 * pagesARound + 12;
  const large = manyPages(many, 'whinchat');
  const changing = manyPages(3, 'stonechat');
  const replacing = manyPages(10, 'wheatear');
  let [first, second, third]: Crawler[] = [];
  let [largeSite, changingSite, replacingSite]: TestSite[] = [];
  let crawlId: string;
  let before: string[];

  async function begin(): Promise<void> {
    [first, second, third] = await Promise.all([1, 2, 3].map(() => newCrawler(apis[0])));
    [largeSite, changingSite, replacingSite] = await Promise.all([large, changing, replacing].map(startSite));
    const oldSite = await siteOf({ '/': page('Old', 'The wheatear rate is one percent a year.') });
    const worker = await holdingWorker([
      [first!, 3],
      [second!, 3],
      [third!, 2],
    ]);
    await Promise.all([second!.crawl(changingSite!.url), third!.crawl(oldSite.url)]);
    changingSite!.pages['/stonechat-page-1'] = page('Changed', 'This is about the stonechat that changed.');
    crawlId = await first!.begin(largeSite!.url, { max_pages: 2 * many });
    await second!.begin(changingSite!.url);
    await third!.begin(replacingSite!.url, { replace: true });
    // The first crawl's third write is that of its second full batch; the remaining pages are being fetched meanwhile.
    await Promise.all([first!, second!, third!].map((one) => worker.held(one)));
    await until(async () => largeSite!.hits.size > 2 + 1 + 2 * pagesARound, 'the next round to be fetched');
    await worker.kill();
  }

  beforeAll(async () => {
    await begin();
    before = await settled(crawlId);
    changingSite!.pages['/stonechat-page-1'] = (_, response) => void response.writeHead(403).end();
    replacingSite!.hits.clear();
    replacingSite!.pages['/robots.txt'] = (_, response) => void response.writeHead(503).end();
    surviving = await startProcess('test/kit/crawlworker.ts', env);
  });
  let surviving: Running;
  afterAll(async () => {
    await surviving.stop();
    await Promise.all([largeSite, changingSite, replacingSite].map((site) => site!.close()));
  });

  it('after a worker is killed, another worker indexes every page once and requests no finished page again', async () => {
    expect(await first!.ended()).toMatchObject({ status: 'completed', pages_processed: many + 1, problems: [] });
    expect(before).toHaveLength(1 + pagesARound);
    expect(before.filter((url) => largeSite!.hits.get(new URL(url).pathname) !== 1)).toEqual([]);
    await expectEachOnce(first!, many + 1);
    // The frontier is dropped after the crawl's record is ended: the record decides how a crawl ends, and that step may
    // run again.
    const left = () => db.collection('crawl_frontier').countDocuments({ crawl_id: crawlId });
    await until(async () => (await left()) === 0, 'the addresses of the crawl to be dropped');
  });

  it('a killed worker leaves no half-written page, even when that page cannot be fetched again', async () => {
    expect(await second!.ended()).toMatchObject({ status: 'completed', pages_unchanged: 3, pages_skipped: 1 });
    await expectEachOnce(second!, 4);
    expect(await second!.answer('What is stonechat number 1 about?')).toContain('number 1');
  });

  it('after the worker of a replacing crawl is killed and the site fails, the old pages stay', async () => {
    await until(async () => replacingSite!.hits.has('/robots.txt'), 'the site to be asked for its rules again');
    await third!.cancel();
    expect((await third!.ended()).status).toBe('cancelled');
    expect([...replacingSite!.hits.keys()]).toEqual(['/robots.txt']);
    await expectEachOnce(third!, 1);
    expect(await third!.answer('What is the wheatear rate?')).toContain('one percent');
  });

  // This test has nothing to do with the crash. It stands here because the surviving worker can crawl for it.
  it('of several requests to crawl one site at the same time, one starts the crawl, and the others get CRAWL_RUNNING', async () => {
    const owed: ServerResponse[] = [];
    const site = await siteOf({ '/': (_, response) => void owed.push(response) });
    const { token } = await apis[0].newKey(crawler.org);
    const begin = (api: Api) =>
      api.request('POST', `/orgs/${crawler.org.orgId}/crawl`, { token, body: { url: site.url } });
    const replies = await Promise.all([...apis, ...apis, ...apis, ...apis].map(begin));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409, 409, 409, 409, 409]);
    for (const { status, body } of replies) if (status === 409) expect(body.code).toBe('CRAWL_RUNNING');
    await until(async () => owed.length > 0, 'the page to be asked for');
    const closed = once(owed[0]!, 'close');
    await crawler.cancel();
    expect((await crawler.ended()).status).toBe('cancelled');
    await closed;
    expect(site.hits.get('/')).toBe(1);
  });
});

describe('a crawl whose worker was killed', () => {
  /** Cancels a crawl; returns whether the first request was accepted. */
  async function isTakenAtOnce(): Promise<boolean> {
    const own = await newCrawler(apis[0]);
    const owed: ServerResponse[] = [];
    const site = await siteOf({ '/': (_, response) => void owed.push(response) });
    const worker = await startProcess('test/kit/crawlworker.ts', env);
    await own.begin(site.url);
    await until(async () => owed.length > 0, 'the page to be asked for');
    const other = await startWorker();
    await worker.kill();
    const { status } = await own.askToCancel();
    // Until Temporal notices that the connection is closed, it may give the command to the dead worker.
    if (status === 503) await own.cancel();
    else expect(status).toBe(202);
    expect((await own.ended()).status).toBe('cancelled');
    workers.splice(workers.indexOf(other), 1);
    await other.stop();
    return status === 202;
  }

  it('a crawl whose worker was killed accepts a cancellation (202) before Temporal has noticed the crash', async () => {
    await until(isTakenAtOnce, 'a cancel to be taken at once');
  });
});

describe('a quota of pages that is reached', () => {
  let limited: Running;
  beforeAll(async () => {
    limited = await startProcess('test/kit/crawlworker.ts', { ...env, LIMITS: `sandbox_pages=${quota}` });
  });
  afterAll(async () => {
    await limited.stop();
  });

  it('a crawl that reaches the page quota ends with exactly that many pages and names the quota in its error', async () => {
    const site = await siteOf(manyPages(110, 'redstart'));
    const done = await crawler.crawl(site.url, { max_pages: 150 });
    expect([done.status, done.pages_processed]).toEqual(['limit_reached', quota]);
    expect(done.error).toContain(`${quota} pages`);
    expect(site.hits.size).toBeGreaterThan(2 + 1 + 96);
    expect((await crawler.pages()).count).toBe(quota);
    await expectEachOnce(crawler, quota);
  });

  it('a replacing crawl that reaches the page quota leaves the old pages in place', async () => {
    const old = await siteOf({ '/': page('Old', 'The dunnock rate is one percent a year.') });
    const site = await siteOf(manyPages(110, 'dunnock'));
    await crawler.crawl(old.url);
    const done = await crawler.crawl(site.url, { max_pages: 150, replace: true });
    expect([done.status, done.error]).toEqual(['limit_reached', expect.stringContaining(`${quota} pages`)]);
    await expectEachOnce(crawler, 1);
    expect(await crawler.answer('What is the dunnock rate?')).toContain('one percent');
  });
});

describe('a page that is deleted while a crawl writes its new version', () => {
  it('a page that is deleted while a crawl writes it stays deleted, and none of its passages, rows or links is left', async () => {
    const site = await siteOf(manyPages(2, 'ouzel'));
    const worker = await holdingWorker([[crawler, 3]]);
    await crawler.crawl(site.url);
    site.pages['/ouzel-page-1'] = page('Changed', 'This is about the ouzel that changed.', ['/ouzel-page-0']);
    const { entries } = await crawler.pages();
    const { page_id } = entries.find(({ title }: { title: string }) => title === '/ouzel-page-1');
    await crawler.begin(site.url);
    await worker.held(crawler);
    expect(await crawler.remove(page_id)).toBe(200);
    await until(
      async () => (await db.collection<{ _id: string }>('removals').countDocuments({ _id: page_id })) === 0,
      'its removal to be carried out',
    );
    // Recreates the state in which the deletion came a moment earlier, between the claim and the first write.
    await db.collection<{ _id: string }>('page_links').insertOne({ _id: page_id, urls: [] } as never);
    worker.go();
    expect((await crawler.ended()).status).toBe('completed');
    await expectEachOnce(crawler, 2);
    expect(await crawler.answer('What is said of the ouzel that changed?')).not.toContain('changed');
  });
});

describe('an embedding model that does not answer', () => {
  it('while the embedding model is unavailable, pages are indexed by their words, and embedded once the model answers', async () => {
    const model = await startOpenAiServer();
    try {
      const site = await siteOf(manyPages(5, 'pintail'));
      const more = {
        OPENAI_BASE_URL: model.baseUrl,
        OPENAI_EMBEDDING_MODEL: 'embedding',
        OPENAI_TIMEOUT_MS: '200',
        FLEETS: 'crawl,sources,embedding',
      };
      const asking = await startProcess('api/server.ts', { ...env, ...more });
      workers.push(asking);
      crawler = await newCrawler(apiAt(asking.url));
      model.script(...Array.from({ length: 10_000 }, () => ({ kind: 'status' as const, status: 500 })));
      await startWorker(more);
      await crawler.begin(site.url);
      const done = await crawler.ended();
      expect(done).toMatchObject({ status: 'completed', pages_processed: 6, pages_to_embed: 6 });
      expect(done.error).toBeUndefined();
      const asked = model.requests.length;
      await until(async () => model.requests.length > asked + 3, 'the model to be asked again');
      expect((await crawler.status()).pages_to_embed).toBe(6);
      expect((await crawler.pages()).entries).toEqual(
        expect.arrayContaining([expect.objectContaining({ status: 'indexed', embedded_at: null })]),
      );
      model.reset();
      await until(async () => (await crawler.status()).pages_to_embed === 0, 'the pages to be embedded');
      for (const { embedded_at } of (await crawler.pages()).entries) expect(embedded_at).toEqual(expect.any(String));
    } finally {
      await model.close();
    }
  });
});
