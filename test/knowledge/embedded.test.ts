/**
 * Passage embeddings, created in the background by the real models, stay consistent with their source whatever happens
 * meanwhile.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { modelsIn } from '../kit/database.ts';
import { createEmbeddingActivities } from '../../activities/knowledge/embedding.ts';
import { createMaintenanceActivities } from '../../activities/knowledge/maintenance.ts';
import { createSourceActivities, indexChunks } from '../../activities/knowledge/source.ts';
import { createEmbedding, type Embedding } from '../../clients/embedding/embedding.ts';
import { createSearch, type Search } from '../../clients/knowledge/search/search.ts';
import { createOffline } from '../../intelligence/offline/offline.ts';
import { newId } from '../../models/base/ids.ts';
import { settleIntent } from '../../models/base/pending.ts';
import { chunksOf, findSentences, removeChunks, writeChunks } from '../../models/knowledge/chunk.ts';
import { DocumentModel, publishDocument, type Document } from '../../models/knowledge/document.ts';
import { countPassagesLacking, EmbeddingWorkModel, wakeEmbedding } from '../../models/knowledge/embedding.ts';
import { PageModel } from '../../models/knowledge/page.ts';
import { deleteSource } from '../../models/knowledge/source.ts';
import { effectiveAuthority } from '../../models/rules/knowledge/authority.ts';
import { comparedTexts, packedCosines } from '../../models/rules/knowledge/compared.ts';
import { pagesEmbedAfter } from '../../models/rules/knowledge/embedding.ts';
import { until } from '../kit/harness.ts';
import { killIfThere } from '../kit/processes.ts';
import { everyRecord } from '../../models/base/define.ts';

const log = pino({ level: 'silent' });
const mode = 'test' as const;
let folder: string;
let search: Search;
let models: Embedding;
let orgId: string;
let now: number;
const clock = () => new Date(now);

modelsIn('embedded');
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-'));
  search = createSearch({ uri: folder });
  // On a busy machine, a question may take long.
  models = createEmbedding({ obtain: async () => process.env['TEST_EMBEDDING']!, questionMs: 60_000 });
  await until(async () => models.state().state === 'ready', 'the models');
});
beforeEach(() => {
  orgId = newId('org');
  now = Date.now();
});
afterAll(async () => {
  search.close();
  await models.close();
  await rm(folder, { recursive: true, force: true });
});

const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
  new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run<A, R, (...args: A) => Promise<R>>(
    activity,
    ...args,
  );
const embed = (embedding: Embedding = models, into = search) => {
  const intelligence = createOffline({ embedding });
  return run(createEmbeddingActivities({ search: into, intelligence, embedding, clock, log }).embedSome, {
    orgId,
    mode,
  });
};
const repair = (embedding: Embedding = models) =>
  run(createMaintenanceActivities({ search, embedding, clock, log }).repairIndexes);

const owner = () => ({ org_id: orgId, mode });
const table = (model = models.model!) => ({ ...owner(), model });

/** An indexed document without embeddings yet, which is searched by its words. */
async function stored(texts: readonly string[], fields: Partial<Document> = {}): Promise<string> {
  const docId = newId('document');
  await DocumentModel.create({
    _id: docId,
    org_id: orgId,
    mode,
    filename: 'a.md',
    file_type: 'md',
    mime_type: 'text/markdown',
    file_size: 1,
    sha256: docId,
    status: 'processing',
    segments: [],
    uploaded_by: 'usr_1',
    generation: 1,
    chunk_count: 0,
    tags_version: 0,
    created_at: clock(),
    updated_at: clock(),
    ...fields,
  });
  await publish(docId, texts);
  return docId;
}

