/**
 * The index tables that a process has open, in LanceDB in a folder or on `s3://`. Each organization and mode has one
 * lexical table and one vector table for each model. Every read sees all writes that any process has finished before.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { connect, Session } from '@lancedb/lancedb';
import type { Connection, Table } from '@lancedb/lancedb';
import { LRUCache } from 'lru-cache';
import { DamagedIndex, isDamage, isMissing } from './damage.ts';
import type { IndexTable } from './rows.ts';
import type { S3Settings } from '../../s3/s3.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';
import { defined } from '../../../models/rules/base/defined.ts';

export type SearchOptions = {
  /** A local path, or the URL of an object store (`s3://bucket/prefix`). */
  uri: string;
  /** After this many tables were opened, all open tables and their caches are dropped. */
  maxOpened?: number;
  /** The address and credentials of the object store, for an `s3://` URL. By default LanceDB uses Amazon S3. */
  s3?: S3Settings | undefined;
  /**
   * The current embedding model. Tables of other models are found in the list of all tables, which is refreshed from
   * time to time.
   */
  model?: string | undefined;
  clock?: () => number;
  /**
   * Runs `work`, which creates the table with this name, unless another caller is creating that table at the same time.
   * This option may be left out only when no other process uses the tables.
   */
  exclusively?: (name: string, work: () => Promise<void>) => Promise<void>;
};

/** This process's cache for parts of indexes. The library's default of 6 GiB is more than most machines have. */
const indexCacheBytes = BigInt(512 * 2 ** 20);
const metadataCacheBytes = BigInt(128 * 2 ** 20);
/** Maximum number of tables kept open. */
const maxTables = 200;
/**
 * The default of `maxOpened`. A small table (100 rows) takes 440 KiB of memory once it was opened. The caches count
 * only a sixth of that, so their limits do not bound the memory of many tables (measured with 3,000). 800 small tables
 * take 350 MiB.
 */
const maxOpenedTables = 800;
/** No query takes longer than this, in ms. */
const longestQueryMs = 60_000;

/** After this time, in ms, the names of the models are read again from the list of all tables. */
const modelsKnownMs = 60_000;

/**
 * Two changes within one tick of the kernel's clock (4 ms, 10 on old kernels) get the same modification time. So a
 * modification time younger than this, in ms, does not prove that the folder is unchanged.
 */
const settledMs = 50;

export function tableName({ org_id, mode, model }: IndexTable): string {
  if (!/^[A-Za-z0-9_]{1,100}$/u.test(org_id))
    throw new Error('An organization id has letters, digits and underscores only.');
  return `${org_id}.${mode}${model === undefined ? '' : `.${modelName(model)}`}`;
}

/** A model's name in table names: unchanged, or encoded if it contains other characters. */
export function modelName(model: string): string {
  if (/^[a-z0-9-]{1,80}$/u.test(model)) return model;
  const readable = model
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, 60);
  return `${readable}-${createHash('sha256').update(model).digest('hex').slice(0, 12)}`;
}

/** Parses the name of a table; undefined when the name has another form. */
function tableNamed(name: string): IndexTable | undefined {
  const match = /^([A-Za-z0-9_]+)\.(test|live)(?:\.([a-z0-9-]+))?$/u.exec(name);
  if (match === null) return undefined;
  const [, org_id = '', mode, model] = match;
  return { org_id, mode: mode === 'live' ? 'live' : 'test', ...defined({ model }) };
}

export type OpenTable = {
  table: Table;
  /** The inode of the table's folder, which changes when the table is dropped and created again. */
  folder: bigint | undefined;
  /**
   * The modification time that the folder of the table's versions had when the table was last refreshed. Undefined when
   * that time cannot prove that the table is unchanged: it was too recent, or the storage has no such time.
   */
  seen: bigint | undefined;
  /**
   * The cached tiers of a version. `seen`: the modification time that the table had when this version was last
   * confirmed as the latest.
   */
  tiers: { version: number; seen: bigint | undefined; list: Authority[] } | undefined;
  /** The length of the vectors; 0 when the table has none, undefined before it was read. */
  width: number | undefined;
};

