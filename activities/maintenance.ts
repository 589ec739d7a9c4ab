/** Keeps the stores tidy. Nothing here changes an answer; it may run at any time and any number of times. */
import type { Logger } from 'pino';
import { withHeartbeat } from './heartbeat.ts';
import type { Search } from '../clients/search.ts';
import { listOrphanedBytes, removeBytes } from '../models/document.ts';

/** Rows the index does not have yet are read one by one: 40 more than doubled a question's cost, 360 made it ten times dearer. */
const UNINDEXED_ROWS = 20;
/** An upload stores its record seconds after its bytes; an hour later nobody will. */
const ORPHAN_AGE_MS = 3_600_000;
const ORPHANS_A_RUN = 500;

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

export function createMaintenanceActivities({
  search,
  clock,
  log,
}: {
  search: Search;
  clock: () => Date;
  log: Logger;
}) {
  return {
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