/** Publishes a new generation of a document, replacing the previous one. */
async function publish(docId: string, texts: readonly string[], generation = 1): Promise<void> {
  await DocumentModel.updateOne({ _id: docId }, { generation });
  const source = { org_id: orgId, mode, source_type: 'document' as const, source_id: docId, generation };
  const chunks = chunksOf(
    source,
    texts.map((text, ordinal) => ({ ordinal, heading: '', text })),
  );
  await writeChunks(source, chunks);
  const { segments } = (await DocumentModel.findById(docId).lean())!;
  await indexChunks(search, owner(), chunks, () => ({ segments, authority: 'normal' }));
  await publishDocument((await DocumentModel.findById(docId).lean())!, texts.length, clock());
  await search.removeSource(owner(), docId, String(generation));
  await removeChunks(orgId, [docId], { $ne: generation });
}

/** The models, wrapped so that `act` changes the sources while the first passages are being embedded. */
function meanwhile(act: () => Promise<unknown>): Embedding & { texts: string[] } {
  const texts: string[] = [];
  return {
    ...models,
    texts,
    async passages(some, options) {
      const first = texts.length === 0;
      texts.push(...some.map(({ text }) => text));
      const vectors = await models.passages(some, options);
      if (first) await act();
      return vectors;
    },
  };
}
const watched = () => meanwhile(async () => undefined);

const vectors = async (model?: string) =>
  (await search.listSources(table(model)))
    .map(({ source_id, generation, chunks, segments }) => [source_id, generation, chunks, segments.join()])
    .toSorted();
const embeddedBy = async (docId: string) => (await DocumentModel.findById(docId).lean())?.embedded_by;

async function nearest(question: string, by: Embedding = models): Promise<string | undefined> {
  const parts = await models.question(question);
  const meaning = { model: by.model!, parts, weights: parts.map(() => 1) };
  const { candidates } = await search.query(owner(), { text: '', meaning, filter: undefined, limit: 1 });
  return candidates[0]?.id.split(':')[0];
}

