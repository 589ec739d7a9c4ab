/**
 * The reading half of the index. The index only proposes candidates, which callers read again from MongoDB, so it never
 * decides who may see what.
 */
import type { Table } from '@lancedb/lancedb';
import { checkTable } from './check.ts';
import { DamagedIndex } from './damage.ts';
import { maxQueryLength, merge, searchText } from './find.ts';
import { backgroundOf, byIds, comparable, createSamples, nearest, type Compared, type Samples } from './meaning.ts';
import { sql, tagsOf, where, type IndexTable, type Query } from './rows.ts';
import { createTables, tableName, type OpenTable, type SearchOptions, type Tables } from './tables.ts';
import { authorities } from '../../../models/rules/knowledge/authority.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';
import type { IndexedSource } from '../../../models/rules/knowledge/reconcile.ts';
import type { Meaning, Proposed } from '../../../models/rules/knowledge/retrieval.ts';

export type IndexStats = { rows: number; unindexed: number; fragments: number };

/** The queries that only read. */
export type SearchReader = {
  /**
   * Candidates in no particular order; a missing table gives none. It sees everything that any process has written
   * before. Unreadable vectors are left out. @throws DamagedIndex when the table of the words cannot be read, like
   * every method that reads.
   */
  query(key: IndexTable, query: Query): Promise<Proposed>;
  /** The tiers that have at least one chunk. */
  tiers(key: IndexTable): Promise<Authority[]>;
  stats(key: IndexTable): Promise<IndexStats>;
  /** How many rows a query must read one by one because the index does not have them yet. */
  unindexedRows(key: IndexTable): Promise<number>;
  /** The tables of words and of vectors; `model` is the name in the table's name. */
  listTables(): Promise<IndexTable[]>;
  /**
   * Every source and batch in the table, once for each set of tags among its rows, for comparing it with the records.
   */
  listSources(key: IndexTable): Promise<IndexedSource[]>;
  /** Runs a question's queries on the files, past all caches of this process. @throws DamagedIndex */
  check(key: IndexTable): Promise<void>;
  close(): void;
};

export const createSearchReader = (options: SearchOptions): SearchReader => readerOf(createTables(options));

/** The reading half, on tables that a writing half may share. */
export function readerOf(tables: Tables): SearchReader {
  const { read } = tables;
  const samples = createSamples();
  const stats = async (key: IndexTable): Promise<IndexStats> =>
    read(tableName(key), noStats, async ({ table }) => statsOf(table, key));
  return {
    query: async (key, query) => propose(tables, samples, key, query),
    tiers: async (key) => read(tableName(key), [], tiersOf),
    stats,
    unindexedRows: async (key) => (await stats(key)).unindexed,
    listSources: async (key) => read(tableName(key), [], async ({ table }) => sourcesOf(table)),
    check: async (key) => checkTable(tables.uri, key, () => tables.exists(tableName(key))),
    listTables: async () => tables.list(),
    close: () => tables.close(),
  };
}

const noStats: IndexStats = { rows: 0, unindexed: 0, fragments: 0 };

/**
 * `unindexed`: for words, the rows missing in the text index; for vectors, the rows missing in the index of sources.
 */
export async function statsOf(table: Table, { model }: IndexTable): Promise<IndexStats> {
  const name = model === undefined ? 'text_idx' : 'source_id_idx';
  const [index, stats] = await Promise.all([table.indexStats(name), table.stats()]);
  const rows = stats.numRows;
  return { rows, unindexed: index?.numUnindexedRows ?? rows, fragments: stats.fragmentStats.numFragments };
}

async function propose(tables: Tables, samples: Samples, key: IndexTable, query: Query): Promise<Proposed> {
  const { text, meaning, limit } = query;
  const condition = where(query);
  const [byText, byMeaning] = await Promise.all([
    tables.read(tableName(key), [], async ({ table }) =>
      searchText(table, text.slice(0, maxQueryLength), condition, limit),
    ),
    meaning === undefined ? noVectors : searchMeaning(tables, samples, key, meaning, { condition, limit }),
  ]);
  if (meaning === undefined || byMeaning === undefined)
    return { candidates: merge(byText, []), background: [], degraded: byMeaning === undefined };
  const { near, background } = byMeaning;
  const known = new Set(near.map(({ id }) => id));
  const missing = byText.flatMap(({ id }) => (known.has(id) ? [] : [id]));
  const others = await readVectors(tables, key, meaning, [], ({ table }) => byIds(table, meaning, missing));
  const compared = [...near, ...(others ?? [])];
  return { candidates: merge(byText, compared), background, degraded: others === undefined };
}

type ByMeaning = { near: Compared[]; background: number[][] };
const noVectors: ByMeaning = { near: [], background: [] };

async function searchMeaning(
  tables: Tables,
  samples: Samples,
  key: IndexTable,
  meaning: Meaning,
  { condition, limit }: { condition: string | undefined; limit: number },
): Promise<ByMeaning | undefined> {
  return readVectors(tables, key, meaning, noVectors, async (opened) => {
    const [near, background] = await Promise.all([
      nearest(opened.table, meaning, condition, limit),
      backgroundOf(tables, samples, tableName({ ...key, model: meaning.model }), opened, meaning),
    ]);
    return { near, background };
  });
}

/** Reads the table of vectors that a question can be compared with; undefined when it is damaged. */
async function readVectors<T>(
  tables: Tables,
  key: IndexTable,
  meaning: Meaning,
  none: T,
  run: (open: OpenTable) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await tables.read(tableName({ ...key, model: meaning.model }), none, async (opened) =>
      (await comparable(opened, meaning)) ? run(opened) : none,
    );
  } catch (error) {
    if (error instanceof DamagedIndex) return undefined;
    throw error;
  }
}

/** Counted again only when the table has changed. */
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
  // One text per row, concatenated inside the query: lists of texts cost twice as much to decode here.
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
