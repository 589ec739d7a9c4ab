/**
 * The long form of a test in test/events/inbound.test.ts: invalid requests are refused and store nothing. It also
 * measures the memory of the API process.
 */
import { expect, it } from '@jest/globals';
import { startBotFramework } from '../kit/botframework.ts';
import { openClient } from '../kit/database.ts';
import { sendGarbage, verifyingEnv } from '../kit/garbage.ts';
import { apiAt } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv } from '../kit/processes.ts';
import { watched } from '../../bench/heap.ts';

/** The growth that compiled code and filled caches may cause. 500 bytes left by each request would exceed it. */
const growthBytes = 5 * 1024 * 1024;

it('10,000 invalid webhook requests are refused, store nothing and leave nothing in memory', async () => {
  const microsoft = await startBotFramework();
  const { settings, alive } = watched('api/server.ts');
  const env = systemEnv('longgarbage', { ...verifyingEnv(microsoft), ...settings, LOG_LEVEL: 'warn' });
  const running = await startProcess('api/server.ts', env);
  const api = apiAt(running.url);
  await sendGarbage(api, 3_000);
  const before = await alive();
  expect(Object.keys(await sendGarbage(api, 10_000, 3_000))).toEqual(['401']);
  const after = await alive();
  expect(after.heap + after.external - before.heap - before.external).toBeLessThan(growthBytes);
  // Resident memory may grow more, because the allocator keeps additional pages.
  expect(after.resident - before.resident).toBeLessThan(64 * 1024 * 1024);
  const mongo = await openClient(env['MONGODB_URI']!);
  expect(await mongo.db().collection('inbound').countDocuments()).toBe(0);
  await mongo.close();
  await running.stop();
  await microsoft.close();
  await removeDataDir(env);
});