describe('passages without embeddings', () => {
  it('passages without embeddings are embedded once, and then found by paraphrases and in other languages', async () => {
    const fees = await stored(['The annual charge for the gold card is 49 EUR.']);
    const hours = await stored(['Our branches open at nine in the morning.', 'On Sundays all of them are closed.']);
    expect(await countPassagesLacking(models.model!)).toBeGreaterThanOrEqual(3);
    expect(await embed()).toEqual({ left: false });
    expect(await vectors()).toEqual([[fees, '1', 1, ''] as const, [hours, '1', 2, ''] as const].toSorted());
    expect(await DocumentModel.findById(hours).lean()).toMatchObject({
      embedded_by: models.model,
      embedded_at: clock(),
    });
    expect(await nearest('Wie sind die Öffnungszeiten?')).toBe(hours);
    expect(await nearest('Was kostet die goldene Karte im Jahr?')).toBe(fees);
    const again = watched();
    expect(await embed(again)).toEqual({ left: false });
    expect(again.texts).toEqual([]);
  });

  it('the vectors of a passage’s sentences are stored for the organization and mode of the passage only', async () => {
    const text = 'Our branches open at nine. On Sundays all of them are closed.';
    const hours = await stored([text, 'Cards are free.']);
    expect(await findSentences(orgId, mode, [`${hours}:1:0`])).toEqual(new Map());
    await embed();
    const found = await findSentences(orgId, mode, [`${hours}:1:0`, `${hours}:1:1`, 'none:1:0']);
    expect([...found.keys()]).toEqual([`${hours}:1:0`, `${hours}:1:1`]);
    const question = await models.local!.asked('Ist sonntags geöffnet?');
    const vectors = await models.local!.sentences(comparedTexts(text));
    const exact = vectors.map((vector) => vector.reduce((sum, x, at) => sum + x * question[at]!, 0));
    const cosines = packedCosines(question, found.get(`${hours}:1:0`)!, 2)!;
    expect(cosines[1]).toBeGreaterThan(cosines[0]!);
    for (const [at, cosine] of cosines.entries()) expect(Math.abs(cosine - exact[at]!)).toBeLessThan(0.01);
    expect(await findSentences(newId('org'), mode, [`${hours}:1:0`])).toEqual(new Map());
    expect(await findSentences(orgId, 'live', [`${hours}:1:0`])).toEqual(new Map());
  });

  it('an embedding attempt embeds no passages of other organizations, and nothing without a model', async () => {
    const docId = await stored(['One.']);
    expect(await embed({ ...models, model: undefined })).toEqual({ left: false });
    orgId = newId('org');
    expect(await embed()).toEqual({ left: false });
    expect(await embeddedBy(docId)).toBeUndefined();
  });

  it('after a failed embedding attempt, the next attempt embeds only the passages that are not written yet', async () => {
    const docs: string[] = [];
    for (let at = 0; at < 3; at += 1) docs.push(await stored(Array.from({ length: 40 }, (_, n) => `Fact ${at} ${n}.`)));
    let written = 0;
    const dying: Search = {
      ...search,
      async addVectors(key, rows) {
        if (written > 0) throw new Error('killed');
        written += rows.length;
        // The clock moves on, so that the next batch is written.
        now += 20_000;
        await search.addVectors(key, rows);
      },
    };
    now -= 20_000;
    const first = meanwhile(async () => void (now += 20_000));
    await expect(embed(first, dying)).rejects.toThrow('killed');
    expect(written).toBeGreaterThan(0);
    const next = watched();
    while ((await embed(next)).left);
    expect(next.texts).toHaveLength(120 - written);
    expect(await vectors()).toEqual(docs.map((docId) => [docId, '1', 40, ''] as const).toSorted());
  });

  it('passages that cannot be embedded do not block other sources, and are retried', async () => {
    const [good, bad, fine] = [await stored(['Good.']), await stored(['Poison.']), await stored(['Fine.'])];
    let poisoned = true;
    const refusing: Embedding = {
      ...models,
      passages: async (texts, options) => {
        if (poisoned && texts.some(({ text }) => text === 'Poison.')) throw new Error('refused');
        return models.passages(texts, options);
      },
    };
    await expect(embed(refusing)).rejects.toThrow(
      '1 sources could not be embedded, see the log; the first: Error: refused',
    );
    expect(await Promise.all([good, bad, fine].map(embeddedBy))).toEqual([models.model, undefined, models.model]);
    poisoned = false;
    await embed(refusing);
    expect(await embeddedBy(bad)).toBe(models.model);
  });

  it('an embedding attempt ends after a few sources when every embedding fails', async () => {
    for (let at = 0; at < 6; at += 1) await stored([`Fact ${at}.`]);
    let asked = 0;
    const away = { ...models, passages: async () => Promise.reject(new Error(`away ${(asked += 1)}`)) };
    await expect(embed(away)).rejects.toThrow('away 4');
  });
});

describe('a document that changes while it is being embedded', () => {
  it('a document that is deleted while it is being embedded has no vectors left', async () => {
    const docId = await stored(['One.', 'Two.']);
    const deleting = meanwhile(async () => {
      await deleteSource(orgId, docId);
      await search.removeSource(owner(), docId);
      await removeChunks(orgId, [docId]);
    });
    expect(await embed(deleting)).toEqual({ left: false });
    expect(await vectors()).toEqual([]);
  });

  it('a document that is replaced while it is being embedded gets the vectors of the new text', async () => {
    const docId = await stored(['The old text.', 'It had a second passage.']);
    const replacing = meanwhile(async () => publish(docId, ['The new text.'], 2));
    expect(await embed(replacing)).toEqual({ left: false });
    expect(await vectors()).toEqual([[docId, '2', 1, '']]);
    expect(await embeddedBy(docId)).toBe(models.model);
  });

  it('a replaced document does not count as embedded until its new text is embedded', async () => {
    const docId = await stored(['The old text.']);
    await embed();
    await publish(docId, ['The new text.'], 2);
    expect(await embeddedBy(docId)).toBeUndefined();
    expect(await vectors()).toEqual([]);
  });

  it('a document that is retagged while it is being embedded has vectors with the new tags', async () => {
    const docId = await stored(['One.'], { segments: ['personal'] });
    const tagging = meanwhile(async () => {
      await DocumentModel.updateOne({ _id: docId }, { $set: { segments: ['staff'] }, $inc: { tags_version: 1 } });
      await run(createSourceActivities({ search }).retagSource, { orgId, sourceId: docId });
    });
    await embed(tagging);
    expect(await vectors()).toEqual([[docId, '1', 1, 'staff']]);
  });
});

