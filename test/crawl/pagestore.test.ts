/**
 * Fetching, storing and removing pages, also when crawling and pruning overlap: the activities on a real database, with
 * an index in memory.
 */
import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { modelsIn } from '../kit/database.ts';
import { createCrawlBatch } from '../../activities/crawl/batch.ts';
import { createCrawlFinish } from '../../activities/crawl/finish.ts';
import { createPageStore, type FreshPage } from '../../activities/crawl/pagestore.ts';
import { createPruningActivities, removeOrphans } from '../../activities/crawl/prune.ts';
import { createLiveCopyActivities } from '../../activities/knowledge/livecopy.ts';
import { findOrphans } from '../../api/crawl/prune.ts';
import type { Site } from '../../clients/crawl/site/site.ts';
import type { IndexRow, Search } from '../../clients/knowledge/search/search.ts';
import { ChunkModel } from '../../models/knowledge/chunk.ts';
import { createCrawl, endCrawl, newCrawl, type Crawl } from '../../models/crawl/crawl.ts';
import { crawlStart } from '../../models/rules/crawl/crawl.ts';
import { newId } from '../../models/base/ids.ts';
import { addToFrontier, nextDue, nextOfFrontier, putBack } from '../../models/crawl/frontier.ts';
import { createOrganization, newOrganization } from '../../models/access/organization.ts';
import { claimPages } from '../../models/crawl/pageset.ts';
import { createPruning, findPruning, type Orphan } from '../../models/crawl/prune.ts';
import type { PruningRef } from '../../workflows/crawl/prune.ts';
import { countPagesLacking, EmbeddingWorkModel, listLacking } from '../../models/knowledge/embedding.ts';
import { createLiveCopy, findLiveCopy } from '../../models/knowledge/livecopy.ts';
import { listVisiblePages, PageModel } from '../../models/knowledge/page.ts';
import { findPageLinks } from '../../models/knowledge/pagelinks.ts';
import { everyRecord } from '../../models/base/define.ts';
import type { Mode } from '../../models/rules/access/keys.ts';

modelsIn('pagestore');

const signal = new AbortController().signal;
const room = { documents: 1_000, knowledge_pages: 1_000 };
const quotas = { sandbox: room, production: room };

/** An index that holds its rows in memory. */
function newIndex() {
  let rows: IndexRow[] = [];
  const drop = (gone: (row: IndexRow) => boolean) => {
    rows = rows.filter((row) => !gone(row));
  };
  const search = {
    add: async (_: unknown, added: IndexRow[]) => void rows.push(...added),
    removeSource: async (_: unknown, id: string, keep?: string) =>
      drop((row) => row.source_id === id && row.generation !== keep),
    removeBatch: async (_: unknown, id: string, generation: string) =>
      drop((row) => row.source_id === id && row.generation === generation),
    removeSources: async (_: unknown, ids: string[]) => drop((row) => ids.includes(row.source_id)),
    listSources: async () => rows.map(({ source_id, generation }) => ({ source_id, generation, chunks: 1 })),
  } as unknown as Search;
  return { search, rows: () => rows };
}
const noModel = { model: undefined };

async function begin(orgId = newId('org'), mode: Mode = 'test', url = 'https://a.example/'): Promise<Crawl> {
  const crawl = newCrawl(
    { url, max_pages: 50, replace: false },
    { _id: newId('crawl'), org_id: orgId, mode, started_by: 'test', started_at: new Date() },
  );
  await createCrawl(crawl, async () => undefined);
  return crawl;
}
const end = (crawl: Crawl) => endCrawl(crawl.org_id, crawl._id, { status: 'completed' }, new Date());
const read = (url: string, text: string): FreshPage => ({
  url,
  links: [],
  content: {
    title: text,
    chunks: [{ ordinal: 0, heading: '', text }],
    contentHash: text,
  } as unknown as FreshPage['content'],
});
const stored = async ({ org_id }: Crawl) => {
  const pages = await PageModel.find({ org_id }).sort({ url: 1 }).lean();
  const chunks = await ChunkModel.find({ org_id }).lean();
  return pages.map(({ _id, url, live_generation }) => [
    url,
    chunks.filter((one) => one.source_id === _id && one.generation === live_generation).map(({ text }) => text),
  ]);
};

