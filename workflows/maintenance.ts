/** What keeps the stores tidy, run by a schedule: see workers/schedules.ts. */
import { isCancellation, log, patched, proxyActivities, sleep } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';

const activities = proxyActivities<MaintenanceActivities>({
  // Merging an index of 120,000 rows took 14 s; ten times that for larger ones.
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '8 seconds',
  // The next minute does what this one could not.
  retry: { maximumAttempts: 3 },
});

const { repairIndexes } = proxyActivities<MaintenanceActivities>({
  // Of a lost index everything is put back, and an embedding model asked about all of it.
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '8 seconds',
  retry: { maximumAttempts: 3 },
});

/** Passes of one workflow, a minute apart: one entry an hour in the operators' list instead of sixty. */
const PASSES = 60;

/** Puts back what the index has lost, merges index fragments that recent writes left, each minute for an hour, and drops bytes of uploads that died half-way. */
export async function maintainStores(): Promise<void> {
  if (patched('repair-indexes')) await orNext(repairIndexes());
  for (let pass = 0; pass < PASSES; pass++) {
    if (pass > 0) await sleep('1 minute');
    await orNext(activities.optimizeIndexes());
  }
  await orNext(activities.dropOrphanedBytes());
}

async function orNext(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('maintenance failed; the next pass tries again', { error });
  }
}
