/** The platform's own schedules, on a real Temporal server. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { until } from '../kit/harness.ts';
import { ensureSchedules } from '../../workers/schedules.ts';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
});
afterAll(() => connection.close());

it('the maintenance workflow starts as soon as its schedule is created, and its next run waits for the first to end', async () => {
  const prefix = `${randomUUID()}-`;
  const client = new Client({ connection });
  // Every worker of the fleet does this when it starts.
  await Promise.all([ensureSchedules(client, prefix), ensureSchedules(client, prefix)]);
  const schedule = client.schedule.getHandle(`${prefix}maintain-stores`);
  const look = () => schedule.describe();
  try {
    // No worker polls this queue, so the first run stays open.
    await until(async () => (await look()).info.runningActions.length === 1, 'the first run');
    // Triggers the schedule as the next hour does, with its own overlap policy.
    const { policies } = await look();
    await schedule.trigger(policies.overlap);
    await until(async () => (await look()).raw.info?.bufferSize?.toString() === '1', 'the second run to wait');
    const { info } = await look();
    expect([info.runningActions.length, info.recentActions.length]).toEqual([1, 1]);
  } finally {
    const running = (await look()).info.runningActions;
    await schedule.delete();
    for (const { workflow } of running) await client.workflow.getHandle(workflow.workflowId).terminate('test');
  }
});