describe('a slow site', () => {
  it('the pages of a slow site are stored every ten seconds, and each page is requested once', async () => {
    let now = Date.now();
    const clock = () => new Date(now);
    const crawl = await begin();
    const addresses = Array.from({ length: 40 }, (_, n) => `https://a.example/slow-${n}`);
    const requested: string[] = [];
    const site: Site = {
      scope: crawlStart(crawl.url).scope,
      waitMs: () => 0,
      listSitemaps: async () => ({ urls: addresses, files: [], forbidden: [], problems: [] }),
      async fetch(url) {
        requested.push(url);
        // The site answers one request a second.
        now += 1_000;
        return { kind: 'page', content: { ...read(url, url).content, links: [], textLength: 10 } };
      },
    };
    const store = createPageStore({ search: newIndex().search, embedding: noModel, quotas, clock });
    const rounds: number[] = [];
    const save: typeof store.save = async (of, round) => {
      rounds.push(round.fresh.length);
      return store.save(of, round);
    };
    const batch = createCrawlBatch({ sites: { open: async () => site }, store: { ...store, save }, clock });
    const ref = { orgId: crawl.org_id, crawlId: crawl._id };
    while ((await batch(ref, signal)).state !== 'done');
    expect(requested.toSorted()).toEqual([crawl.url, ...addresses].toSorted());
    expect(rounds.reduce((sum, pages) => sum + pages, 0)).toBe(41);
    // A round begins no page after its ten seconds, so none has more than eleven.
    expect(Math.max(...rounds)).toBe(11);
  });
});

describe('a page', () => {
  it('all spellings of a URL name one page, which keeps the spelling found last', async () => {
    const index = newIndex();
    const store = createPageStore({ search: index.search, embedding: noModel, quotas, clock: () => new Date() });
    const first = await begin();
    await store.save(first, { fresh: [read('http://a.example/fees', 'five')], settled: [] });
    await end(first);
    const before = await PageModel.findOne({ org_id: first.org_id }).lean();
    // Older versions of the crawl could store the same page twice.
    await PageModel.create([{ ...before, _id: newId('page'), url: 'http://www.a.example/fees' }]);
    const second = await begin(first.org_id);
    await store.save(second, { fresh: [read('https://a.example/fees', 'nine')], settled: [] });
    expect(await stored(second)).toEqual([['https://a.example/fees', ['nine']]]);
    await end(second);
    const third = await begin(first.org_id);
    const { settled } = await store.save(third, { fresh: [read('https://www.a.example/fees', 'nine')], settled: [] });
    expect(settled).toEqual([{ url: 'https://www.a.example/fees', outcome: 'unchanged' }]);
    expect(await stored(third)).toEqual([['https://www.a.example/fees', ['nine']]]);
  });

  it('a page is not written by a crawl that has ended', async () => {
    const index = newIndex();
    const store = createPageStore({ search: index.search, embedding: noModel, quotas, clock: () => new Date() });
    const crawl = await begin();
    await end(crawl);
    const late = store.save(crawl, { fresh: [read('https://a.example/late', 'late')], settled: [] });
    await expect(late).rejects.toThrow('ended');
    expect([await stored(crawl), index.rows()]).toEqual([[], []]);
  });

  it('a new page is found by its words at once, and embedded when its crawl ends or has run two minutes', async () => {
    const { search } = newIndex();
    const embedding = { model: 'm' };
    const crawl = await begin();
    let now = crawl.started_at.getTime();
    const clock = () => new Date(now);
    const store = createPageStore({ search, embedding, quotas, clock });
    const wanted = async () => EmbeddingWorkModel.find({ org_id: crawl.org_id }, null, everyRecord).lean();
    const toEmbed = async () =>
      (await listLacking(crawl, 'm', { limit: 9, without: [], now: clock() })).map(({ _id }) => _id).toSorted();
    const pages = async () => (await PageModel.find({ org_id: crawl.org_id }).lean()).map(({ _id }) => _id).toSorted();

    await store.save(crawl, { fresh: [read('https://a.example/', 'one')], settled: [] });
    expect(await stored(crawl)).toEqual([['https://a.example/', ['one']]]);
    expect(await countPagesLacking(crawl, crawl._id, 'm')).toBe(1);
    expect([await wanted(), await toEmbed()]).toEqual([[], []]);

    now += 2 * 60_000;
    await store.save(crawl, { fresh: [read('https://a.example/2', 'two')], settled: [] });
    expect(await wanted()).toMatchObject([{ mode: 'test', pending: [{ workflow: 'embedPassages', signal: 'wake' }] }]);
    expect(await toEmbed()).toEqual(await pages());

    now = crawl.started_at.getTime();
    await EmbeddingWorkModel.deleteMany({ org_id: crawl.org_id }, everyRecord);
    expect([await wanted(), await toEmbed()]).toEqual([[], []]);
    await createCrawlFinish({ search, embedding, clock })(crawl, 'cancelled', undefined);
    expect(await wanted()).toMatchObject([{ mode: 'test', pending: [{ workflow: 'embedPassages', signal: 'wake' }] }]);
    expect(await toEmbed()).toEqual(await pages());
  });
});

