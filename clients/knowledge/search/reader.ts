/**
 * The read side of the index. The index only proposes candidates; callers read them again from MongoDB. So the index
 * never decides who may see a passage.
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

export type { Query } from './rows.ts';

/** `unindexed`: the number of rows that are not in an index yet, which every query must scan one by one. */
export type IndexStats = { rows: number; unindexed: number; fragments: number };

export type SearchReader = {
  /**
   * Returns candidates in no particular order; none for a missing table. Sees all writes that any process has finished
   * before. A damaged table of vectors is ignored. @throws DamagedIndex when the lexical table is damaged. The other
   * methods that read a table throw DamagedIndex too.
   */
  query(key: IndexTable, query: Query): Promise<Proposed>;
  /** The tiers of authority that have at least one chunk. */
  tiers(key: IndexTable): Promise<Authority[]>;
  stats(key: IndexTable): Promise<IndexStats>;
  /** All tables, lexical and vector. `model` is the model's name as it is in the table's name. */
  listTables(): Promise<IndexTable[]>;
  /**
   * Every source and batch in the table, once for each combination of tags and authority among its rows. Used to
   * compare the index with the records in MongoDB.
   */
  listSources(key: IndexTable): Promise<IndexedSource[]>;
  /** Runs a question's queries on the files, bypassing all caches of this process. @throws DamagedIndex */
  check(key: IndexTable): Promise<void>;
  close(): void;
};

export const createSearchReader = (options: SearchOptions): SearchReader => readerOf(createTables(options));

/** Returns the read operations on `tables`. The write operations (search.ts) may share the same `tables`. */
export function readerOf(tables: Tables): SearchReader {
  const { read } = tables;
  const samples = createSamples();
  return {
    query: async (key, query) => propose(tables, samples, key, query),
    tiers: async (key) => read(tableName(key), [], tiersOf),
    stats: async (key) => read(tableName(key), noStats, async ({ table }) => statsOf(table, key)),
    listSources: async (key) => read(tableName(key), [], async ({ table }) => sourcesOf(table)),
    check: async (key) => checkTable(tables, key),
    listTables: async () => tables.list(),
    close: () => tables.close(),
  };
}

const noStats: IndexStats = { rows: 0, unindexed: 0, fragments: 0 };

/**
 * `unindexed` counts the rows outside the text index. A vector table has no text index, so the rows outside its index
 * of source ids are counted.
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
  const { near, ...sampled } = byMeaning;
  const known = new Set(near.map(({ id }) => id));
  const missing = byText.flatMap(({ id }) => (known.has(id) ? [] : [id]));
  const others = await readVectors(tables, key, meaning, [], ({ table }) => byIds(table, meaning, missing));
  const compared = [...near, ...(others ?? [])];
  return { candidates: merge(byText, compared), ...sampled, degraded: others === undefined };
}

type ByMeaning = { near: Compared[] } & Pick<Proposed, 'background' | 'neighbours'>;
const noVectors: ByMeaning = { near: [], background: [] };

async function searchMeaning(
  tables: Tables,
  samples: Samples,
  key: IndexTable,
  meaning: Meaning,
  { condition, limit }: { condition: string | undefined; limit: number },
): Promise<ByMeaning | undefined> {
  return readVectors(tables, key, meaning, noVectors, async (opened) => {
    const [near, compared] = await Promise.all([
      nearest(opened.table, meaning, condition, limit),
      backgroundOf(tables, samples, tableName({ ...key, model: meaning.model }), opened, meaning),
    ]);
    return { near, ...compared };
  });
}

/**
 * Reads the vector table of the question's model. Returns undefined when the table is damaged; `none` when it does not
 * exist or its vectors have another length.
 */
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

/** The tiers of a table, cached until the table changes. */
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
  // The columns are concatenated into one text inside the query, because decoding lists of texts takes twice as long.
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
