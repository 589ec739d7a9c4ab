/**
 * Rules for all test systems. No test system reaches a real external service. Each has a unique name, because systems
 * with one name would share a database and task queues. Only `shared`, the system of the whole run, is named more than
 * once: by tests that start another process of it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { removeDataDir, systemEnv } from '../kit/processes.ts';
import { defaultServices, readConfig } from '../../config.ts';

const tests = fileURLToPath(new URL('..', import.meta.url));
/** Matches the functions that take the name of a system. */
const named = /(?:systemEnv|answering|chatStories)\('([\w-]+)'/gu;

it('no two systems that are started by tests have the same name', async () => {
  const files = (await readdir(tests, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const names = (
    await Promise.all(files.map(async (file) => [...(await readFile(join(tests, file), 'utf8')).matchAll(named)]))
  )
    .flat()
    .map(([, name]) => name!)
    .filter((name) => name !== 'shared');
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

/** All strings in a value at any depth. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null && !Buffer.isBuffer(value)
      ? Object.values(value).flatMap(textsIn)
      : [];

it('no system that is started by tests reaches an external service by default', async () => {
  const env = systemEnv('nobody');
  const config = readConfig(env);
  const addresses = textsIn(config).filter((text) => /^https?:/u.test(text));
  expect(addresses.length).toBeGreaterThan(6);
  expect(addresses.filter((address) => new URL(address).hostname !== '127.0.0.1')).toEqual([]);
  // An address whose default is in a client, such as that of S3, is in the configuration only when it is set.
  for (const name of Object.keys(defaultServices)) expect(env['SERVICE_URLS']).toContain(`${name}=http://127.0.0.1:`);
  await removeDataDir(env);
});
