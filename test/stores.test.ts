/** The stores agree, whichever of them was late or lost: chunks in MongoDB, their rows in the index, and the documents they are of. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { createDocumentActivities } from '../activities/document.ts';
import { createMaintenanceActivities } from '../activities/maintenance.ts';
import { createAi } from '../clients/ai.ts';
import { createFiles, type Files } from '../clients/files.ts';
import { createSearch, type Search } from '../clients/search.ts';
import { ChunkModel, chunksOf, listChunks, writeChunks } from '../models/chunk.ts';
import { connectMongo, disconnectMongo } from '../models/connect.ts';
import { DocumentModel } from '../models/document.ts';
import { newId } from '../models/ids.ts';

const log = pino({ level: 'silent' });
const clock = () => new Date();
const mode = 'test' as const;
let folder: string;
let search: Search;
let files: Files;

beforeAll(async () => {
  const uri = new URL(process.env['TEST_MONGODB_URI']!);
  uri.pathname = '/stores';
  await connectMongo(uri.href);
  folder = await mkdtemp(join(tmpdir(), 'stores-'));
  search = createSearch({ uri: folder });
  files = createFiles({ spares: 0 });
});
afterAll(async () => {
  search.close();
  await files.close();
  await disconnectMongo();
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

/** A document that answers, of which MongoDB knows everything and the index nothing. */
async function unindexed(orgId: string, tags: { segments?: string[] } = {}): Promise<string> {
  const docId = newId('document');
  const source = sourceOf(orgId, docId);
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
    segments: tags.segments ?? [],
    uploaded_by: 'usr_1',
    generation: 1,
    live_generation: 1,
    chunk_count: 2,
    tags_version: 0,
    created_at: now,
    updated_at: now,
  });
  return docId;
}

describe('an index that was lost', () => {
  const repair = () => run(createMaintenanceActivities({ search, ai: createAi({}), clock, log }).repairIndexes);

  it('is made anew from what MongoDB has, with its tags, once', async () => {
    const orgId = newId('org');
    const plain = await unindexed(orgId);
    const tagged = await unindexed(orgId, { segments: ['staff'] });
    expect(await search.listSources({ org_id: orgId, mode })).toEqual([]);
    await repair();
    const rows = (await search.listSources({ org_id: orgId, mode })).toSorted((a, b) =>
      a.source_id < b.source_id ? -1 : 1,
    );
    expect(rows).toEqual([plain, tagged].sort().map((source_id) => ({ source_id, generation: '1', chunks: 2 })));
    expect(await repair()).toBe(0);
    expect(await search.listSources({ org_id: orgId, mode })).toHaveLength(2);
  });

  it('is left without what was deleted meanwhile', async () => {
    const orgId = newId('org');
    const docId = await unindexed(orgId);
    await DocumentModel.deleteOne({ _id: docId });
    await repair();
    expect(await search.listSources({ org_id: orgId, mode })).toEqual([]);
  });
});

describe('an attempt at a document that was deleted', () => {
  it.each(['readDocument', 'indexDocument'] as const)('%s removes what attempts before it left', async (name) => {
    const activities = createDocumentActivities({ files, search, ai: createAi({}), clock, log });
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
  });
});

describe('chunks of a generation', () => {
  it('written again are the same; fewer and other ones take the place of all, and none is missing in between', async () => {
    const orgId = newId('org');
    const docId = newId('document');
    const source = sourceOf(orgId, docId);
    const write = (...texts: string[]) => writeChunks(source, chunksOf(source, passages(...texts)));
    const texts = async () => (await listChunks(orgId, docId, 1)).map(({ text }) => text);
    await write('a', 'b', 'c');
    const changes = ChunkModel.watch([{ $match: { operationType: 'delete' } }]);
    try {
      const deleted = changes.next();
      await write('a', 'b', 'c');
      expect(await texts()).toEqual(['a', 'b', 'c']);
      await write('a', 'B');
      expect(await texts()).toEqual(['a', 'B']);
      // The first deletion that was seen is of what is no longer there, so none came before it.
      expect(await deleted).toMatchObject({ documentKey: { _id: `${docId}:1:2` } });
    } finally {
      await changes.close();
    }
  });
});