describe('a document whose tags changed', () => {
  it('a document whose tags change during a failed embedding attempt gets vectors with the new tags in the next attempt', async () => {
    const docId = await stored(
      Array.from({ length: 40 }, (_, n) => `Fact ${n}.`),
      { segments: ['personal'] },
    );
    const dying: Search = {
      ...search,
      async addVectors(key, rows) {
        await DocumentModel.updateOne({ _id: docId }, { $set: { segments: ['staff'] }, $inc: { tags_version: 1 } });
        await run(createSourceActivities({ search }).retagSource, { orgId, sourceId: docId });
        await search.addVectors(key, rows);
        throw new Error('killed');
      },
    };
    await expect(
      embed(
        meanwhile(async () => void (now += 20_000)),
        dying,
      ),
    ).rejects.toThrow('killed');
    expect(await vectors()).toEqual([[docId, '1', 32, 'personal']]);
    await embed();
    expect(await vectors()).toEqual([[docId, '1', 40, 'staff']]);
  });
});

describe('the process that embeds passages', () => {
  /** The ids of child processes that run the program. */
  async function children(program: string): Promise<number[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
    const found = await Promise.all(
      pids.map(async (pid) => {
        const read = async (name: string) => readFile(join('/proc', pid, name), 'utf8').catch(() => '');
        const parent = (await read('stat')).split(') ')[1]?.split(' ')[1];
        return parent === String(process.pid) && (await read('cmdline')).includes(program) ? [Number(pid)] : [];
      }),
    );
    return found.flat();
  }

  it('a source is embedded even when the embedding process is killed in the middle', async () => {
    const docId = await stored(Array.from({ length: 30 }, (_, n) => `Fact ${n}: ${'a long sentence '.repeat(40)}`));
    const embedding = watched();
    const done = embed(embedding);
    await until(async () => embedding.texts.length > 0, 'the passages to be asked for');
    for (const pid of await children('embedding/child')) killIfThere(pid);
    const outcome = await done.catch((error: unknown) => String(error));
    if (typeof outcome === 'string') expect(outcome).toContain('could not be embedded');
    await until(async () => {
      await embed().catch(() => undefined);
      return (await embeddedBy(docId)) === models.model;
    }, 'the document to be embedded');
    expect(await vectors()).toEqual([[docId, '1', 30, '']]);
  });
});

describe('switching to another model', () => {
  it('switching to another model creates new vectors, keeps the old ones until all are created, and never mixes the two', async () => {
    const docs = [await stored(['The gold card costs 49 EUR.']), await stored(['Branches open at nine.'])];
    await embed();
    const seen: string[][] = [];
    const next: Embedding = {
      ...meanwhile(async () => {
        seen.push(await sourcesNear(models.model!), await sourcesNear('another'));
      }),
      model: 'another',
    };
    async function sourcesNear(model: string): Promise<string[]> {
      const parts = await models.question('the price of a card');
      const meaning = { model, parts, weights: parts.map(() => 1) };
      const { candidates } = await search.query(owner(), { text: '', meaning, filter: undefined, limit: 9 });
      return candidates.map(({ id }) => id.split(':')[0]!).toSorted();
    }
    expect(await embed(next)).toEqual({ left: false });
    expect(seen).toEqual([docs.toSorted(), []]);
    expect(await sourcesNear(models.model!)).toEqual([]);
    expect(await sourcesNear('another')).toEqual(docs.toSorted());
    const names = (await search.listTables()).filter(({ org_id }) => org_id === orgId).map(({ model }) => model);
    expect(names.toSorted()).toEqual(['another', undefined]);
    expect(await Promise.all(docs.map(embeddedBy))).toEqual(['another', 'another']);
  });
});

