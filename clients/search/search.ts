/**
 * The search index: LanceDB, one table an organization and mode, in a folder or on `s3://`. It is derived from the chunks in
 * MongoDB and can be rebuilt from them. It only proposes candidates: callers read every one again from the truth, so this
 * never decides what anybody may see.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { connect, Index, Session } from '@lancedb/lancedb';
import type { Connection, Table } from '@lancedb/lancedb';
import { LRUCache } from 'lru-cache';
import { askEverything, DamagedIndex, dimension, isConflict, isDamage, isMissing } from './damage.ts';
import { maxQueryLength, merge, searchText, searchVector } from './find.ts';
import { candidateOf, labels, schema, sql, sqlList, tagsOf, textIndex, where } from './rows.ts';
import { authorities } from '../../models/rules/knowledge/authority.ts';
import type { Authority } from '../../models/rules/knowledge/authority.ts';
import type { IndexedSource } from '../../models/rules/knowledge/reconcile.ts';
import type { Candidate } from '../../models/rules/knowledge/retrieval.ts';
import type { SegmentFilter } from '../../models/rules/knowledge/segments.ts';

export type IndexTable = { org_id: string; mode: 'test' | 'live' };

export type IndexRow = {
  /** The chunk's id: unique, ours. */
  id: string;
  source_id: string;
  /** Which processing of the source this row is from. */
  generation: string;
  /** Normalised tags; none: untagged. */
  segments: readonly string[];
  authority: Authority;
  heading: string;
  text: string;
  /** Of one length throughout the table; another length than the table's starts the vectors anew. */
  vector?: number[] | undefined;
};

export type Query = {
  text: string;
  vector?: number[] | undefined;
  filter: SegmentFilter | undefined;
  authority?: Authority | undefined;
  /** `<source id>:<generation>` of rows that are left out. */
  without?: readonly string[];
  /** At most this many for the words and as many for the vector. */
  limit: number;
};

export type IndexStats = { rows: number; unindexed: number; fragments: number };

export type Search = {
  /** Idempotent: what the table holds of these sources and generations is replaced in one commit. Searchable at once. */
  add(key: IndexTable, rows: readonly IndexRow[]): Promise<void>;
  /** Removes a source, or all its generations but one. */
  removeSource(key: IndexTable, sourceId: string, exceptGeneration?: string): Promise<void>;
  removeGeneration(key: IndexTable, sourceId: string, generation: string): Promise<void>;
  /** Removes sources, many in one commit. */
  removeSources(key: IndexTable, sourceIds: readonly string[]): Promise<void>;
  /** All rows of a source, or those of one generation. */
  retag(
    key: IndexTable,
    sourceId: string,
    change: { segments?: readonly string[]; authority?: Authority },
    generation?: string,
  ): Promise<void>;
  /**
   * Candidates in no order that matters; a missing table has none. Sees whatever any process has written before.
   * @throws DamagedIndex when the table cannot be read, as all that read do.
   */
  query(key: IndexTable, query: Query): Promise<Candidate[]>;
  /** The tiers that have at least one chunk. */
  tiers(key: IndexTable): Promise<Authority[]>;
  /** Merges small writes into the index and prunes what no reader can be at any more. Does nothing when there is nothing to do. */
  maintain(key: IndexTable): Promise<IndexStats>;
  stats(key: IndexTable): Promise<IndexStats>;
  /** Rows that a query has to read one by one because the index doesn't have them yet. */
  unindexedRows(key: IndexTable): Promise<number>;
  listTables(): Promise<IndexTable[]>;
  dropTable(key: IndexTable): Promise<void>;
  /** Every source and generation the table holds, once for each tags that rows of it have, for reconciling it with the truth. */
  listSources(key: IndexTable): Promise<IndexedSource[]>;
  /** Asks what questions ask of the files themselves, not of what this process remembers of them. @throws DamagedIndex */
  check(key: IndexTable): Promise<void>;
  close(): void;
};

export type SearchOptions = {
  /** A local path, or an object store's address (`s3://bucket/prefix`). */
  uri: string;
  /** Bytes of index parts kept in memory by this process. The library's default of 6 GiB is more than most machines have. */
  indexCacheBytes?: number;
  metadataCacheBytes?: number;
  /** Open tables kept. */
  maxTables?: number;
  clock?: () => number;
};

/** Readers hold a version for one query; ten minutes is far beyond the longest. */
const keepVersionsMs = 10 * 60_000;
/** A folder's change time may stand still for one tick of the kernel's clock (4 ms, 10 on old ones): younger is not settled. */
const settledMs = 50;
/** Below this, comparing with every vector is fast enough (about 10 ms at 1,536 dimensions) and exact. */
const vectorIndexFromRows = 10_000;
const maxAttempts = 8;
function tableName({ org_id, mode }: IndexTable): string {
  if (!/^[A-Za-z0-9_]{1,100}$/u.test(org_id))
    throw new Error('An organization id has letters, digits and underscores only.');
  return `${org_id}.${mode}`;
}

