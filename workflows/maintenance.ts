/** What keeps the stores tidy, run by a schedule: see workers/schedules.ts. */
import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';

const activities = proxyActivities<MaintenanceActivities>({
  // Merging an index of 120,000 rows took 14 s; ten times that for larger ones.
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '8 seconds',
  // The next firing does what this one could not.
  retry: { maximumAttempts: 3 },
});

/** Merges index fragments that recent writes left, and drops bytes of uploads that died half-way. */
export async function maintainStores(): Promise<void> {
  await activities.optimizeIndexes();
  await activities.dropOrphanedBytes();
}
