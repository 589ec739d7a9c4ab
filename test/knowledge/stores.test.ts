/**
 * The stores stay consistent when one of them lags or is lost: chunks in MongoDB, their rows in the index, and the
 * documents.
 */
import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { modelsIn } from '../kit/database.ts';
import { until } from '../kit/harness.ts';
import { readerProgram } from '../kit/readerprogram.ts';
import { createDocumentActivities } from '../../activities/knowledge/document.ts';
import { createLiveCopyActivities } from '../../activities/knowledge/livecopy.ts';
import { createMaintenanceActivities } from '../../activities/knowledge/maintenance.ts';
import { createFiles, type Files } from '../../clients/files/files.ts';
import { createSearch, type IndexTable, type Search } from '../../clients/knowledge/search/search.ts';
import { ChunkModel, chunksOf, listChunks, removeChunks, writeChunks } from '../../models/knowledge/chunk.ts';
import { collectionOf } from '../../models/base/define.ts';
import { claimDocument, DocumentModel, writeBytes, type Document } from '../../models/knowledge/document.ts';
import { createLiveCopy, finishLiveCopy } from '../../models/knowledge/livecopy.ts';
import { newId } from '../../models/base/ids.ts';
import { Unreadable, unreadableReasons } from '../../models/rules/base/unreadable.ts';
import { generationOf } from '../../models/rules/knowledge/reconcile.ts';

const log = pino({ level: 'silent' });
const clock = () => new Date();
const mode = 'test' as const;
const unused = { local: undefined, passages: async () => Promise.reject(new Error('nothing is embedded here')) };
const embedding = { ...unused, model: undefined };
let folder: string;
let search: Search;
let files: Files;

modelsIn('stores');
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stores-'));
  search = createSearch({ uri: folder });
  files = createFiles({ program: await readerProgram(), spares: 0 });
});
afterAll(async () => {
  search.close();
  await files.close();
  await rm(folder, { recursive: true, force: true });
});

const run = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
  new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run<A, R, (...args: A) => Promise<R>>(
    activity,
    ...args,
  );

const passages = (...texts: string[]) => texts.map((text, ordinal) => ({ ordinal, heading: '', text }));
const sourceOf = (orgId: string, docId: string, generation = 1) => ({
  org_id: orgId,
  mode,
  source_type: 'document' as const,
  source_id: docId,
  generation,
});

/** A live document that is complete in MongoDB and missing in the index. */
async function unindexed(orgId: string, fields: Partial<Document> = {}): Promise<string> {
  const docId = newId('document');
  const source = sourceOf(orgId, docId, fields.live_generation);
  await writeChunks(source, chunksOf(source, passages('The first passage.', 'The second passage.')));
  const now = clock();
  await DocumentModel.create({
    _id: docId,
    org_id: orgId,
    mode,
    filename: 'a.md',
    file_type: 'md',
    mime_type: 'text/markdown',
    file_size: 1,
    sha256: docId,
    status: 'indexed',
    segments: [],
    uploaded_by: 'usr_1',
    generation: 1,
    live_generation: 1,
    chunk_count: 2,
    tags_version: 0,
    created_at: now,
    updated_at: now,
    ...fields,
  });
  return docId;
}

const tableOf = (orgId: string): IndexTable => ({ org_id: orgId, mode });
const rowOf = (docId: string, generation = 1, segments: string[] = []) => ({
  id: `${docId}:${generation}:0`,
  source_id: docId,
  generation: String(generation),
  segments,
  authority: 'normal' as const,
  heading: '',
  text: 'The first passage.',
});
const indexed = async (orgId: string, by = search) =>
  (await by.listSources(tableOf(orgId)))
    .map(({ source_id, generation, segments }) => [source_id, generationOf(generation), segments.join()])
    .toSorted();

const repairWith = (deps: { search?: Search; embedding?: { model: string | undefined }; log?: typeof log } = {}) =>
  run(createMaintenanceActivities({ search, embedding, clock, log, ...deps }).repairIndexes);