/** Removes orphans as the workflow's activity does. */
const prune = (search: Search, org_id: string, orphans: Orphan[]) =>
  removeOrphans(search, { org_id, mode: 'test', orphans }, signal);

describe('pruning that overlaps with a crawl', () => {
  it('pruning that overlaps with a crawl removes nothing that the crawl has written since the orphans were listed', async () => {
    const index = newIndex();
    const store = createPageStore({ search: index.search, embedding: noModel, quotas, clock: () => new Date() });
    const urls = Array.from({ length: 5 }, (_, i) => `https://a.example/${i}`);
    const round = (what: string) => ({ fresh: urls.map((url) => read(url, `${what} ${url}`)), settled: [] });
    const first = await begin();
    await store.save(first, round('old'));
    await end(first);
    const [half, old] = await PageModel.find({ org_id: first.org_id }).sort({ url: 1 }).lean();
    await ChunkModel.deleteMany({ org_id: half!.org_id, source_id: half!._id });
    const chunk = (await ChunkModel.findOne({ org_id: old!.org_id, source_id: old!._id }).lean())!;
    await ChunkModel.create([{ ...chunk, _id: `${old!._id}:2:0`, generation: 2, text: 'left over' }]);
    const { orphaned } = await findOrphans(index.search, first.org_id, 'test');
    expect(orphaned.length).toBe(2);
    await ChunkModel.deleteMany({ generation: 2 }, everyRecord);

    const second = await begin(first.org_id);
    await store.save(second, round('new'));
    expect(await prune(index.search, first.org_id, orphaned)).toBe(0);
    expect(await stored(second)).toEqual(urls.map((url) => [url, [`new ${url}`]]));
    expect(index.rows().length).toBe(5);
  });

  it('pruning keeps a page that was listed as an orphan and is then found unchanged by an overlapping crawl', async () => {
    const index = newIndex();
    const store = createPageStore({ search: index.search, embedding: noModel, quotas, clock: () => new Date() });
    const first = await begin();
    await store.save(first, { fresh: [read('https://a.example/', 'same')], settled: [] });
    await end(first);
    const chunks = await ChunkModel.find({ org_id: first.org_id }).lean();
    await ChunkModel.deleteMany({ org_id: first.org_id });
    const { orphaned } = await findOrphans(index.search, first.org_id, 'test');
    expect(orphaned.length).toBe(1);
    await ChunkModel.insertMany(chunks);
    const second = await begin(first.org_id);
    await store.save(second, { fresh: [read('https://a.example/', 'same')], settled: [] });
    expect(await prune(index.search, first.org_id, orphaned)).toBe(0);
    expect(await stored(second)).toEqual([['https://a.example/', ['same']]]);
  });

  it('a crawl does not publish a page’s new version that pruning has removed in the meantime', async () => {
    const index = newIndex();
    const crawl = await begin();
    const store = createPageStore({
      search: {
        ...index.search,
        async add(table, rows) {
          await index.search.add(table, rows);
          const { orphaned } = await findOrphans(index.search, crawl.org_id, 'test');
          await prune(index.search, crawl.org_id, orphaned);
        },
      },
      embedding: noModel,
      quotas,
      clock: () => new Date(),
    });
    const steady = createPageStore({ search: index.search, embedding: noModel, quotas, clock: () => new Date() });
    await steady.save(crawl, { fresh: [read('https://a.example/', 'old')], settled: [] });
    await end(crawl);
    const second = await begin(crawl.org_id);
    await store.save(second, { fresh: [read('https://a.example/', 'new')], settled: [] });
    expect(await stored(second)).toEqual([['https://a.example/', ['old']]]);
  });
});

