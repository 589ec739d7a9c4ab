/**
 * The tables of the index as a process has them open: LanceDB, in a folder or on `s3://`; one table an organization and mode
 * for the words, and one more for each model that made vectors of them. Every read sees what any process has written before.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { connect, Session } from '@lancedb/lancedb';
import type { Connection, Table } from '@lancedb/lancedb';
import { LRUCache } from 'lru-cache';
import { DamagedIndex, isDamage, isMissing } from './damage.ts';
import type { IndexTable } from './rows.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';

export type SearchOptions = {
  /** A local path, or an object store's address (`s3://bucket/prefix`). */
  uri: string;
  /** Bytes of index parts kept in memory by this process. The library's default of 6 GiB is more than most machines have. */
  indexCacheBytes?: number;
  metadataCacheBytes?: number;
  /** Open tables kept. */
  maxTables?: number;
  /** The model that vectors are made by now. Tables of others are known from the list of all tables, which is read now and then. */
  model?: string | undefined;
  clock?: () => number;
};

/** How long the list of the models that ever made vectors is relied on: one that this process does not use is a former one. */
const modelsKnownMs = 60_000;

/** A folder's change time may stand still for one tick of the kernel's clock (4 ms, 10 on old ones): younger is not settled. */
const settledMs = 50;

export function tableName({ org_id, mode, model }: IndexTable): string {
  if (!/^[A-Za-z0-9_]{1,100}$/u.test(org_id))
    throw new Error('An organization id has letters, digits and underscores only.');
  return `${org_id}.${mode}${model === undefined ? '' : `.${modelName(model)}`}`;
}

/** A model's name as it stands in names of tables: its own, or made of it, where that has other characters. */
export function modelName(model: string): string {
  if (/^[a-z0-9-]{1,80}$/u.test(model)) return model;
  const readable = model
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, 60);
  return `${readable}-${createHash('sha256').update(model).digest('hex').slice(0, 12)}`;
}

/** The table of a name; undefined for one that is not ours. */
export function tableNamed(name: string): IndexTable | undefined {
  const match = /^([A-Za-z0-9_]+)\.(test|live)(?:\.([a-z0-9-]+))?$/u.exec(name);
  if (match === null) return undefined;
  const [, org_id = '', mode, model] = match;
  return { org_id, mode: mode === 'live' ? 'live' : 'test', ...(model === undefined ? {} : { model }) };
}

export type OpenTable = {
  table: Table;
  /** The folder that was opened: a dropped and recreated table is another one. */
  folder: bigint | undefined;
  /** Its change time when the table was last brought up to date; undefined when that can't be relied on. */
  seen: bigint | undefined;
  /** The tiers at a version, and the change time up to which that version is known to be the latest. */
  tiers: { version: number; seen: bigint | undefined; list: Authority[] } | undefined;
  /** The length of the vectors, once asked for; 0: the table has none. */
  width: number | undefined;
};

export type Tables = ReturnType<typeof createTables>;

export function createTables({ uri, clock = Date.now, ...options }: SearchOptions) {
  const local = !uri.includes('://');
  const tables = new LRUCache<string, OpenTable>({ max: options.maxTables ?? 200 });
  const models = new Set(options.model === undefined ? [] : [modelName(options.model)]);
  let modelsListed = -Infinity;
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
  async function current(name: string): Promise<OpenTable | undefined> {
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
    const opened: OpenTable = {
      table,
      folder: now?.folder,
      seen: now?.settled ? now.changed : undefined,
      tiers: undefined,
      width: undefined,
    };
    tables.set(name, opened);
    return opened;
  }

  /** Reads; a table that was dropped or replaced under the reader, or looks damaged, is opened once more. */
  async function read<T>(name: string, none: T, run: (open: OpenTable) => Promise<T>): Promise<T> {
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

  async function list(): Promise<IndexTable[]> {
    const names = await (await connection()).tableNames({ limit: 1_000_000 });
    const all = names.flatMap((name) => tableNamed(name) ?? []);
    for (const { model } of all) if (model !== undefined) models.add(model);
    modelsListed = clock();
    return all;
  }

  /** The tables of vectors that an organization and mode may have; of a folder, those that it has. */
  async function vectorTables({ org_id, mode }: IndexTable): Promise<IndexTable[]> {
    if (clock() - modelsListed > modelsKnownMs) await list();
    const all = [...models].map((model) => ({ org_id, mode, model }));
    return all.filter((key) => !local || lastChange(tableName(key)) !== undefined);
  }

  return {
    uri,
    clock,
    connection,
    current,
    read,
    list,
    vectorTables,
    /** A model that vectors are written of. */
    uses: (model: string): void => void models.add(modelName(model)),
    /** Whether there is a table of this name, as far as the folder tells; of an object store it cannot be told. */
    exists: (name: string): boolean => !local || lastChange(name) !== undefined,
    /** Has the table opened anew the next time. */
    forget: (name: string): void => void tables.delete(name),
    close(): void {
      tables.clear();
      void connecting?.then((db) => db.close()).catch(() => undefined);
      connecting = undefined;
    },
  };
}