const repair = () => repairWith();

describe('a lost index', () => {
  it('a lost index is rebuilt from MongoDB, with tags and without duplicates', async () => {
    const orgId = newId('org');
    const plain = await unindexed(orgId);
    const tagged = await unindexed(orgId, { segments: ['staff'] });
    expect(await search.listSources(tableOf(orgId))).toEqual([]);
    await repair();
    const expected = [
      [plain, 1, ''],
      [tagged, 1, 'staff'],
    ].toSorted();
    expect(await indexed(orgId)).toEqual(expected);
    expect((await search.listSources(tableOf(orgId))).map(({ chunks }) => chunks)).toEqual([2, 2]);
    expect(await repair()).toBe(0);
    expect(await indexed(orgId)).toEqual(expected);
  });

  it.each<[string, (docId: string) => Promise<unknown>]>([
    ['was deleted', (docId) => DocumentModel.deleteOne({ _id: docId })],
    ['was processed anew', (docId) => DocumentModel.updateOne({ _id: docId }, { generation: 2, live_generation: 2 })],
  ])('a rebuilt index has no rows of a document that %s during the rebuild', async (_, change) => {
    const orgId = newId('org');
    const docId = await unindexed(orgId);
    let added = 0;
    const late: Search = {
      ...search,
      add: async (...args) => {
        await change(docId);
        added += 1;
        return search.add(...args);
      },
    };
    await repairWith({ search: late });
    expect(added).toBe(1);
    expect(await indexed(orgId)).toEqual([]);
  });

  it('a rebuilt index has the tags that were changed during the rebuild', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId);
    const late: Search = {
      ...search,
      add: async (...args) => {
        await DocumentModel.updateOne({ _id: docId }, { segments: ['staff'], $inc: { tags_version: 1 } });
        return search.add(...args);
      },
    };
    await repairWith({ search: late });
    expect(await indexed(orgId)).toEqual([[docId, 1, 'staff']]);
  });
});

describe('an index restored from an old backup', () => {
  it('an index restored from an old backup gets the current tags and loses what has since been removed or replaced', async () => {
    const orgId = newId('org');
    const retagged = await unindexed(orgId, { segments: ['business'], tags_version: 1, chunk_count: 1 });
    const replaced = await unindexed(orgId, { generation: 3, live_generation: 3 });
    const running = await unindexed(orgId, { generation: 2, status: 'processing', chunk_count: 1 });
    const first = await unindexed(orgId, { status: 'processing' });
    await DocumentModel.updateOne({ _id: first }, { $unset: { live_generation: 1 } });
    await search.add(tableOf(orgId), [
      rowOf(retagged, 1, ['retail']),
      rowOf(replaced, 1),
      rowOf(replaced, 2),
      rowOf(running, 1, ['old']),
      // The repair leaves this row, because the activity that publishes this generation sets its tags.
      rowOf(running, 2, ['new']),
      rowOf(first, 1),
      rowOf(newId('document'), 1),
    ]);
    expect(await repair()).toBe(6);
    expect(await indexed(orgId)).toEqual(
      [
        [retagged, 1, 'business'],
        [replaced, 3, ''],
        [running, 1, ''],
        [running, 2, 'new'],
        [first, 1, ''],
      ].toSorted(),
    );
    expect(await repair()).toBe(0);
  });

  it('an index restored from an old backup is emptied when no document is live any more', async () => {
    const orgId = newId('org');
    await search.add(tableOf(orgId), [rowOf(newId('document'))]);
    await repair();
    expect(await indexed(orgId)).toEqual([]);
  });

  it('an index restored from an old backup keeps what is published while the index is being checked', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId, { segments: ['old'] });
    await search.add(tableOf(orgId), [rowOf(docId, 1, ['old'])]);
    const late: Search = {
      ...search,
      listSources: async (table) => {
        if (table.org_id === orgId) {
          const tags = { segments: ['new'], $inc: { tags_version: 1 } };
          await DocumentModel.updateOne({ _id: docId }, { generation: 2, live_generation: 2, ...tags });
          await search.add(table, [rowOf(docId, 2, ['new'])]);
        }
        return search.listSources(table);
      },
    };
    await repairWith({ search: late });
    expect(await indexed(orgId)).toEqual(
      [
        [docId, 1, 'old'],
        [docId, 2, 'new'],
      ].toSorted(),
    );
  });
});

