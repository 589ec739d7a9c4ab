/**
 * The search index with both halves: reading, and the writing that activities do. It is derived from the chunks in MongoDB and
 * can be rebuilt from them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Index } from '@lancedb/lancedb';
import type { Table } from '@lancedb/lancedb';
import { isConflict, isMissing } from './damage.ts';
import { dimension } from './find.ts';
import { readerOf, statsOf, type IndexStats, type SearchReader } from './reader.ts';
import {
  candidateOf,
  labels,
  schema,
  sql,
  sqlList,
  tagsOf,
  textIndex,
  type IndexRow,
  type IndexTable,
} from './rows.ts';
import { createTables, tableName, type SearchOptions, type Tables } from './tables.ts';
import { authorities } from '../../models/rules/knowledge/authority.ts';
import type { Authority } from '../../models/rules/knowledge/authority.ts';

export type { SearchReader, IndexStats } from './reader.ts';
export type { IndexRow, IndexTable, Query } from './rows.ts';

/** What one source's rows are tagged with from now on; what is left out stays. */
type Retagging = { segments?: readonly string[]; authority?: Authority };

export type Search = SearchReader & {
  /**
   * Searchable at once. Repeated by one caller, what the table holds of these sources and batches is replaced in one commit;
   * callers that may run at once write batches of their own, for two adds of one batch at the same time leave it twice.
   */
  add(key: IndexTable, rows: readonly IndexRow[]): Promise<void>;
  /** Removes a source, or all its batches but one. */
  removeSource(key: IndexTable, sourceId: string, exceptBatch?: string): Promise<void>;
  removeBatch(key: IndexTable, sourceId: string, batch: string): Promise<void>;
  /** Removes sources, many in one commit. */
  removeSources(key: IndexTable, sourceIds: readonly string[]): Promise<void>;
  /** All rows of a source, or those of one batch. */
  retag(key: IndexTable, sourceId: string, change: Retagging, batch?: string): Promise<void>;
  /** Merges small writes into the index and drops versions that no query can still be reading. Does nothing when there is nothing to do. */
  maintain(key: IndexTable): Promise<IndexStats>;
  dropTable(key: IndexTable): Promise<void>;
};

/** Readers hold a version for one query; ten minutes is far beyond the longest. */
const keepVersionsMs = 10 * 60_000;
/** Below this, comparing with every vector is fast enough (about 10 ms at 1,536 dimensions) and exact. */
const vectorIndexFromRows = 10_000;
const maxAttempts = 8;

export function createSearch(options: SearchOptions): Search {
  const tables = createTables(options);
  const reader = readerOf(tables);
  const writing = async (key: IndexTable, mode: 'create' | 'existing', run: (table: Table) => Promise<unknown>) =>
    write(tables, tableName(key), mode, run);
  return {
    ...reader,

    async add(key, rows) {
      if (rows.length > 0) await writing(key, 'create', (table) => addRows(table, rows));
    },

    async removeSource(key, sourceId, exceptBatch) {
      const others = exceptBatch === undefined ? '' : ` AND generation <> ${sql(exceptBatch)}`;
      const rows = `source_id = ${sql(sourceId)}${others}`;
      await writing(key, 'existing', async (table) => {
        if ((await table.countRows(rows)) > 0) await table.delete(rows);
      });
    },

    async removeBatch(key, sourceId, batch) {
      const rows = `source_id = ${sql(sourceId)} AND generation = ${sql(batch)}`;
      await writing(key, 'existing', (table) => table.delete(rows));
    },

    async removeSources(key, sourceIds) {
      if (sourceIds.length === 0) return;
      await writing(key, 'existing', (table) => table.delete(`source_id IN (${sourceIds.map(sql).join(', ')})`));
    },

    async retag(key, sourceId, change, batch) {
      const rows = `source_id = ${sql(sourceId)}${batch === undefined ? '' : ` AND generation = ${sql(batch)}`}`;
      await writing(key, 'existing', (table) => retagRows(table, rows, change));
    },

    async maintain(key) {
      await writing(key, 'existing', async (table) => {
        const before = await statsOf(table);
        if (before.rows >= vectorIndexFromRows && (await dimension(table)) !== undefined) await indexVectors(table);
        if (before.unindexed === 0 && before.fragments <= 1) return;
        await table.optimize({ cleanupOlderThan: new Date(tables.clock() - keepVersionsMs) });
      });
      return reader.stats(key);
    },

    async dropTable(key) {
      const name = tableName(key);
      tables.forget(name);
      await (await tables.connection()).dropTable(name).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    },
  };
}