describe('a page that is being copied to live mode', () => {
  const copied = async (urls = ['https://a.example/']) => {
    const first = await begin();
    const { org_id } = first;
    const store = createPageStore({ search: newIndex().search, embedding: noModel, quotas, clock: () => new Date() });
    await store.save(first, { fresh: urls.map((url) => read(url, url)), settled: [] });
    await end(first);
    const copy = {
      _id: newId('liveCopy'),
      org_id,
      mode: 'live' as const,
      requested_by: 'test',
      requested_at: new Date(),
      running: true as const,
    };
    await createLiveCopy(copy);
    return { org_id, copyId: copy._id };
  };
  const livePages = (org_id: string) => PageModel.find({ org_id, mode: 'live' }).lean();
  const copyWith = (search: Search, orgId: string, copyId: string) => {
    const deps = { search, embedding: noModel, quotas, start: async () => undefined, clock: () => new Date() };
    const { copyToLive } = createLiveCopyActivities(deps);
    const environment = new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') });
    return environment.run(copyToLive, { orgId, copyId });
  };

  it('a page being copied to live mode survives the end of a live crawl, and is not orphaned for pruning', async () => {
    const index = newIndex();
    const clock = () => new Date();
    const { org_id, copyId } = await copied();
    const crawl = await begin(org_id, 'live');
    const reported: Orphan[] = [];
    const search: Search = {
      ...index.search,
      async add(table, rows) {
        await index.search.add(table, rows);
        reported.push(...(await findOrphans(index.search, org_id, 'live')).orphaned);
        await createCrawlFinish({ search: index.search, embedding: noModel, clock })(crawl, 'cancelled', undefined);
      },
    };
    const { copyToLive } = createLiveCopyActivities({
      search,
      embedding: noModel,
      quotas,
      start: async () => undefined,
      clock,
    });
    await new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run(copyToLive, {
      orgId: org_id,
      copyId,
    });
    expect(reported).toEqual([]);
    expect(await findLiveCopy(org_id, copyId)).toMatchObject({ pages: 1, left_out: [] });
    const [page] = await livePages(org_id);
    expect(page).toMatchObject({ url: 'https://a.example/', live_generation: 1, chunk_count: 1 });
    expect(await ChunkModel.countDocuments({ org_id, source_id: page!._id })).toBe(1);
    expect(index.rows()).toMatchObject([{ source_id: page!._id, generation: '1' }]);
  });

  it.each([
    ['is left out when a live crawl has claimed its address and not published it yet', {}, 0],
    ['counts as copied when a live crawl has published its address', { live_generation: 1 }, 1],
  ])(
    'a page is copied to live mode only if no live crawl has its address: the page %s',
    async (_, published: object, pages) => {
      const index = newIndex();
      const { org_id, copyId } = await copied();
      const search: Search = {
        ...index.search,
        async add(table, rows) {
          await index.search.add(table, rows);
          const set = { org_id, mode: 'live' as const, live: true, crawl_id: newId('crawl') };
          const claim = { url: 'https://a.example/', standing: undefined, segments: [], authority: undefined };
          await claimPages(set, [claim], new Date(), async () => true);
          await PageModel.updateOne({ org_id, mode: 'live' }, { $set: { title: 'Crawled', ...published } });
        },
      };
      await copyWith(search, org_id, copyId);
      const outcome = await findLiveCopy(org_id, copyId);
      expect([outcome?.pages, outcome?.left_out?.length]).toEqual([pages, 1 - pages]);
      expect([index.rows(), await ChunkModel.countDocuments({ org_id, mode: 'live' })]).toEqual([[], 0]);
    },
  );

  it('a page that changes during a copy to live mode is copied in its new state, or it is not copied and leaves no passages', async () => {
    const index = newIndex();
    const clock = () => new Date();
    const { org_id, copyId } = await copied(['a', 'b', 'c', 'd'].map((name) => `https://a.example/${name}`));
    const [first, deleted, newer, half] = await listVisiblePages(org_id, 'test');
    let changed = false;
    const search: Search = {
      ...index.search,
      async add(table, rows) {
        await index.search.add(table, rows);
        if (changed) return;
        changed = true;
        await PageModel.deleteOne({ org_id, _id: deleted!._id });
        await ChunkModel.deleteMany({ org_id, source_id: half!._id });
        const crawl = await begin(org_id);
        const store = createPageStore({ search: newIndex().search, embedding: noModel, quotas, clock });
        await store.save(crawl, { fresh: [read(newer!.url, 'newer')], settled: [] });
        await end(crawl);
      },
    };
    await copyWith(search, org_id, copyId);
    const left_out = [{ id: deleted!._id }, { id: half!._id }];
    expect(await findLiveCopy(org_id, copyId)).toMatchObject({ pages: 2, left_out });
    expect(index.rows().map(({ text }) => text)).toEqual([first!.url, 'newer']);
  });

  it('attempts to copy a page to live mode leave no passages behind when the index cannot be written', async () => {
    const index = newIndex();
    const { org_id, copyId } = await copied();
    const full: Search = { ...index.search, add: () => Promise.reject(new Error('No space left.')) };
    const stored = () => ChunkModel.countDocuments({ org_id, mode: 'live' });
    for (const _attempt of [1, 2]) {
      await expect(copyWith(full, org_id, copyId)).rejects.toThrow('No space left.');
      expect(await stored()).toBe(0);
    }
    await copyWith(index.search, org_id, copyId);
    expect([(await findLiveCopy(org_id, copyId))?.pages, await stored(), index.rows().length]).toEqual([1, 1, 1]);
  });

  it('a repeated copy to live mode copies the pages’ current state, and pruning removes the remains of the earlier attempt', async () => {
    const index = newIndex();
    const clock = () => new Date();
    const { org_id, copyId } = await copied(['https://a.example/restricted', 'https://a.example/read']);
    const [newer, restricted] = await PageModel.find({ org_id }).sort({ url: 1 }).lean();
    await PageModel.updateOne({ _id: newer!._id }, { $set: { authority: 'primary' } });
    // The attempt of a worker that dies never goes on.
    const died = Promise.withResolvers<void>();
    const dying: Search = {
      ...index.search,
      async add(table, rows) {
        await index.search.add(table, rows);
        died.resolve();
        return new Promise(() => undefined);
      },
    };
    void copyWith(dying, org_id, copyId);
    await died.promise;
    expect([index.rows().length, await livePages(org_id)]).toEqual([1, []]);
    expect(await ChunkModel.countDocuments({ org_id, mode: 'live' })).toBe(1);
    expect((await findOrphans(index.search, org_id, 'live')).orphaned).toEqual([]);
    await PageModel.updateOne({ _id: restricted!._id }, { $set: { segments: ['staff'], authority: 'normal' } });
    await PageModel.updateOne({ _id: newer!._id }, { $unset: { authority: 1 } });
    const crawl = await begin(org_id);
    const store = createPageStore({ search: newIndex().search, embedding: noModel, quotas, clock });
    await store.save(crawl, { fresh: [read(newer!.url, 'newer')], settled: [] });
    await end(crawl);
    await copyWith(index.search, org_id, copyId);
    expect(await findLiveCopy(org_id, copyId)).toMatchObject({ pages: 2, left_out: [] });
    const { orphaned } = await findOrphans(index.search, org_id, 'live');
    expect(orphaned).toMatchObject([{ chunks: 1 }]);
    await removeOrphans(index.search, { org_id, mode: 'live', orphans: orphaned }, signal);
    const live = (await livePages(org_id)).toSorted((a, b) => (a.url < b.url ? -1 : 1));
    expect(live.map(({ live_generation }) => live_generation)).toEqual([1, 1]);
    expect(live.map(({ title, segments, authority }) => [title, segments, authority])).toEqual([
      ['newer', [], undefined],
      [restricted!.url, ['staff'], 'normal'],
    ]);
    expect(live.map(({ crawl_id, content_sha256 }) => [crawl_id, content_sha256])).toEqual([
      [crawl._id, 'newer'],
      [restricted!.crawl_id, restricted!.url],
    ]);
    expect(await ChunkModel.countDocuments({ org_id, mode: 'live' })).toBe(2);
    expect(index.rows().map(({ text }) => text)).toEqual(expect.arrayContaining(['newer', restricted!.url]));
    expect(index.rows().filter(({ segments }) => segments.length > 0)).toMatchObject([
      { text: restricted!.url, segments: ['staff'], authority: 'normal' },
    ]);
  });
});