describe('a fault in one organization’s index', () => {
  /** Truncates the files of a table, as a full disk or an aborted copy does. */
  async function damage(orgId: string): Promise<void> {
    const data = join(folder, `${orgId}.${mode}.lance`, 'data');
    for (const file of await readdir(data)) await truncate(join(data, file), 10);
  }
  const noted = () => {
    const lines: Record<string, unknown>[] = [];
    return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }) };
  };

  it('the damaged index of one organization is repaired, and the indexes of the other organizations are still maintained', async () => {
    const orgs = [newId('org'), newId('org'), newId('org')];
    const docs = await Promise.all(orgs.map((orgId) => unindexed(orgId)));
    await repair();
    await damage(orgs[1]!);
    for (const at of [0, 2]) await search.dropTable(tableOf(orgs[at]!));
    // A second `Search`, because the first one may have the table in its cache.
    const other = createSearch({ uri: folder });
    const { lines, log: noting } = noted();
    try {
      expect(await repairWith({ search: other, log: noting })).toBe(3);
      for (const [at, orgId] of orgs.entries()) expect(await indexed(orgId, other)).toEqual([[docs[at], 1, '']]);
    } finally {
      other.close();
    }
    const named = lines.find(({ level, org_id }) => level === 50 && org_id === orgs[1]);
    expect(named).toMatchObject({
      mode,
      reason: expect.stringMatching(/range|buffer/),
      msg: expect.stringContaining('damaged'),
    });
  });

  it('an index that cannot be accessed is logged and left unchanged, and the indexes of other organizations are repaired', async () => {
    const orgs = [newId('org'), newId('org'), newId('org')];
    const docs = await Promise.all(orgs.map((orgId) => unindexed(orgId)));
    await search.add(tableOf(orgs[1]!), [rowOf(docs[1]!), { ...rowOf(docs[1]!), id: `${docs[1]}:1:1` }]);
    const dropped: string[] = [];
    const full: Search = {
      ...search,
      check: async (table) => {
        if (table.org_id === orgs[1]) throw new Error('LanceError(IO): No space left on device');
        return search.check(table);
      },
      dropTable: async ({ org_id }) => void dropped.push(org_id),
    };
    const { lines, log: noting } = noted();
    await expect(repairWith({ search: full, log: noting })).rejects.toThrow('No space left');
    expect(dropped).toEqual([]);
    for (const [at, orgId] of orgs.entries()) expect(await indexed(orgId)).toEqual([[docs[at], 1, '']]);
    expect(lines.filter(({ reason }) => reason !== undefined)).toMatchObject([
      { org_id: orgs[1], mode, reason: expect.stringContaining('No space left') },
    ]);
  });

  it('when one source cannot be written to the index, the error is logged, and the other sources are restored', async () => {
    const orgId = newId('org');
    const docs = [await unindexed(orgId), await unindexed(orgId), await unindexed(orgId)];
    const late: Search = {
      ...search,
      add: async (table, rows) => {
        if (rows[0]?.source_id === docs[1]) throw new Error('The disk refused this text.');
        return search.add(table, rows);
      },
    };
    const { lines, log: noting } = noted();
    await expect(repairWith({ search: late, log: noting })).rejects.toThrow('refused this text');
    expect(await indexed(orgId)).toEqual([docs[0]!, docs[2]!].map((docId) => [docId, 1, '']).toSorted());
    expect(lines[0]).toMatchObject({ org_id: orgId, source_id: docs[1], reason: expect.stringContaining('refused') });
    await repair();
  });
});