describe('a page whose crawl is still running', () => {
  it('a page of a running crawl is embedded by a new model after two minutes, and old vectors stay until then', async () => {
    const doc = await stored(['The gold card costs 49 EUR.']);
    await embed();
    const pageId = newId('page');
    await PageModel.create({
      _id: pageId,
      org_id: orgId,
      mode,
      url: 'https://a.example/',
      live: true,
      crawl_id: 'crawl_1',
      segments: [],
      tags_version: 0,
      generation: 1,
      live_generation: 1,
      chunk_count: 1,
      content_sha256: 'x',
      crawled_at: clock(),
      created_at: clock(),
      updated_at: clock(),
      embed_after: pagesEmbedAfter(clock()),
    });
    const source = { org_id: orgId, mode, source_type: 'website' as const, source_id: pageId, generation: 1 };
    const chunks = chunksOf(source, [{ ordinal: 0, heading: '', text: 'Branches open at nine.' }]);
    await writeChunks(source, chunks);
    await indexChunks(search, owner(), chunks, () => ({
      segments: [],
      authority: effectiveAuthority(undefined, 'website'),
    }));
    const other: Embedding = { ...models, model: 'another' };
    expect(await embed(other)).toEqual({ left: false });
    expect(await vectors('another')).toEqual([[doc, '1', 1, '']]);
    expect(await vectors()).toEqual([[doc, '1', 1, '']]);
    now += 2 * 60_000;
    expect(await embed(other)).toEqual({ left: false });
    expect(await vectors('another')).toEqual([[doc, '1', 1, ''] as const, [pageId, '1', 1, ''] as const].toSorted());
    expect(await vectors()).toEqual([]);
  });
});

it('the waiting time for embeddings counts from the first waiting passage until the embedding starts', async () => {
  const work = async () => (await EmbeddingWorkModel.find({ org_id: orgId }, null, everyRecord).lean())[0]!;
  const first = clock();
  await wakeEmbedding(owner(), first);
  now += 60_000;
  await wakeEmbedding(owner(), clock());
  const { _id, pending } = await work();
  const wanted = { workflow: 'embedPassages', signal: 'wake', args: [{ orgId, mode }], tries: 0 };
  expect(pending).toMatchObject([{ ...wanted, since: first, next_at: clock() }]);
  await settleIntent(EmbeddingWorkModel, { _id, org_id: orgId }, pending![0]!);
  await wakeEmbedding(owner(), clock());
  expect((await work()).pending).toMatchObject([{ ...wanted, since: clock() }]);
});

describe('the maintenance of embeddings', () => {
  it('the maintenance of embeddings re-embeds sources whose vectors are missing, lost, damaged or outdated by a restore', async () => {
    const docs = [await stored(['One.']), await stored(['Two.'], { segments: ['staff'] }), await stored(['Three.'])];
    const wanted = async () => EmbeddingWorkModel.countDocuments({ org_id: orgId }, everyRecord);
    expect(await repair()).toBe(0);
    expect(await wanted()).toBe(1);
    await embed();
    const whole = await vectors();
    expect(await repair()).toBe(0);
    expect(await vectors()).toEqual(whole);

    await search.removeSource(table(), docs[0]!);
    await search.retag(table(), docs[1]!, { segments: ['everyone'], authority: 'normal' }, '1');
    const ghost = {
      id: 'doc_gone:1:0',
      source_id: 'doc_gone',
      generation: 1,
      segments: [],
      authority: 'normal' as const,
      language: undefined,
    };
    await search.addVectors(table(), [{ ...ghost, vector: (await models.passages([{ heading: '', text: 'x' }]))[0]! }]);
    expect(await repair()).toBe(3);
    expect(await embeddedBy(docs[0]!)).toBeUndefined();
    await embed();
    expect(await vectors()).toEqual(whole);

    await search.dropTable(table());
    expect(await repair()).toBe(3);
    await embed();
    expect(await vectors()).toEqual(whole);
    expect(await repair()).toBe(0);
  });
});