it('the end of a crawl with `replace` removes a page that the crawl claimed and never published', async () => {
  const clock = () => new Date();
  const { search } = newIndex();
  const crawl = { ...(await begin()), replace: true, pages_processed: 1 };
  const store = createPageStore({ search, embedding: noModel, quotas, clock });
  await store.save(crawl, { fresh: [read('https://a.example/read', 'read')], settled: [] });
  const set = { org_id: crawl.org_id, mode: crawl.mode, live: false, crawl_id: crawl._id };
  const claim = { url: 'https://a.example/lost', standing: undefined, segments: [], authority: undefined };
  await claimPages(set, [claim], new Date(), async () => true);
  await createCrawlFinish({ search, embedding: noModel, clock })(crawl, 'completed', undefined);
  expect(await PageModel.find({ org_id: crawl.org_id }).lean()).toMatchObject([
    { url: 'https://a.example/read', live: true },
  ]);
});

describe('test mode of a live organization', () => {
  it('test mode of a live organization has the page limit of the sandbox', async () => {
    const index = newIndex();
    const few = { sandbox: { ...room, knowledge_pages: 1 }, production: room };
    const store = createPageStore({ search: index.search, embedding: noModel, quotas: few, clock: () => new Date() });
    const crawl = await begin();
    await createOrganization({
      ...newOrganization(crawl.org_id, 'Live', newId('user'), new Date()),
      environment: 'production',
    });
    expect(await store.spare(crawl)).toBe(1);
    const fresh = [read('https://a.example/1', 'one'), read('https://a.example/2', 'two')];
    const { settled, full } = await store.save(crawl, { fresh, settled: [] });
    expect([settled.length, full]).toEqual([1, expect.stringContaining('sandbox allowance of 1 pages')]);
    expect(await store.spare(crawl)).toBe(0);
    expect(await store.spare({ ...crawl, mode: 'live' })).toBe(1_000);
  });
});

