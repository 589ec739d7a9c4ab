/** A Temporal Schedule (workers/schedules.ts) starts the workflow `maintainStores`. */
import { isCancellation, log, proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { MaintenanceActivities } from '../../activities/knowledge/maintenance.ts';

/** Options with few retries, because the next run of the workflow repeats the work soon. */
const tried = { ...throughOutages, retry: { maximumAttempts: 3 } };

const activities = proxyActivities<MaintenanceActivities>({
  ...tried,
  // Merging an index of 120,000 rows took 14 s. Ten minutes leave room for much larger indexes.
  startToCloseTimeout: '10 minutes',
});

const { repairIndexes } = proxyActivities<MaintenanceActivities>({
  ...tried,
  // If the index was lost, the whole index is written again.
  startToCloseTimeout: '12 hours',
});

/**
 * The number of merges in one workflow, a minute apart. One workflow makes them all, so that the list of workflows gets
 * one entry an hour, not sixty.
 */
const passes = 60;

/**
 * Repairs the indexes, merges the index fragments of recent writes each minute for an hour, and finally deletes the
 * bytes of uploads that were interrupted.
 */
export async function maintainStores(): Promise<void> {
  await orGoOn(repairIndexes(), 'in an hour');
  for (let pass = 0; pass < passes; pass++) {
    if (pass > 0) await sleep('1 minute', { summary: 'the next pass' });
    await orGoOn(activities.optimizeIndexes(), 'in a minute');
  }
  await orGoOn(activities.dropOrphanedBytes(), 'in an hour');
}

async function orGoOn(work: Promise<unknown>, again: 'in a minute' | 'in an hour'): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (isCancellation(error)) throw error;
    // The logger prints an error object as {}. The message of the failed activity is in the error's `cause`.
    const reason = String((error as Error).cause ?? error);
    log.warn(`maintenance failed and is tried again ${again}`, { reason });
  }
}
