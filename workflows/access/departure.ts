/**
 * A member was taken out of an organization: what they were granted ends, and their open tasks are nobody's. Looked at once more
 * when every request that was admitted before, and still saw them as a member, has ended.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { DepartureActivities, DepartureRef } from '../../activities/access/departure.ts';

const { endGrants, giveUpTasks } = proxyActivities<DepartureActivities>({
  ...throughOutages,
  // Some milliseconds for each task.
  startToCloseTimeout: '30 minutes',
});

/** Longer than a request lives that assigns tasks. */
const untilQuiet = '5 minutes';

export async function memberDeparted(ref: DepartureRef): Promise<void> {
  await leave(ref);
  await sleep(untilQuiet);
  await leave(ref);
}

async function leave(ref: DepartureRef): Promise<void> {
  await endGrants(ref);
  await giveUpTasks(ref);
}