/**
 * Closes a table. LanceDB cannot close a table that is in use, so that error is ignored: the memory is freed after the
 * use.
 */
function closeTable(table: Table): void {
  try {
    table.close();
  } catch {
    return;
  }
}

export type Tables = ReturnType<typeof createTables>;

export function createTables({ uri, clock = Date.now, ...options }: SearchOptions) {
  const local = !uri.includes('://');
  const tables = new LRUCache<string, OpenTable>({ max: maxTables });
  const models = new Set(options.model === undefined ? [] : [modelName(options.model)]);
  let modelsListed = -Infinity;
  let connecting: Promise<Connection> | undefined;
  /** The tables that were opened with the current connection. */
  const openedTables: Table[] = [];

  const connectWith = async (session: Session): Promise<Connection> =>
    connect(uri, {
      session,
      // A local folder needs one stat call per query to detect changes, which is cheaper than the library's own check.
      ...(local
        ? {}
        : { readConsistencyInterval: 0, ...(options.s3 && { storageOptions: storageOptions(options.s3) }) }),
    });
  const connection = async (): Promise<Connection> => {
    connecting ??= connectWith(new Session(indexCacheBytes, metadataCacheBytes));
    return connecting;
  };

  /**
   * Drops the connection, its caches and the open tables. Running queries still use the old connection and tables,
   * which are closed after `closeAfterMs`.
   */
  function startAnew(closeAfterMs: number): void {
    const [old, tablesOfOld] = [connecting, openedTables.splice(0)];
    tables.clear();
    connecting = undefined;
    const close = (): void => {
      for (const table of tablesOfOld) closeTable(table);
      void old?.then((db) => db.close()).catch(() => undefined);
    };
    if (closeAfterMs === 0) close();
    else setTimeout(close, closeAfterMs).unref();
  }

  /** The time when the table's version list last changed; undefined when the table does not exist. */
  function lastChange(name: string): { folder: bigint; changed: bigint; settled: boolean } | undefined {
    const stat = statSync(join(uri, `${name}.lance`, '_versions'), { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    return { folder: stat.ino, changed: stat.mtimeNs, settled: clock() - Number(stat.mtimeMs) > settledMs };
  }

  async function open(name: string): Promise<Table | undefined> {
    if (openedTables.length >= (options.maxOpened ?? maxOpenedTables)) startAnew(longestQueryMs);
    try {
      const table = await (await connection()).openTable(name);
      openedTables.push(table);
      return table;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** The table at its latest version, whichever process wrote it; undefined when the table does not exist. */
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

  /**
   * Runs a read. If the table was dropped or replaced meanwhile, or looks damaged, the table is opened again and the
   * read is retried once.
   */
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

  /**
   * The vector tables that an organization and mode may have. For a local folder, only tables that exist are returned.
   */
  async function vectorTables({ org_id, mode }: IndexTable): Promise<IndexTable[]> {
    if (clock() - modelsListed > modelsKnownMs) await list();
    const all = [...models].map((model) => ({ org_id, mode, model }));
    return all.filter((key) => !local || lastChange(tableName(key)) !== undefined);
  }

  return {
    clock,
    connection,
    /** Opens another connection, which the caller closes. `session` has its caches. */
    connectWith,
    exclusively: options.exclusively ?? ((_name: string, work: () => Promise<void>) => work()),
    current,
    read,
    list,
    vectorTables,
    /** Adds the model to those whose tables `vectorTables` looks for. */
    uses: (model: string): void => void models.add(modelName(model)),
    /** Whether the table exists. Always true for an object store, where this is unknown. */
    exists: (name: string): boolean => !local || lastChange(name) !== undefined,
    /** Drops the open table, so that its next use opens it again. */
    forget: (name: string): void => void tables.delete(name),
    close: () => startAnew(0),
  };
}

function storageOptions({ endpoint, region, ...keys }: S3Settings): Record<string, string> {
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return defined({
    aws_region: region,
    aws_endpoint: endpoint,
    allow_http: endpoint?.startsWith('http:') ? 'true' : undefined,
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
    aws_session_token: sessionToken,
  });
}