describe('the version of a page (ETag and Last-Modified)', () => {
  it('the stored version of a page (ETag and Last-Modified) belongs to the text last read, and an unchanged page keeps its version', async () => {
    const index = newIndex();
    const store = createPageStore({ search: index.search, embedding: noModel, quotas, clock: () => new Date() });
    const url = 'https://a.example/';
    const crawl = await begin();
    const version = async () => {
      const { etag, last_modified } = (await PageModel.findOne({ org_id: crawl.org_id }).lean())!;
      return [etag, last_modified];
    };
    await store.save(crawl, { fresh: [{ ...read(url, 'one'), etag: '"1"', lastModified: 'then' }], settled: [] });
    await store.save(crawl, { fresh: [], settled: [{ url, outcome: 'unchanged' }] });
    expect(await version()).toEqual(['"1"', 'then']);
    await store.save(crawl, { fresh: [{ ...read(url, 'one'), lastModified: 'later' }], settled: [] });
    expect(await version()).toEqual([undefined, 'later']);
    await store.save(crawl, { fresh: [{ ...read(url, 'two'), etag: '"2"' }], settled: [] });
    expect(await version()).toEqual(['"2"', undefined]);
    await store.save(crawl, { fresh: [read(url, 'three')], settled: [] });
    expect(await version()).toEqual([undefined, undefined]);
  });
});