describe('the index rows of one document', () => {
  it('the index rows of one document are stored once when two attempts write them at the same time', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId, { status: 'uploaded' });
    await DocumentModel.updateOne({ _id: docId }, { $unset: { live_generation: 1 } });
    // Each attempt waits until both are about to write.
    let arrived = 0;
    let open!: () => void;
    const both = new Promise<void>((resolve) => (open = resolve));
    const together: Search = {
      ...search,
      add: async (...args) => {
        arrived += 1;
        if (arrived === 2) open();
        await both;
        return search.add(...args);
      },
    };
    const reading = { ...files, chunk: async () => passages('One.', 'Two.', 'Three.') } as unknown as Files;
    const activities = createDocumentActivities({ files: reading, search: together, embedding, clock, log });
    const ref = { orgId, docId, generation: 1 };
    const outcomes = await Promise.all([1, 2].map(() => run(activities.readDocument, ref)));
    expect(outcomes).toContain('indexed');
    const rows = await search.listSources(tableOf(orgId));
    expect(rows).toMatchObject([{ source_id: docId, chunks: 3 }]);
    expect(await repair()).toBe(0);
  });

  it.each([
    ['under one batch name', ['1', '1']],
    ['under the batch name in use and another one', ['1', '1.1']],
  ])('duplicate index rows of a document are removed: %s', async (_, names) => {
    const orgId = newId('org');
    const docId = await unindexed(orgId);
    const rows = (generation: string) => [0, 1].map((n) => ({ ...rowOf(docId), id: `${docId}:1:${n}`, generation }));
    // These are the rows of two concurrent attempts that did not see each other's rows.
    await search.add(tableOf(orgId), names.flatMap(rows));
    const planted = await search.listSources(tableOf(orgId));
    expect(planted.reduce((sum, { chunks }) => sum + chunks, 0)).toBe(4);
    expect(await repair()).toBe(1);
    const left = await search.listSources(tableOf(orgId));
    expect(left).toMatchObject([{ source_id: docId, chunks: 2 }]);
    expect(await repair()).toBe(0);
    const { candidates } = await search.query(tableOf(orgId), { text: 'passage', filter: undefined, limit: 20 });
    expect(candidates.map(({ id }) => id).toSorted()).toEqual([`${docId}:1:0`, `${docId}:1:1`]);
  });
});

describe('an attempt for a deleted document', () => {
  it.each(['readDocument', 'indexDocument'] as const)(
    'a late attempt of the activity %s for a deleted document removes the chunks and index rows that earlier attempts left',
    async (name) => {
      const activities = createDocumentActivities({ files, search, embedding, clock, log });
      const orgId = newId('org');
      const docId = newId('document');
      const source = sourceOf(orgId, docId);
      const chunks = chunksOf(source, passages('What was read after the deletion.'));
      await writeChunks(source, chunks);
      await search.add({ org_id: orgId, mode }, [
        {
          id: chunks[0]!._id,
          source_id: docId,
          generation: '1',
          segments: [],
          authority: 'normal',
          heading: '',
          text: 'x',
        },
      ]);
      expect(await run(activities[name], { orgId, docId, generation: 1 })).toBe('gone');
      expect(await listChunks(orgId, docId, 1)).toEqual([]);
      expect(await search.listSources({ org_id: orgId, mode })).toEqual([]);
    },
  );
});

it('removing the older versions of a document keeps the chunks of its next version, which is about to be published', async () => {
  const orgId = newId('org');
  const docId = await unindexed(orgId, { status: 'processing' });
  for (const generation of [1, 2, 3]) {
    const source = sourceOf(orgId, docId, generation);
    await writeChunks(source, chunksOf(source, passages('What it says.')));
  }
  await removeChunks(orgId, [docId], { $lt: 2 });
  expect(await ChunkModel.distinct('generation', { org_id: orgId, source_id: docId })).toEqual([2, 3]);
});

