/**
 * The half of the index that reads. The index only proposes candidates: callers read every one again from MongoDB, so this
 * never decides what anybody may see.
 */
import type { Table } from '@lancedb/lancedb';
import { checkTable } from './check.ts';
import { dimension, maxQueryLength, merge, searchText, searchVector } from './find.ts';
import { sql, tagsOf, where, type IndexTable, type Query } from './rows.ts';
import { createTables, tableName, type OpenTable, type SearchOptions, type Tables } from './tables.ts';
import { authorities } from '../../models/rules/knowledge/authority.ts';
import type { Authority } from '../../models/rules/knowledge/authority.ts';
import type { IndexedSource } from '../../models/rules/knowledge/reconcile.ts';
import type { Candidate } from '../../models/rules/knowledge/retrieval.ts';

export type IndexStats = { rows: number; unindexed: number; fragments: number };

/** What only reads: for questions, and for whatever compares. */
export type SearchReader = {
  /**
   * Candidates in no order that matters; a missing table has none. Sees whatever any process has written before.
   * @throws DamagedIndex when the table cannot be read, as all that read do.
   */
  query(key: IndexTable, query: Query): Promise<Candidate[]>;
  /** The tiers that have at least one chunk. */
  tiers(key: IndexTable): Promise<Authority[]>;
  stats(key: IndexTable): Promise<IndexStats>;
  /** Rows that a query has to read one by one because the index doesn't have them yet. */
  unindexedRows(key: IndexTable): Promise<number>;
  listTables(): Promise<IndexTable[]>;
  /** Every source and batch the table holds, once for each tags that rows of it have, for reconciling it with the truth. */
  listSources(key: IndexTable): Promise<IndexedSource[]>;
  /** Runs a question's queries on the files themselves, past all caches of this process. @throws DamagedIndex */
  check(key: IndexTable): Promise<void>;
  close(): void;
};

export const createSearchReader = (options: SearchOptions): SearchReader => readerOf(createTables(options));

/** The reading half on tables that a writing half may share. */
export function readerOf(tables: Tables): SearchReader {
  const { read } = tables;
  const stats = async (key: IndexTable): Promise<IndexStats> =>
    read(tableName(key), noStats, async ({ table }) => statsOf(table));
  return {
    query: async (key, query) => read(tableName(key), [], async ({ table }) => candidates(table, query)),
    tiers: async (key) => read(tableName(key), [], tiersOf),
    stats,
    unindexedRows: async (key) => (await stats(key)).unindexed,
    listSources: async (key) => read(tableName(key), [], async ({ table }) => sourcesOf(table)),
    check: async (key) => checkTable(tables.uri, tableName(key), () => tables.exists(tableName(key))),
    async listTables() {
      const names = await (await tables.connection()).tableNames({ limit: 1_000_000 });
      return names.flatMap((name): IndexTable[] => {
        const match = /^([A-Za-z0-9_]+)\.(test|live)$/u.exec(name);
        return match === null ? [] : [{ org_id: String(match[1]), mode: match[2] === 'live' ? 'live' : 'test' }];
      });
    },

    close: () => tables.close(),
  };
}

const noStats: IndexStats = { rows: 0, unindexed: 0, fragments: 0 };

export async function statsOf(table: Table): Promise<IndexStats> {
  const [index, stats] = await Promise.all([table.indexStats('text_idx'), table.stats()]);
  const rows = stats.numRows;
  return { rows, unindexed: index?.numUnindexedRows ?? rows, fragments: stats.fragmentStats.numFragments };
}

async function candidates(table: Table, query: Query): Promise<Candidate[]> {
  const { text, vector, limit } = query;
  const condition = where(query);
  const [byText, byVector] = await Promise.all([
    searchText(table, text.slice(0, maxQueryLength), condition, limit),
    vector !== undefined && (await dimension(table)) === vector.length
      ? searchVector(table, vector, condition, limit)
      : [],
  ]);
  return merge(byText, byVector);
}

/** Counted anew only when the table has changed. */
async function tiersOf(opened: OpenTable): Promise<Authority[]> {
  if (opened.tiers?.seen !== undefined && opened.tiers.seen === opened.seen) return opened.tiers.list;
  const { seen } = opened;
  const version = await opened.table.version();
  if (opened.tiers?.version === version) {
    opened.tiers.seen = seen;
    return opened.tiers.list;
  }
  const counts = await Promise.all(authorities.map((tier) => opened.table.countRows(`authority = ${sql(tier)}`)));
  opened.tiers = { version, seen, list: authorities.filter((_, index) => (counts[index] ?? 0) > 0) };
  return opened.tiers.list;
}

async function sourcesOf(table: Table): Promise<IndexedSource[]> {
  const counts = new Map<string, IndexedSource>();
  // One text a row, put together where the rows are: lists of texts cost twice as much to take apart here.
  const whole = `concat_ws('\n', source_id, generation, authority, array_to_string(labels, '\n'))`;
  for await (const batch of table.query().select({ whole })) {
    const column = batch.getChild('whole')!;
    for (let at = 0; at < batch.numRows; at += 1) {
      const name = String(column.get(at));
      const known = counts.get(name);
      if (known) {
        known.chunks += 1;
        continue;
      }
      const [source_id = '', generation = '', authority = '', ...stored] = name.split('\n');
      counts.set(name, { source_id, generation, chunks: 1, segments: tagsOf(stored), authority });
    }
  }
  return [...counts.values()];
}