it('the stored links of a page with an ETag are those read last, even when the text is unchanged', async () => {
  const store = createPageStore({ search: newIndex().search, embedding: noModel, quotas, clock: () => new Date() });
  const url = 'https://a.example/';
  const crawl = await begin();
  const links = [`${url}new`];
  await store.save(crawl, { fresh: [{ ...read(url, 'one'), etag: '"1"' }], settled: [] });
  await store.save(crawl, { fresh: [{ ...read(url, 'one'), etag: '"2"', links }], settled: [] });
  const { _id } = (await PageModel.findOne({ org_id: crawl.org_id }).lean())!;
  expect((await findPageLinks([_id])).get(_id)).toEqual(links);
});

it('the links of an unchanged page are followed within the scope of the current crawl, whichever crawl read the page', async () => {
  const clock = () => new Date();
  const store = createPageStore({ search: newIndex().search, embedding: noModel, quotas, clock });
  const orgId = newId('org');
  const all = 'https://a.example/';
  const help = `${all}help`;
  const linked: Record<string, string[]> = {
    [all]: [help],
    [help]: [`${help}/one`, `${all}about`, 'https://b.example/'],
  };
  const contentOf = (url: string) => ({
    ...read(url, url).content,
    links: (linked[url] ?? []).map((to) => ({ url: to, nofollow: false })),
    textLength: 10,
  });
  const requestedBy = async (start: string) => {
    const crawl = await begin(orgId, 'test', start);
    const requested: string[] = [];
    const site: Site = {
      scope: crawlStart(start).scope,
      waitMs: () => 0,
      listSitemaps: async () => ({ urls: [], files: [], forbidden: [], problems: [] }),
      async fetch(url, { etag }) {
        requested.push(url);
        return etag === undefined ? { kind: 'page', content: contentOf(url), etag: '"1"' } : { kind: 'unchanged' };
      },
    };
    const batch = createCrawlBatch({ sites: { open: async () => site }, store, clock });
    while ((await batch({ orgId, crawlId: crawl._id }, signal)).state !== 'done');
    await end(crawl);
    return requested.toSorted();
  };
  expect(await requestedBy(help)).toEqual([help, `${help}/one`]);
  expect(await requestedBy(all)).toEqual([all, `${all}about`, help, `${help}/one`]);
  expect(await requestedBy(help)).toEqual([help, `${help}/one`]);
});