async function addRows(table: Table, rows: readonly IndexRow[]): Promise<unknown> {
  const pairs = new Map(rows.map((row) => [JSON.stringify([row.source_id, row.generation]), row]));
  const same = [...pairs.values()]
    .map((row) => `(source_id = ${sql(row.source_id)} AND generation = ${sql(row.generation)})`)
    .join(' OR ');
  const size = await fitVectors(table, rows);
  const data = rows.map((row) => ({
    id: row.id,
    source_id: row.source_id,
    generation: row.generation,
    labels: labels(row.segments, row.authority),
    authority: row.authority,
    candidate: candidateOf(row.id, row.authority),
    // The heading counts twice: it says what the chunk is about (Cranfield nDCG@10 0.378 instead of 0.375).
    text: `${row.heading}\n${row.heading}\n${row.text}`,
    ...(size === undefined ? {} : { vector: row.vector?.length === size ? row.vector : null }),
  }));
  if ((await table.countRows(same)) === 0) return table.add(data);
  // A repeated call, seldom: replace in one commit. Appending is the fast way (9 ms beside 65 at 100,000 rows).
  return table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .whenNotMatchedBySourceDelete({ where: same })
    .execute(data);
}

/** `rows`: the condition that finds them; they all have the tags of the first. */
async function retagRows(table: Table, rows: string, change: Retagging): Promise<void> {
  const [row] = await table.query().where(rows).select(['labels', 'authority']).limit(1).toArray();
  if (row === undefined) return;
  const authority = change.authority ?? authorities.find((tier) => tier === row.authority) ?? 'normal';
  const valuesSql = {
    labels: sqlList(labels(change.segments ?? tagsOf(row.labels as Iterable<string>), authority)),
    authority: sql(authority),
    candidate: `concat(${sql(candidateOf('', authority))}, id)`,
  };
  await table.update({ where: rows, valuesSql });
}

async function fitVectors(table: Table, rows: readonly IndexRow[]): Promise<number | undefined> {
  const wanted = rows.find(({ vector }) => vector !== undefined)?.vector?.length;
  const existing = await dimension(table);
  if (wanted === undefined || wanted === existing) return existing;
  if (existing !== undefined) await table.dropColumns(['vector']);
  await table.addColumns([{ name: 'vector', valueSql: `arrow_cast(NULL, 'FixedSizeList(${wanted}, Float32)')` }]);
  return wanted;
}

async function createTable(tables: Tables, name: string): Promise<void> {
  const db = await tables.connection();
  const table = await db.createEmptyTable(name, schema, { mode: 'create', existOk: true });
  const having = new Set((await table.listIndices()).flatMap(({ columns }) => columns));
  const wanted: [string, Index][] = [
    ['text', textIndex()],
    ['labels', Index.labelList()],
    ['authority', Index.bitmap()],
    ['source_id', Index.btree()],
  ];
  for (const [column, config] of wanted) {
    if (having.has(column)) continue;
    // Another process may have been quicker: then there is an index of this name, which is what is wanted.
    await table.createIndex(column, { config, replace: false }).catch((error: unknown) => {
      if (!/already exists/iu.test(String(error))) throw error;
    });
  }
}

/**
 * Writes on the latest version; a commit that another writer came before is tried again, a little later each time. The last
 * error is thrown, for the activity around it to be retried.
 */
async function write(
  tables: Tables,
  name: string,
  mode: 'create' | 'existing',
  run: (table: Table) => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      let opened = await tables.current(name);
      if (mode === 'create' && (opened === undefined || (await opened.table.listIndices()).length < 4)) {
        await createTable(tables, name);
        tables.forget(name);
        opened = await tables.current(name);
      }
      if (opened === undefined) return;
      await opened.table.checkoutLatest();
      await run(opened.table);
      return;
    } catch (error) {
      tables.forget(name);
      if (attempt >= maxAttempts || !(isConflict(error) || isMissing(error))) throw error;
      await sleep(attempt * 10 * (1 + Math.random()));
    }
  }
}

async function indexVectors(table: Table): Promise<void> {
  const exists = (await table.listIndices()).some(({ columns }) => columns.includes('vector'));
  if (!exists) await table.createIndex('vector', { config: Index.ivfRq({ distanceType: 'cosine' }), replace: false });
}
