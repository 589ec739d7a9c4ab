/**
 * Ends the grants (API keys and invitations) of a member who was removed from an organization, and unassigns their open
 * tasks. Both steps are repeated after five minutes. By then, all requests that began before the removal, and still saw
 * the person as a member, have ended.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { DepartureActivities, DepartureRef } from '../../activities/access/departure.ts';

const { endGrants, giveUpTasks } = proxyActivities<DepartureActivities>({
  ...throughOutages,
  // Unassigning a task takes some milliseconds, and a member may have many tasks.
  startToCloseTimeout: '30 minutes',
});

/** The wait before `leave` is repeated. It is longer than any request that assigns tasks. */
const untilQuiet = '5 minutes';

export async function memberDeparted(ref: DepartureRef): Promise<void> {
  await leave(ref);
  await sleep(untilQuiet, { summary: 'requests that began before the removal' });
  await leave(ref);
}

async function leave(ref: DepartureRef): Promise<void> {
  await endGrants(ref);
  await giveUpTasks(ref);
}
