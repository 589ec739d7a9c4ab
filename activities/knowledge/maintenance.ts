/** Maintains the search index and the stored files. No activity here changes an answer, and each is idempotent. */
import { cancellationSignal } from '@temporalio/activity';
import { isCopying } from '../../models/knowledge/livecopy.ts';
import type { Logger } from 'pino';
import { indexChunks, syncTags } from './source.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { IndexTable, Search } from '../../clients/knowledge/search/search.ts';
import { DamagedIndex } from '../../clients/knowledge/search/damage.ts';
import { listChunks } from '../../models/knowledge/chunk.ts';
import { listEmbedded, unmarkEmbedded, wakeLacking } from '../../models/knowledge/embedding.ts';
import { listOrphanedBytes, removeBytes } from '../../models/knowledge/document.ts';
import {
  compareIndex,
  compareVectors,
  isCurrent,
  isCurrentBatch,
  liveBatch,
} from '../../models/rules/knowledge/reconcile.ts';
import { beginRows, findSource, listOwners, listStanding, publishRows } from '../../models/knowledge/source.ts';

/**
 * A table with at least this many rows that are not in the index yet is merged. Such rows are scanned one by one at
 * each query: 40 of them more than doubled a query's time, 360 multiplied it by ten.
 */
const unindexedRows = 20;
/** An upload stores its record seconds after its bytes, so after an hour without a record the upload has died. */
const orphanAgeMs = 3_600_000;
const orphansARun = 500;
/**
 * After this many failures in a row, the cause is assumed to be shared, such as a full disk, and the repair of the
 * table ends.
 */
const failuresInARow = 20;

export type MaintenanceDeps = {
  search: Search;
  embedding: Pick<Embedding, 'model'>;
  clock: () => Date;
  log: Logger;
};
export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

export function createMaintenanceActivities(deps: MaintenanceDeps) {
  return {
    /**
     * Makes the index agree with MongoDB, after the index's folder was lost, damaged, or restored from an old copy. The
     * chunks are in MongoDB, so no file is read and no site is crawled again. The activity also starts the embedding of
     * passages whose embeddings were lost or are of another model.
     */
    async repairIndexes(): Promise<number> {
      const signal = cancellationSignal();
      const tables = new Map(
        [...(await listOwners()), ...(await deps.search.listTables())].map(({ org_id, mode }) => [
          `${org_id} ${mode}`,
          { org_id, mode },
        ]),
      );
      let repaired = 0;
      await forEach(deps, tables.values(), signal, async (table) => {
        repaired += await repair(deps, table, signal);
      });
      if (deps.embedding.model !== undefined) await wakeLacking(deps.embedding.model, deps.clock());
      return repaired;
    },

    /** Compacts each index table that consists of many small files, one for each write. */
    async optimizeIndexes(): Promise<number> {
      let done = 0;
      await forEach(deps, await deps.search.listTables(), cancellationSignal(), async (table) => {
        // For a table of embeddings, `maintain` itself decides what is needed.
        if (table.model === undefined && (await deps.search.stats(table)).unindexed < unindexedRows) return;
        await deps.search.maintain(table);
        done += 1;
      });
      return done;
    },

    /** Deletes the bytes of uploads whose process died before their record was stored. */
    async dropOrphanedBytes(): Promise<number> {
      const orphans = await listOrphanedBytes(new Date(deps.clock().getTime() - orphanAgeMs), orphansARun);
      for (const id of orphans) await removeBytes(id);
      if (orphans.length > 0) deps.log.info({ count: orphans.length }, 'bytes of unfinished uploads dropped');
      return orphans.length;
    },
  };
}

/**
 * Does the work for each item. A failure is logged with its subject, and thrown only at the end, because a failure of
 * one organization must not keep the others from maintenance.
 */
async function forEach<T extends IndexTable & { source_id?: string }>(
  { log }: MaintenanceDeps,
  items: Iterable<T>,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
  giveUpAfter = Infinity,
): Promise<void> {
  let failed = 0;
  let inARow = 0;
  let last: unknown;
  for (const item of items) {
    signal.throwIfAborted();
    try {
      await work(item);
      inARow = 0;
    } catch (error) {
      signal.throwIfAborted();
      failed += 1;
      inARow += 1;
      last = error;
      const { org_id, mode, source_id } = item;
      log.warn({ org_id, mode, source_id, reason: reasonOf(error) }, 'maintenance of one part failed');
      if (inARow >= giveUpAfter) break;
    }
  }
  if (failed > 0) throw new Error(`${failed} failed, see the log; the last: ${reasonOf(last)}`, { cause: last });
}

/** The sources in a table; undefined when the table was unreadable and has been dropped. */
async function readTable({ search, log }: MaintenanceDeps, table: IndexTable) {
  try {
    await search.check(table);
    return await search.listSources(table);
  } catch (error) {
    if (!(error instanceof DamagedIndex)) throw error;
    log.error({ ...table, reason: reasonOf(error) }, 'an index table is damaged and is made anew');
    await search.dropTable(table);
    return undefined;
  }
}

/**
 * Drops a batch of rows that was found outdated. The source's record is read again first: if the batch is live or about
 * to become live, its rows stay. In a vector table, the name of a batch is the number of the source's generation (the
 * version of its chunks).
 */