describe('the frontier of a crawl', () => {
  const now = new Date();
  const found = Array.from({ length: 2_500 }, (_, n) => ({ url: `https://a.example/${n}`, depth: 1 }));

  it('the frontier of a crawl takes the first new URLs, as many as there is room for', async () => {
    const crawlId = newId('crawl');
    expect(await addToFrontier(crawlId, found.slice(0, 10), now)).toBe(10);
    expect(await addToFrontier(crawlId, found, now, 0)).toBe(0);
    expect(await addToFrontier(crawlId, found, now, 5)).toBe(5);
    expect(await addToFrontier(crawlId, found, now, 1_500)).toBe(1_500);
    const entries = await nextOfFrontier(crawlId, 9_999, now);
    expect(new Set(entries.map(({ url }) => url))).toEqual(new Set(found.slice(0, 1_515).map(({ url }) => url)));
  });

  it('the frontier of a crawl holds back URLs that are to be requested later, until their time', async () => {
    const crawlId = newId('crawl');
    expect(await nextDue(crawlId)).toBeUndefined();
    await addToFrontier(crawlId, found.slice(0, 2), now);
    const [first, second] = await nextOfFrontier(crawlId, 2, now);
    const due = new Date(now.getTime() + 60_000);
    await putBack([{ _id: first!._id, crawl_id: first!.crawl_id, tries: 1, not_before: due }]);
    expect((await nextOfFrontier(crawlId, 2, now)).map(({ _id }) => _id)).toEqual([second!._id]);
    await putBack([
      { _id: second!._id, crawl_id: second!.crawl_id, tries: 2, not_before: new Date(due.getTime() + 1) },
    ]);
    expect([await nextOfFrontier(crawlId, 2, now), await nextDue(crawlId)]).toEqual([[], due]);
    expect(await nextOfFrontier(crawlId, 2, due)).toMatchObject([{ _id: first!._id, tries: 1 }]);
  });
});

describe('pruning that is killed half-way', () => {
  const carryOut = (search: Search, ref: PruningRef) =>
    new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run(
      createPruningActivities({ search }).pruneKnowledge,
      ref,
    );

  it.each(['removeBatch', 'removeSources'] as const)(
    'pruning that is killed at %s is completed by the next attempt',
    async (step) => {
      const index = newIndex();
      const store = createPageStore({ search: index.search, embedding: noModel, quotas, clock: () => new Date() });
      const crawl = await begin();
      const urls = ['https://a.example/half', 'https://a.example/old', 'https://a.example/whole'];
      await store.save(crawl, { fresh: urls.map((url) => read(url, url)), settled: [] });
      await end(crawl);
      const { org_id } = crawl;
      const [half, old] = await PageModel.find({ org_id }).sort({ url: 1 }).lean();
      await ChunkModel.deleteMany({ org_id: half!.org_id, source_id: half!._id });
      // A generation that was started and never published; after its removal it must not be published either.
      await PageModel.updateOne({ _id: old!._id }, { $set: { generation: 2 } });
      const chunk = (await ChunkModel.findOne({ org_id: old!.org_id, source_id: old!._id }).lean())!;
      await ChunkModel.create([{ ...chunk, _id: `${old!._id}:2:0`, generation: 2 }]);
      const row = index.rows().find(({ source_id }) => source_id === old!._id)!;
      await index.search.add({ org_id, mode: 'test' }, [{ ...row, generation: '2' }]);
      const { orphaned } = await findOrphans(index.search, org_id, 'test');
      expect(orphaned.length).toBe(2);

      const pruning = {
        _id: newId('pruning'),
        org_id,
        mode: 'test' as const,
        orphans: orphaned,
        requested_at: new Date(),
      };
      await createPruning(pruning);
      const ref = { orgId: org_id, pruningId: pruning._id };
      const failing = { ...index.search, [step]: () => Promise.reject(new Error('killed')) };
      await expect(carryOut(failing, ref)).rejects.toThrow('killed');
      expect(await findPruning(org_id, pruning._id)).not.toBeNull();
      await carryOut(index.search, ref);
      // The activity runs again, as after a lost result.
      await carryOut(index.search, ref);
      expect(await findPruning(org_id, pruning._id)).toBeNull();
      expect(await findOrphans(index.search, org_id, 'test')).toEqual({ orphaned: [], live: 2 });
      expect(index.rows().map(({ source_id, generation }) => [source_id, generation])).toEqual(
        (await PageModel.find({ org_id }).sort({ url: 1 }).lean()).map(({ _id }) => [_id, '1']),
      );
    },
  );
});