describe('a late attempt for a document', () => {
  it.each([
    ['without a model', embedding],
    ['with an embedding model', { ...unused, model: 'm' }],
  ])('a late attempt to read a document that has since been reprocessed leaves no data, %s', async (_, embedding) => {
    const orgId = newId('org');
    const docId = await unindexed(orgId, { status: 'uploaded' });
    const slow = {
      ...files,
      chunk: async () => {
        // Meanwhile another attempt published this generation, and the next one was requested and published.
        const source = sourceOf(orgId, docId, 2);
        await writeChunks(source, chunksOf(source, passages('What it says now.')));
        await removeChunks(orgId, [docId], { $ne: 2 });
        await search.add(tableOf(orgId), [rowOf(docId, 2)]);
        await DocumentModel.updateOne({ _id: docId }, { status: 'indexed', generation: 2, live_generation: 2 });
        return passages('What it said before.');
      },
    } as unknown as Files;
    const activities = createDocumentActivities({ files: slow, search, embedding, clock, log });
    expect(await run(activities.readDocument, { orgId, docId, generation: 1 })).toBe('gone');
    expect(await ChunkModel.distinct('generation', { org_id: orgId, source_id: docId })).toEqual([2]);
    expect(await indexed(orgId)).toEqual([[docId, 2, '']]);
  });

  it('a late attempt that embeds a document which has since been reprocessed leaves no vectors', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId, { status: 'processing' });
    const source = sourceOf(orgId, docId, 1);
    await writeChunks(source, chunksOf(source, passages('What it said before.')));
    const late = {
      ...unused,
      model: 'm',
      passages: async (texts: readonly object[]) => {
        await DocumentModel.updateOne({ _id: docId }, { status: 'indexed', generation: 2, live_generation: 2 });
        return texts.map(() => Float32Array.of(1));
      },
    };
    const activities = createDocumentActivities({ files, search, embedding: late, clock, log });
    expect(await run(activities.embedDocument, { orgId, docId, generation: 1 })).toBe('gone');
    expect(await search.listSources({ ...tableOf(orgId), model: 'm' })).toEqual([]);
  });

  it('a late attempt that cannot read a document does not mark it as failed when another attempt has claimed it', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId, { status: 'uploaded' });
    const reading = (chunk: () => Promise<unknown>) => {
      const deps = { files: { ...files, chunk } as unknown as Files, search, embedding, clock, log };
      return run(createDocumentActivities(deps).readDocument, { orgId, docId, generation: 1 });
    };
    const late = reading(async () => {
      await claimDocument(orgId, docId, 1, clock());
      throw new Unreadable('timed_out');
    });
    expect(await late).toBe('gone');
    expect(await DocumentModel.findOne({ _id: docId, org_id: orgId }).lean()).toMatchObject({ status: 'processing' });
    expect(await reading(async () => passages('What it says.'))).toBe('indexed');
  });

  it('a repeated attempt to read an unreadable file returns the same reason as the first attempt', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId, { status: 'uploaded' });
    const broken = {
      ...files,
      chunk: async () => {
        throw new Unreadable('encrypted');
      },
    } as unknown as Files;
    const activities = createDocumentActivities({ files: broken, search, embedding, clock, log });
    const read = () => run(activities.readDocument, { orgId, docId, generation: 1 });
    const outcomes = [await read(), await read()];
    const failed = { failed: unreadableReasons.encrypted };
    expect(outcomes).toEqual([failed, failed]);
  });

  it('while one file of an organization is read, its further files wait in the backlog, and other organizations’ files do not', async () => {
    const [many, single] = [newId('org'), newId('org')];
    const seen: boolean[] = [];
    const all = Promise.withResolvers<void>();
    const waiting = {
      ...files,
      chunk: async (_source: unknown, _type: unknown, { background }: { background: boolean }) => {
        seen.push(background);
        await all.promise;
        throw new Unreadable('encrypted');
      },
    } as unknown as Files;
    const deps = { files: waiting, search, embedding, clock, log };
    const { readDocument } = createDocumentActivities(deps);
    const backlog = createDocumentActivities(deps, { backlog: true });
    const stored = async (orgId: string) => ({
      orgId,
      docId: await unindexed(orgId, { status: 'uploaded' }),
      generation: 1,
    });
    const first = run(readDocument, await stored(many));
    await until(async () => seen.length === 1, 'the first file to be read');
    const further = await stored(many);
    expect(await run(readDocument, further)).toBe('crowded');
    const others = [run(backlog.readDocument, further), run(readDocument, await stored(single))];
    await until(async () => seen.length === 3, 'the other files to be read');
    expect(seen.toSorted()).toEqual([false, false, true]);
    all.resolve();
    const failed = { failed: unreadableReasons.encrypted };
    expect(await Promise.all([first, ...others])).toEqual([failed, failed, failed]);
  });

  it('reading a document keeps the version in use (live generation) while the next one is being processed', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId, { status: 'processing', generation: 2 });
    await search.add(tableOf(orgId), [rowOf(docId, 1)]);
    const activities = createDocumentActivities({ files, search, embedding, clock, log });
    for (const name of ['readDocument', 'indexDocument'] as const)
      expect(await run(activities[name], { orgId, docId, generation: 1 })).toBe('gone');
    expect(await listChunks(orgId, docId, 1)).toHaveLength(2);
    expect(await indexed(orgId)).toEqual([[docId, 1, '']]);
  });
});