async function dropOutdated(
  deps: MaintenanceDeps,
  table: IndexTable,
  sourceId: string,
  batch: string,
): Promise<boolean> {
  const words = table.model === undefined;
  // A copy to live mode stores the rows of a page before the page, so rows without a source stay while a copy is
  // running. `isCopying` is read before the source, because a copy may store the page and end between the two reads.
  const copying = await isCopying(table.org_id, table.mode);
  const source = await findSource(table.org_id, sourceId);
  if (!source && copying) return false;
  if (source && (words ? isCurrentBatch(source, batch) : isCurrent(source, Number(batch)))) return false;
  if (source || !words) await deps.search.removeBatch(table, sourceId, batch);
  else await deps.search.removeSource(table, sourceId);
  return true;
}

async function retag({ search }: MaintenanceDeps, { org_id: orgId }: IndexTable, sourceId: string): Promise<boolean> {
  await syncTags(search, { orgId, sourceId }, -1);
  return true;
}

/** Writes the rows of a source again, under a new batch name; the old rows stay live until this is done. */
async function restore(
  deps: MaintenanceDeps,
  table: IndexTable,
  sourceId: string,
  generation: number,
): Promise<boolean> {
  const chunks = await listChunks(table.org_id, sourceId, generation);
  const begun = chunks.length > 0 && (await beginRows(table.org_id, sourceId, generation));
  if (!begun) return false;
  const { source, batch } = begun;
  const { segments, authority } = source;
  await indexChunks(deps.search, table, chunks, () => ({ segments, authority }), batch);
  const published = await publishRows(table.org_id, sourceId, source, batch);
  // If the new rows were published, the old rows are removed. Otherwise the source was deleted or published again
  // meanwhile, maybe before the new rows were written, so the new rows are removed.
  await deps.search.removeBatch(table, sourceId, published ? liveBatch(source)! : batch);
  if (published) await syncTags(deps.search, { orgId: table.org_id, sourceId }, source.tags_version);
  return published;
}

/**
 * Removes the vectors of a source and its mark as embedded. The organization's workflow `embedPassages` then embeds its
 * passages.
 */
async function embedAgain(
  deps: MaintenanceDeps,
  table: IndexTable,
  sourceId: string,
  generation: number,
): Promise<boolean> {
  const source = await findSource(table.org_id, sourceId);
  if (source?.live_generation !== generation) return false;
  await deps.search.removeBatch(table, sourceId, String(generation));
  await unmarkEmbedded(table.org_id, sourceId);
  return true;
}

/** The repair of one source in one table; `mend` returns false when nothing had to be repaired. */
type Repair = IndexTable & { source_id: string; mend(): Promise<boolean> };

/** The repairs that a table needs. Missing vectors are made only for the present model. */
async function toMend(deps: MaintenanceDeps, table: IndexTable): Promise<Repair[]> {
  const { model } = deps.embedding;
  const words = table.model === undefined;
  const isPresent = model !== undefined && deps.search.isSameTable(table, { ...table, model });
  // The records in MongoDB are listed before the rows of the table. In the other order, a source that is published or
  // embedded between the two reads would seem to have no rows.
  const embedded = isPresent ? await listEmbedded(table, model) : new Set<string>();
  const before = await listStanding(table);
  const rows = await readTable(deps, table);
  const standing = rows ? before : await listStanding(table);
  const { outdated, retagged, miscounted } = words
    ? compareIndex(standing, rows ?? [])
    : compareVectors(standing, embedded, rows ?? []);
  const complete = words ? restore : embedAgain;
  return [
    ...outdated.map((one) => ({ ...one, mend: () => dropOutdated(deps, table, one.source_id, one.batch) })),
    ...retagged.map((source_id) => ({ source_id, mend: () => retag(deps, table, source_id) })),
    ...miscounted.map((one) => ({ ...one, mend: () => complete(deps, table, one.source_id, one.generation) })),
  ].map((one) => ({ ...table, ...one }));
}

/** Repairs the tables of an organization and mode; returns the number of repairs. */
async function repair(deps: MaintenanceDeps, owner: IndexTable, signal: AbortSignal): Promise<number> {
  const { search, embedding } = deps;
  const vectors = await search.vectorTables(owner);
  const present = embedding.model === undefined ? [] : [{ ...owner, model: embedding.model }];
  const missing = present.filter((table) => !vectors.some((one) => search.isSameTable(one, table)));
  const work: Repair[] = [];
  for (const table of [owner, ...vectors, ...missing]) work.push(...(await toMend(deps, table)));
  return mend(deps, owner, work, signal);
}

async function mend(
  deps: MaintenanceDeps,
  owner: IndexTable,
  work: readonly Repair[],
  signal: AbortSignal,
): Promise<number> {
  let mended = 0;
  const one = async (task: Repair) => {
    if (await task.mend()) mended += 1;
  };
  try {
    await forEach(deps, work, signal, one, failuresInARow);
  } finally {
    if (mended > 0) deps.log.warn({ ...owner, count: mended }, 'sources differed in the index and were put right');
  }
  return mended;
}

/**
 * The reason for the log. For a damaged table, the reason is the error's cause, because the error's own message is
 * written for callers of the API.
 */
const reasonOf = (error: unknown): string => String(error instanceof DamagedIndex ? error.cause : error);
