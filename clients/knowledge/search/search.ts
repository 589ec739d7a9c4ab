/**
 * The search index with its read and write sides. It is derived from the chunks in MongoDB and can be rebuilt from
 * them. The text is in one table; the vectors of each model are in another.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Index } from '@lancedb/lancedb';
import type { Table } from '@lancedb/lancedb';
import { isConflict, isMissing } from './damage.ts';
import { maintainVectors } from './vectorindex.ts';
import { readerOf, statsOf, type IndexStats, type SearchReader } from './reader.ts';
import { candidateOf, labels, schema, sql, sqlList, textIndex, type IndexRow, type IndexTable } from './rows.ts';
import { createTables, tableName, type OpenTable, type SearchOptions, type Tables } from './tables.ts';
import { toArrow, vectorSchema, widthOf, type VectorRow } from './vectors.ts';
import { generationOf } from '../../../models/rules/knowledge/reconcile.ts';

export type { SearchReader, IndexStats } from './reader.ts';
export type { IndexRow, IndexTable, Query } from './rows.ts';
export type { VectorRow } from './vectors.ts';

type Tags = Pick<IndexRow, 'segments' | 'authority'>;

export type Search = SearchReader & {
  /**
   * Adds rows, which are searchable at once. Idempotent: rows of the same sources and batches are replaced in one
   * commit. Concurrent callers must write different batches, because two concurrent adds of the same batch store it
   * twice.
   */
  add(key: IndexTable, rows: readonly IndexRow[]): Promise<void>;
  /**
   * Adds vectors of chunks for the model in `key`, which are searchable at once. The chunks' lexical rows need not
   * exist yet. Idempotent: vectors of the same chunks are replaced. If the table has vectors of another length, it is
   * dropped and created again.
   */
  addVectors(key: IndexTable & { model: string }, rows: readonly VectorRow[]): Promise<void>;
  /** The ids of the chunks of these sources that have vectors for the model in `key`. */
  chunksWithVectors(key: IndexTable & { model: string }, sourceIds: readonly string[]): Promise<Set<string>>;
  /** The vector tables of an organization and mode, for all models. */
  vectorTables(key: IndexTable): Promise<IndexTable[]>;
  /** Whether two keys mean the same table. A model's name may be given unchanged, or as encoded in the table's name. */
  isSameTable(a: IndexTable, b: IndexTable): boolean;
  /** Removes all batches of a source, or all except one, with their vectors. */
  removeSource(key: IndexTable, sourceId: string, exceptBatch?: string): Promise<void>;
  /**
   * Removes a batch from the one table in `key`. In a vector table, pass the generation's number as `batch`, because
   * all batches of a generation share their vectors.
   */
  removeBatch(key: IndexTable, sourceId: string, batch: string): Promise<void>;
  /** Removes many sources, with their vectors, in one commit for each table. */
  removeSources(key: IndexTable, sourceIds: readonly string[]): Promise<void>;
  /** Changes the tags and the tier of all rows of one batch of a source, and of their vectors. */
  retag(key: IndexTable, sourceId: string, tags: Tags, batch: string): Promise<void>;
  /**
   * Merges small writes into the index, and drops versions that no query can still be reading. Does nothing when there
   * is nothing to merge.
   */
  maintain(key: IndexTable): Promise<IndexStats>;
  /**
   * Drops the one table that `key` names. Without `key.model` that is the lexical table; the vector tables are kept.
   */
  dropTable(key: IndexTable): Promise<void>;
};

/**
 * An old version of a table is kept for this long, in ms. A reader uses one version for a whole query, and a query
 * takes far less time.
 */
const keepVersionsMs = 10 * 60_000;
/**
 * Maximum number of attempts to commit. A conflict means that another writer committed first, and a merge may take a
 * second on a busy machine.
 */
const maxAttempts = 20;