it('a document that is tagged while it is being read is published with the new tags', async () => {
  const orgId = newId('org');
  const docId = await unindexed(orgId, { status: 'uploaded' });
  const tagged = {
    ...files,
    chunk: async () => {
      await DocumentModel.updateOne({ _id: docId }, { segments: ['staff'], $inc: { tags_version: 1 } });
      return passages('What it says.');
    },
  } as unknown as Files;
  const vectors = async (texts: readonly object[]) => texts.map(() => Float32Array.of(1));
  const model = { ...unused, model: 'm', passages: vectors };
  const activities = createDocumentActivities({ files: tagged, search, embedding: model, clock, log });
  const ref = { orgId, docId, generation: 1 };
  expect([await run(activities.readDocument, ref), await run(activities.embedDocument, ref)]).toEqual([
    'embed',
    'indexed',
  ]);
  expect(await indexed(orgId)).toEqual([[docId, 1, 'staff']]);
});

it('during a copy to live mode, the repair of the index keeps the rows of pages that are not stored yet', async () => {
  const orgId = newId('org');
  const live: IndexTable = { org_id: orgId, mode: 'live' };
  const asked = { org_id: orgId, mode: 'live' as const, requested_by: 'usr_1', requested_at: clock() };
  const copy = { _id: newId('liveCopy'), ...asked, running: true as const };
  await createLiveCopy(copy);
  const pageId = newId('page');
  await search.add(live, [rowOf(pageId)]);
  await repair();
  expect(await search.listSources(live)).toMatchObject([{ source_id: pageId }]);
  await finishLiveCopy(orgId, copy._id, { documents: 0, pages: 0, left_out: [] }, clock());
  await repair();
  expect(await search.listSources(live)).toEqual([]);
});

