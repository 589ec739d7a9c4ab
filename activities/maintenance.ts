/** Keeps the stores tidy. Nothing here changes an answer; it may run at any time and any number of times. */
import type { Logger } from 'pino';
import { withHeartbeat } from './heartbeat.ts';
import { embedPassages, indexChunks, syncTags } from './source.ts';
import type { Ai } from '../clients/ai.ts';
import type { IndexTable, Search } from '../clients/search.ts';
import { listChunks } from '../models/chunk.ts';
import { listOrphanedBytes, removeBytes } from '../models/document.ts';
import { findSource, listLive, listOwners, type Live } from '../models/source.ts';

/** Rows the index does not have yet are read one by one: 40 more than doubled a question's cost, 360 made it ten times dearer. */
const UNINDEXED_ROWS = 20;
/** An upload stores its record seconds after its bytes; an hour later nobody will. */
const ORPHAN_AGE_MS = 3_600_000;
const ORPHANS_A_RUN = 500;

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

export function createMaintenanceActivities({
  search,
  ai,
  clock,
  log,
}: {
  search: Search;
  ai: Ai;
  clock: () => Date;
  log: Logger;
}) {
  async function restore(table: IndexTable, { source_id, generation }: Live, signal: AbortSignal): Promise<boolean> {
    const chunks = await listChunks(table.org_id, source_id, generation);
    const source = await findSource(table.org_id, source_id);
    if (chunks.length === 0 || !source) return false;
    const vectors = await embedPassages(ai, chunks, signal);
    const { segments, authority } = source;
    await indexChunks(search, table, chunks, vectors, () => ({ segments, authority }));
    await syncTags(search, { orgId: table.org_id, sourceId: source_id }, source.tags_version);
    // Deleted meanwhile: its own removal may have come before the rows.
    if (!(await findSource(table.org_id, source_id))) await search.removeSource(table, source_id);
    return true;
  }

  return {
    /**
     * Puts into the index what answers and is not in it: after its folder was lost, or was put back as it once was. The
     * passages are in MongoDB, so no file is read and no site asked again.
     */
    async repairIndexes(): Promise<number> {
      return withHeartbeat(async (signal) => {
        let repaired = 0;
        for (const table of await listOwners()) {
          // In this order: what is published in between has been indexed before, and is only not asked about.
          const live = await listLive(table);
          const indexed = new Set((await search.listSources(table)).map((s) => `${s.source_id} ${s.generation}`));
          for (const { source_id, generation } of live) {
            signal.throwIfAborted();
            if (indexed.has(`${source_id} ${generation}`)) continue;
            if (await restore(table, { source_id, generation }, signal)) repaired += 1;
          }
        }
        if (repaired > 0) log.warn({ count: repaired }, 'sources that were missing in the index were put back');
        return repaired;
      });
    },

    /** Merges the index tables that have gathered many small writes. */
    async optimizeIndexes(): Promise<number> {
      return withHeartbeat(async (signal) => {
        let done = 0;
        for (const table of await search.listTables()) {
          signal.throwIfAborted();
          if ((await search.unindexedRows(table)) < UNINDEXED_ROWS) continue;
          await search.maintain(table);
          done += 1;
        }
        return done;
      });
    },

    /** Drops the bytes of uploads whose process died before their record was stored. */
    async dropOrphanedBytes(): Promise<number> {
      return withHeartbeat(async () => {
        const orphans = await listOrphanedBytes(new Date(clock().getTime() - ORPHAN_AGE_MS), ORPHANS_A_RUN);
        for (const id of orphans) await removeBytes(id);
        if (orphans.length > 0) log.info({ count: orphans.length }, 'bytes of unfinished uploads dropped');
        return orphans.length;
      });
    },
  };
}