export function createSearch(options: SearchOptions): Search {
  const tables = createTables(options);
  const reader = readerOf(tables);
  /**
   * Runs a write on the lexical table, then on the vector tables of all models. If `key` names a model, the write runs
   * only on that model's table.
   */
  const everywhere = async (
    key: IndexTable,
    run: (table: Table, of: IndexTable) => Promise<unknown>,
  ): Promise<void> => {
    for (const one of [key, ...(key.model === undefined ? await tables.vectorTables(key) : [])])
      await write(tables, tableName(one), 'existing', (table) => run(table, one));
  };
  async function drop(key: IndexTable): Promise<void> {
    const name = tableName(key);
    tables.forget(name);
    await (await tables.connection()).dropTable(name).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }
  return {
    ...reader,

    async add(key, rows) {
      if (rows.length > 0) await write(tables, tableName(key), 'words', (table) => addRows(table, rows));
    },

    async addVectors(key, rows) {
      const [first] = rows;
      if (first === undefined) return;
      tables.uses(key.model);
      const width = first.vector.length;
      const table = await tables.current(tableName(key));
      if (table !== undefined && widthOf(await table.table.schema()) !== width) await drop(key);
      await write(tables, tableName(key), { width }, (existing) => addVectorRows(existing, rows, width));
    },

    chunksWithVectors: async (key, sourceIds) =>
      tables.read(tableName(key), new Set<string>(), async ({ table }) => {
        if (sourceIds.length === 0) return new Set();
        const found = await table.query().where(ofSources(sourceIds)).select(['id']).toArray();
        return new Set(found.map(({ id }) => String(id)));
      }),

    vectorTables: async (key) => tables.vectorTables(key),
    isSameTable: (a, b) => tableName(a) === tableName(b),

    async removeSource(key, sourceId, exceptBatch) {
      const others = (kept: string | undefined): string =>
        kept === undefined ? '' : ` AND generation <> ${sql(kept)}`;
      const generation = exceptBatch === undefined ? undefined : String(generationOf(exceptBatch));
      await everywhere(key, async (table, of) => {
        const rows = `source_id = ${sql(sourceId)}${others(of.model === undefined ? exceptBatch : generation)}`;
        if ((await table.countRows(rows)) > 0) await table.delete(rows);
      });
    },

    async removeBatch(key, sourceId, batch) {
      const rows = `source_id = ${sql(sourceId)} AND generation = ${sql(batch)}`;
      await write(tables, tableName(key), 'existing', (table) => table.delete(rows));
    },

    async removeSources(key, sourceIds) {
      if (sourceIds.length === 0) return;
      await everywhere(key, (table) => table.delete(ofSources(sourceIds)));
    },

    async retag(key, sourceId, tags, batch) {
      await everywhere(key, (table, of) => {
        const generation = of.model === undefined ? batch : String(generationOf(batch));
        return retagRows(table, `source_id = ${sql(sourceId)} AND generation = ${sql(generation)}`, tags);
      });
    },

    async maintain(key) {
      await write(tables, tableName(key), 'existing', async (table) => {
        const before = await statsOf(table, key);
        const cleanupOlderThan = new Date(tables.clock() - keepVersionsMs);
        if (key.model !== undefined) return maintainVectors(table, before, cleanupOlderThan);
        if (before.unindexed > 0 || before.fragments > 1) await table.optimize({ cleanupOlderThan });
      });
      return reader.stats(key);
    },

    dropTable: drop,
  };
}

const ofSources = (sourceIds: readonly string[]): string => `source_id IN (${sourceIds.map(sql).join(', ')})`;