it('a document that is restricted while others are copied to live mode is copied with its new segments', async () => {
  const orgId = newId('org');
  for (const text of ['One.', 'Two.']) await unindexed(orgId, { text });
  const asked = { org_id: orgId, mode: 'live' as const, requested_by: 'usr_1', requested_at: clock() };
  const copy = { _id: newId('liveCopy'), ...asked, running: true as const };
  await createLiveCopy(copy);
  const room = { documents: 9, knowledge_pages: 9 };
  const { copyToLive } = createLiveCopyActivities({
    search,
    embedding,
    quotas: { sandbox: room, production: room },
    // This is called for the first document after its copy is stored.
    start: async () => void (await DocumentModel.updateMany({ org_id: orgId, mode }, { segments: ['staff'] })),
    clock,
  });
  await run(copyToLive, { orgId, copyId: copy._id });
  const copies = await DocumentModel.find({ org_id: orgId, mode: 'live' }).lean();
  expect(copies.map(({ segments }) => segments).toSorted()).toEqual([[], ['staff']]);
});

describe('the bytes of an upload', () => {
  const parts = () => mongoose.connection.collection<{ files_id: string; n: number; data: Buffer }>('files.chunks');
  const stored = (docId: string) => parts().countDocuments({ files_id: docId });
  /** Stores a part as GridFS does. Parts of the same age would have equal ids. */
  const storePart = (docId: string, n: number, minutesAgo: number) => {
    const _id = mongoose.mongo.ObjectId.createFromTime(Math.floor(Date.now() / 1000) - minutesAgo * 60);
    return parts().insertOne({ _id, files_id: docId, n, data: Buffer.from('part') });
  };

  it('the bytes of an upload whose process was killed half-way are deleted after an hour, and those of a running upload or of a document are kept', async () => {
    const next = () => newId('document');
    const [killed, half, running, whole] = [next(), next(), next(), next()];
    const owned = await unindexed(newId('org'));
    for (const n of [0, 1]) await storePart(killed, n, 70 - n);
    // The removal of this upload was killed, too, after it had deleted the first part.
    await storePart(half, 1, 80);
    await storePart(running, 0, 90);
    await storePart(running, 1, 50);
    await storePart(owned, 0, 100);
    await writeBytes(whole, Readable.from([Buffer.from('whole')]));
    const { dropOrphanedBytes } = createMaintenanceActivities({ search, embedding, clock, log });
    expect(await run(dropOrphanedBytes)).toBe(2);
    expect(await Promise.all([killed, half, running, owned, whole].map(stored))).toEqual([0, 0, 2, 1, 1]);
    expect(await run(dropOrphanedBytes)).toBe(0);
  });

  it('an upload that breaks off leaves no bytes', async () => {
    const docId = newId('document');
    async function* breaking() {
      yield Buffer.alloc(300 * 1024);
      await until(async () => (await stored(docId)) === 1, 'the first part to be stored');
      throw new Error('The source broke off.');
    }
    await expect(writeBytes(docId, Readable.from(breaking()))).rejects.toThrow('broke off');
    expect(await stored(docId)).toBe(0);
  });
});

describe('the chunks of a generation', () => {
  it('new chunks of a document’s version replace the old chunks, and unchanged chunks are never missing in between', async () => {
    const orgId = newId('org');
    const docId = newId('document');
    const source = sourceOf(orgId, docId);
    const write = (...texts: string[]) => writeChunks(source, chunksOf(source, passages(...texts)));
    const texts = async () => (await listChunks(orgId, docId, 1)).map(({ text }) => text);
    await write('a', 'b', 'c');
    const changes = collectionOf(ChunkModel).watch([{ $match: { operationType: 'delete' } }]);
    try {
      // After this call the change stream is open and misses nothing.
      expect(await changes.tryNext()).toBeNull();
      const deleted = changes.next();
      await write('a', 'b', 'c');
      expect(await texts()).toEqual(['a', 'b', 'c']);
      await write('a', 'B');
      expect(await texts()).toEqual(['a', 'B']);
      // The first deletion seen is of a chunk that is no longer part of the set, so no other was deleted before it.
      expect(await deleted).toMatchObject({ documentKey: { _id: `${docId}:1:2` } });
    } finally {
      await changes.close();
    }
  });
});
