/**
 * The index tables that a process has open: LanceDB, in a folder or on `s3://`, with one table per organization and
 * mode for the words, and one for each model's vectors. Every read sees everything that any process has written before.
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
  /** A local path, or a URL of an object store (`s3://bucket/prefix`). */
  uri: string;
  /**
   * How many bytes of index parts this process caches. The library's default of 6 GiB is more than most machines have.
   */
  indexCacheBytes?: number;
  metadataCacheBytes?: number;
  /** How many tables stay open. */
  maxTables?: number;
  /** The present model. Tables of other models are found in the list of all tables, which is read from time to time. */
  model?: string | undefined;
  clock?: () => number;
};

/** How long the list of former models is cached. */
const modelsKnownMs = 60_000;

/**
 * A folder's change time may lag by one tick of the kernel's clock (4 ms, 10 on old kernels), so a younger one is not
 * final.
 */
const settledMs = 50;

export function tableName({ org_id, mode, model }: IndexTable): string {
  if (!/^[A-Za-z0-9_]{1,100}$/u.test(org_id))
    throw new Error('An organization id has letters, digits and underscores only.');
  return `${org_id}.${mode}${model === undefined ? '' : `.${modelName(model)}`}`;
}

/** A model's name in table names: unchanged, or encoded when it has other characters. */
export function modelName(model: string): string {
  if (/^[a-z0-9-]{1,80}$/u.test(model)) return model;
  const readable = model
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, 60);
  return `${readable}-${createHash('sha256').update(model).digest('hex').slice(0, 12)}`;
}

/** The table of a name; undefined for a foreign name. */
export function tableNamed(name: string): IndexTable | undefined {
  const match = /^([A-Za-z0-9_]+)\.(test|live)(?:\.([a-z0-9-]+))?$/u.exec(name);
  if (match === null) return undefined;
  const [, org_id = '', mode, model] = match;
  return { org_id, mode: mode === 'live' ? 'live' : 'test', ...(model === undefined ? {} : { model }) };
}

export type OpenTable = {
  table: Table;
  /** The opened folder: a table that was dropped and created again has another one. */
  folder: bigint | undefined;
  /** Its change time when the table was last refreshed; undefined when it is not reliable. */
  seen: bigint | undefined;
  /** The tiers at a version, and the change time up to which that version is known to be the latest. */
  tiers: { version: number; seen: bigint | undefined; list: Authority[] } | undefined;
  /** The length of the vectors, once it was read; 0: the table has none. */
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
      // For a local folder, one stat call per query shows whether anything changed, which is cheaper than the library's
      // own check.
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

  /** The latest version of the table, whichever process wrote it; undefined when there is none. */
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

  /** Reads; a table that was dropped or replaced meanwhile, or looks damaged, is opened once more. */
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

  /** The tables of vectors that an organization and mode may have; in a folder, those that exist. */
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
    /** Records a model whose vectors are written. */
    uses: (model: string): void => void models.add(modelName(model)),
    /** Whether the table exists, if it is in a folder; an object store cannot tell. */
    exists: (name: string): boolean => !local || lastChange(name) !== undefined,
    /** Opens the table anew at its next use. */
    forget: (name: string): void => void tables.delete(name),
    close(): void {
      tables.clear();
      void connecting?.then((db) => db.close()).catch(() => undefined);
      connecting = undefined;
    },
  };
}