async function addRows(table: Table, rows: readonly IndexRow[]): Promise<unknown> {
  const pairs = new Map(rows.map((row) => [JSON.stringify([row.source_id, row.generation]), row]));
  const same = [...pairs.values()]
    .map((row) => `(source_id = ${sql(row.source_id)} AND generation = ${sql(row.generation)})`)
    .join(' OR ');
  const data = rows.map((row) => ({
    id: row.id,
    source_id: row.source_id,
    generation: row.generation,
    labels: labels(row.segments, row.authority),
    authority: row.authority,
    candidate: candidateOf(row.id, row.authority),
    // The heading is indexed twice, because it names the chunk's subject: nDCG@10 on the Cranfield collection is then
    // 0.378 instead of 0.375.
    text: `${row.heading}\n${row.heading}\n${row.text}`,
  }));
  if ((await table.countRows(same)) === 0) return table.add(data);
  // Only a repeated call, which is rare, replaces rows. Appending is faster: 9 ms instead of 65 at 100,000 rows.
  return table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .whenNotMatchedBySourceDelete({ where: same })
    .execute(data);
}

async function addVectorRows(table: Table, rows: readonly VectorRow[], width: number): Promise<unknown> {
  const sources = [...new Set(rows.map((row) => row.source_id))];
  const data = toArrow(rows, width);
  if ((await table.countRows(ofSources(sources))) === 0) return table.add(data);
  return table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(data);
}

/** `rows`: the condition that selects the rows. */
async function retagRows(table: Table, rows: string, { segments, authority }: Tags): Promise<void> {
  if ((await table.countRows(rows)) === 0) return;
  const valuesSql = {
    labels: sqlList(labels(segments, authority)),
    authority: sql(authority),
    candidate: `concat(${sql(candidateOf('', authority))}, id)`,
  };
  await table.update({ where: rows, valuesSql });
}

/** The kind of a table's content: text, or vectors of this length. */
type Content = 'words' | { width: number };

const columnsOf = (content: Content): [string, Index][] => [
  ...(content === 'words' ? [['text', textIndex()] as [string, Index]] : [['id', Index.btree()] as [string, Index]]),
  ['labels', Index.labelList()],
  ['authority', Index.bitmap()],
  ['source_id', Index.btree()],
];

async function createTable(tables: Tables, name: string, content: Content): Promise<void> {
  const db = await tables.connection();
  const columns = content === 'words' ? schema : vectorSchema(content.width);
  const table = await db.createEmptyTable(name, columns, { mode: 'create', existOk: true });
  const having = new Set((await table.listIndices()).flatMap(({ columns: of }) => of));
  for (const [column, config] of columnsOf(content)) {
    if (having.has(column)) continue;
    // When another process created the index first, the index exists and the error can be ignored.
    await table.createIndex(column, { config, replace: false }).catch((error: unknown) => {
      if (!/already exists/iu.test(String(error))) throw error;
    });
  }
}

/** Thrown while another process is creating the table; `write` then tries again. */
class BeingCreated extends Error {
  override readonly name = 'BeingCreated';
  override readonly message = 'Another process creates the index table; it is tried again.';
}

const isComplete = async (opened: OpenTable | undefined): Promise<boolean> =>
  opened !== undefined && (await opened.table.listIndices()).length >= 4;

/**
 * Writes to the table's latest version with optimistic locking. A commit that conflicts is retried with backoff. The
 * last error is thrown, so that Temporal retries the activity.
 */
async function write(
  tables: Tables,
  name: string,
  mode: Content | 'existing',
  run: (table: Table) => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      let opened = await tables.current(name);
      if (mode !== 'existing' && !(await isComplete(opened))) {
        // Two processes must not create the table at the same time: the second one would replace it with an empty table
        // (LanceDB 0.39).
        await tables.exclusively(name, () => createTable(tables, name, mode));
        tables.forget(name);
        opened = await tables.current(name);
        if (!(await isComplete(opened))) throw new BeingCreated();
      }
      if (opened === undefined) return;
      await opened.table.checkoutLatest();
      await run(opened.table);
      return;
    } catch (error) {
      tables.forget(name);
      if (attempt >= maxAttempts || !(error instanceof BeingCreated || isConflict(error) || isMissing(error)))
        throw error;
      await sleep(attempt * 10 * (1 + Math.random()));
    }
  }
}