type Open = {
  table: Table;
  /** The folder that was opened: a dropped and recreated table is another one. */
  folder: bigint | undefined;
  /** Its change time when the table was last brought up to date; undefined when that can't be relied on. */
  seen: bigint | undefined;
  /** The tiers at a version, and the change time up to which that version is known to be the latest. */
  tiers: { version: number; seen: bigint | undefined; list: Authority[] } | undefined;
};

export function createSearch(options: SearchOptions): Search {
  const { uri, clock = Date.now } = options;
  const local = !uri.includes('://');
  const tables = new LRUCache<string, Open>({ max: options.maxTables ?? 200 });
  let connecting: Promise<Connection> | undefined;

  const connection = async (): Promise<Connection> => {
    connecting ??= connect(uri, {
      session: new Session(
        BigInt(options.indexCacheBytes ?? 512 * 2 ** 20),
        BigInt(options.metadataCacheBytes ?? 128 * 2 ** 20),
      ),
      // Locally one stat a query tells whether anything changed, which is cheaper than the library's own look.
      ...(local ? {} : { readConsistencyInterval: 0 }),
    });
    return connecting;
  };

  /** When the table's list of versions last changed; undefined when there is no table. */
  function lastChange(name: string): { folder: bigint; changed: bigint; settled: boolean } | undefined {
    const stat = statSync(join(uri, `${name}.lance`, '_versions'), { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    return { folder: stat.ino, changed: stat.mtimeNs, settled: clock() - Number(stat.mtimeMs) > settledMs };
  }

  async function open(name: string): Promise<Table | undefined> {
    try {
      return await (await connection()).openTable(name);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** The table as it is now, whichever process wrote to it last; undefined when there is none. */
  async function current(name: string): Promise<Open | undefined> {
    const now = local ? lastChange(name) : undefined;
    if (local && now === undefined) {
      tables.delete(name);
      return undefined;
    }
    const known = tables.get(name);
    if (known !== undefined && known.folder === now?.folder) {
      if (now === undefined || known.seen === now.changed) return known;
      await known.table.checkoutLatest();
      known.seen = now.settled ? now.changed : undefined;
      return known;
    }
    const table = await open(name);
    if (table === undefined) return undefined;
    const opened: Open = { table, folder: now?.folder, seen: now?.settled ? now.changed : undefined, tiers: undefined };
    tables.set(name, opened);
    return opened;
  }

  /** Reads; a table that was dropped or replaced under the reader, or looks damaged, is opened once more. */
  async function read<T>(name: string, none: T, run: (open: Open) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const opened = await current(name);
        return opened === undefined ? none : await run(opened);
      } catch (error) {
        tables.delete(name);
        if (attempt === 0 && (isMissing(error) || isDamage(error))) continue;
        throw isDamage(error) ? new DamagedIndex(error) : error;
      }
    }
  }

  async function create(name: string): Promise<void> {
    const db = await connection();
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
    name: string,
    mode: 'create' | 'existing',
    run: (table: Table) => Promise<unknown>,
  ): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        let opened = await current(name);
        if (mode === 'create' && (opened === undefined || (await opened.table.listIndices()).length < 4)) {
          await create(name);
          tables.delete(name);
          opened = await current(name);
        }
        if (opened === undefined) return;
        await opened.table.checkoutLatest();
        await run(opened.table);
        return;
      } catch (error) {
        tables.delete(name);
        if (attempt >= maxAttempts || !(isConflict(error) || isMissing(error))) throw error;
        // oxlint-disable-next-line promise/avoid-new -- a timer has no promise of its own here
        await new Promise((resolve) => setTimeout(resolve, attempt * 10 * (1 + Math.random())));
      }
    }
  }

  async function fitVectors(table: Table, rows: readonly IndexRow[]): Promise<number | undefined> {
    const wanted = rows.find(({ vector }) => vector !== undefined)?.vector?.length;
    const existing = await dimension(table);
    if (wanted === undefined || wanted === existing) return existing;
    if (existing !== undefined) await table.dropColumns(['vector']);
    await table.addColumns([{ name: 'vector', valueSql: `arrow_cast(NULL, 'FixedSizeList(${wanted}, Float32)')` }]);
    return wanted;
  }

  async function statsOf(table: Table): Promise<IndexStats> {
    const [index, stats] = await Promise.all([table.indexStats('text_idx'), table.stats()]);
    const rows = stats.numRows;
    return { rows, unindexed: index?.numUnindexedRows ?? rows, fragments: stats.fragmentStats.numFragments };
  }

  const noStats: IndexStats = { rows: 0, unindexed: 0, fragments: 0 };
  const stats = async (key: IndexTable): Promise<IndexStats> =>
    read(tableName(key), noStats, async ({ table }) => statsOf(table));

  return {
    async add(key, rows) {
      if (rows.length === 0) return;
      const pairs = new Map(rows.map((row) => [JSON.stringify([row.source_id, row.generation]), row]));
      const same = [...pairs.values()]
        .map((row) => `(source_id = ${sql(row.source_id)} AND generation = ${sql(row.generation)})`)
        .join(' OR ');
      await write(tableName(key), 'create', async (table) => {
        const size = await fitVectors(table, rows);
        const data = rows.map((row) => ({
          id: row.id,
          source_id: row.source_id,
          generation: row.generation,
          labels: labels(row.segments, row.authority),
          authority: row.authority,
          candidate: candidateOf(row.id, row.authority),
          // The heading counts twice: it says what the passage is about (Cranfield nDCG@10 0.378 instead of 0.375).
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
      });
    },

    async removeSource(key, sourceId, exceptGeneration) {
      const others = exceptGeneration === undefined ? '' : ` AND generation <> ${sql(exceptGeneration)}`;
      const rows = `source_id = ${sql(sourceId)}${others}`;
      await write(tableName(key), 'existing', async (table) => {
        if ((await table.countRows(rows)) > 0) await table.delete(rows);
      });
    },

    async removeGeneration(key, sourceId, generation) {
      const rows = `source_id = ${sql(sourceId)} AND generation = ${sql(generation)}`;
      await write(tableName(key), 'existing', (table) => table.delete(rows));
    },

    async removeSources(key, sourceIds) {
      if (sourceIds.length === 0) return;
      await write(tableName(key), 'existing', (table) =>
        table.delete(`source_id IN (${sourceIds.map(sql).join(', ')})`),
      );
    },

    async retag(key, sourceId, change, generation) {
      const rows = `source_id = ${sql(sourceId)}${generation === undefined ? '' : ` AND generation = ${sql(generation)}`}`;
      await write(tableName(key), 'existing', async (table) => {
        const [row] = await table.query().where(rows).select(['labels', 'authority']).limit(1).toArray();
        if (row === undefined) return;
        const authority = change.authority ?? authorities.find((tier) => tier === row.authority) ?? 'normal';
        const valuesSql = {
          labels: sqlList(labels(change.segments ?? tagsOf(row.labels as Iterable<string>), authority)),
          authority: sql(authority),
          candidate: `concat(${sql(candidateOf('', authority))}, id)`,
        };
        await table.update({ where: rows, valuesSql });
      });
    },

    async query(key, query) {
      const { text, vector, limit } = query;
      return read(tableName(key), [], async ({ table }) => {
        const condition = where(query);
        const [byText, byVector] = await Promise.all([
          searchText(table, text.slice(0, maxQueryLength), condition, limit),
          vector !== undefined && (await dimension(table)) === vector.length
            ? searchVector(table, vector, condition, limit)
            : [],
        ]);
        return merge(byText, byVector);
      });
    },

    async tiers(key) {
      return read(tableName(key), [], async (opened) => {
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
      });
    },

    async maintain(key) {
      await write(tableName(key), 'existing', async (table) => {
        const before = await statsOf(table);
        if (before.rows >= vectorIndexFromRows && (await dimension(table)) !== undefined) await indexVectors(table);
        if (before.unindexed === 0 && before.fragments <= 1) return;
        await table.optimize({ cleanupOlderThan: new Date(clock() - keepVersionsMs) });
      });
      return stats(key);
    },

    stats,
    unindexedRows: async (key) => (await stats(key)).unindexed,

    async listTables() {
      const names = await (await connection()).tableNames({ limit: 1_000_000 });
      return names.flatMap((name): IndexTable[] => {
        const match = /^([A-Za-z0-9_]+)\.(test|live)$/u.exec(name);
        return match === null ? [] : [{ org_id: String(match[1]), mode: match[2] === 'live' ? 'live' : 'test' }];
      });
    },

    async dropTable(key) {
      const name = tableName(key);
      tables.delete(name);
      await (await connection()).dropTable(name).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    },

    async listSources(key) {
      return read(tableName(key), [], async ({ table }) => {
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
      });
    },

    async check(key) {
      const name = tableName(key);
      for (let attempt = 0; ; attempt += 1) {
        if (local && lastChange(name) === undefined) return;
        const session = new Session(BigInt(64 * 2 ** 20), BigInt(16 * 2 ** 20));
        const fresh = await connect(uri, { session });
        try {
          return await askEverything(await fresh.openTable(name));
        } catch (error) {
          const damaged = isDamage(error);
          if (!damaged && isMissing(error)) return;
          // It may just be dropped by somebody else, so it is looked at twice.
          if (!damaged) throw error;
          if (attempt > 0) throw new DamagedIndex(error);
        } finally {
          fresh.close();
        }
      }
    },

    close() {
      tables.clear();
      void connecting?.then((db) => db.close()).catch(() => undefined);
      connecting = undefined;
    },
  };
}

async function indexVectors(table: Table): Promise<void> {
  const exists = (await table.listIndices()).some(({ columns }) => columns.includes('vector'));
  if (!exists) await table.createIndex('vector', { config: Index.ivfRq({ distanceType: 'cosine' }), replace: false });
}
