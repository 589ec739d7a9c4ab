/**
 * Benchmark of searching 1,000,000 messages: a text index of MongoDB, which the inbox uses, beside the full-text index
 * of LanceDB, over the same messages. One organization has 300,000 of them, the others 1,000 each. Words come as in
 * natural language (Zipf): the n-th word is 1/n as frequent as the first.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, Index } from '@lancedb/lancedb';
import { MongoClient, type Collection } from 'mongodb';
import { startMongod } from '../engines/mongod.ts';
import { quantile, timed } from './stage.ts';

const count = process.argv.includes('small') ? 20_000 : 1_000_000;
const large = 0.3;
const batch = 10_000;
const wordsInMessage = 25;
const vocabulary = 50_000;

type Stored = { _id: string; org_id: string; mode: string; at: Date; body: string };

/** A generator of random numbers that are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const harmonic = Math.log(vocabulary);
/** Draws the rank of a word. A frequent word has a low rank. */
const rankOf = (random: number): number => Math.floor(Math.exp(random * harmonic));
const wordOf = (rank: number): string => `w${rank.toString(36)}`;

function* messages(): Generator<Stored[]> {
  const random = randomFrom(42);
  for (let from = 0; from < count; from += batch)
    yield Array.from({ length: Math.min(batch, count - from) }, (_, index) => {
      const at = from + index;
      const org_id = random() < large ? 'org_large' : `org_${at % Math.ceil((count * (1 - large)) / 1_000)}`;
      const body = Array.from({ length: wordsInMessage }, () => wordOf(rankOf(random()))).join(' ');
      return {
        _id: `msg_${String(at).padStart(9, '0')}`,
        org_id,
        mode: 'test',
        at: new Date(1_700_000_000_000 + at * 1000),
        body,
      };
    });
}

/**
 * The searches: a word that six in ten messages have, one that a thirtieth have, one that one in ten thousand has, and
 * two words together.
 */
const queries: Record<string, string[]> = {
  'a common word': [wordOf(2)],
  'a usual word': [wordOf(60)],
  'a rare word': [wordOf(20_000)],
  'a common and a rare word': [wordOf(2), wordOf(20_000)],
};

export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'support-search-'));
  const mongod = await startMongod({ dataDir: join(folder, 'mongod'), report: (line) => console.log(`  ${line}`) });
  try {
    await ofMongo(mongod.uri);
    await ofLance(join(folder, 'lance'));
  } finally {
    await mongod.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function ofMongo(uri: string): Promise<void> {
  const client = await MongoClient.connect(uri);
  const stored = client.db('search').collection<Stored>('messages');
  const plain = client.db('search').collection<Stored>('plain');
  const options = { default_language: 'none', language_override: 'language_of_words' };
  await stored.createIndex({ org_id: 1, body: 'text' }, options);
  let [indexed, bare] = [0, 0];
  for (const some of messages()) {
    indexed += await timed(() => stored.insertMany(some));
    bare += await timed(() => plain.insertMany(some));
  }
  const stats = await stored
    .aggregate<{ sizes: Record<string, number> }>([
      { $collStats: { storageStats: {} } },
      { $project: { sizes: '$storageStats.indexSizes' } },
    ])
    .next();
  const size = Object.entries(stats?.sizes ?? {}).find(([name]) => name.includes('text'))?.[1] ?? 0;
  console.log(
    `MongoDB: ${each(indexed)} to insert a message with the text index, ${each(bare)} without; the index has ${mb(size)}`,
  );
  for (const org of ['org_large', 'org_1'])
    for (const [name, words] of Object.entries(queries))
      await ask(`MongoDB, ${org}, ${name}`, () => newest(stored, org, words));
  await client.close();
}

const newest = (stored: Collection<Stored>, org_id: string, words: readonly string[]) =>
  stored
    .find({ org_id, mode: { $in: ['test', 'live'] }, $text: { $search: words.map((word) => `"${word}"`).join(' ') } })
    .sort({ at: -1, _id: -1 })
    .limit(71)
    .toArray();

async function ofLance(folder: string): Promise<void> {
  const db = await connect(folder);
  let table: Awaited<ReturnType<typeof db.createTable>> | undefined;
  let inserted = 0;
  for (const some of messages()) {
    const rows = some.map(({ _id: id, at, ...row }) => ({ id, at: at.getTime(), ...row }));
    inserted += await timed(async () => {
      if (table) await table.add(rows);
      else table = await db.createTable('messages', rows);
    });
  }
  const built = await timed(() =>
    table!.createIndex('body', { config: Index.fts({ stem: false, removeStopWords: false }) }),
  );
  console.log(
    `LanceDB: ${each(inserted)} to insert a message, and ${(built / 1000).toFixed(1)} s to make the index, which has no message that comes later`,
  );
  for (const org of ['org_large', 'org_1'])
    for (const [name, words] of Object.entries(queries))
      await ask(`LanceDB, ${org}, ${name}, by score`, () =>
        table!
          .query()
          .fullTextSearch(words.join(' '), { columns: 'body' })
          .where(`org_id = '${org}'`)
          .limit(71)
          .toArray(),
      );
  table?.close();
}

const each = (ms: number): string => `${((ms * 1000) / count).toFixed(0)} µs`;
const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

async function ask(what: string, find: () => Promise<unknown[]>): Promise<void> {
  const seen: number[] = [];
  let found = 0;
  for (let round = 0; round < 20; round += 1) seen.push(await timed(async () => (found = (await find()).length)));
  console.log(
    `${what}: p50 ${quantile(seen, 0.5).toFixed(0)} ms, p95 ${quantile(seen, 0.95).toFixed(0)} ms, ${found} found`,
  );
}
