/**
 * What all systems of tests keep to. None reaches a service of somebody else. They have names of their own: two of one name would
 * share a database and queues, and spoil each other. Only `shared`, the system of the whole run, is named more than once, by
 * tests that start another process of it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { removeDataDir, systemEnv } from '../kit/processes.ts';
import { environment, readConfig } from '../../config.ts';

const tests = fileURLToPath(new URL('..', import.meta.url));
/** What takes a system's name. */
const named = /(?:systemEnv|answering|chatStories)\('([\w-]+)'/gu;

it('no two systems of tests have the same name', async () => {
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

/** Each text in a value, whatever it lies in. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null && !Buffer.isBuffer(value)
      ? Object.values(value).flatMap(textsIn)
      : [];

it('no system of tests reaches a service of somebody else by default', async () => {
  const env = systemEnv('nobody');
  const config = readConfig(env);
  const addresses = textsIn(config).filter((text) => /^https?:/u.test(text));
  expect(addresses.length).toBeGreaterThan(6);
  expect(addresses.filter((address) => new URL(address).hostname !== '127.0.0.1')).toEqual([]);
  // A place that only has a default elsewhere, as that of S3 has in its client, is named by its variable.
  const places = Object.keys(environment.shape).filter((name) => /_API_URL$|_ENDPOINT$/u.test(name));
  expect(places.filter((name) => env[name] === undefined)).toEqual([]);
  await removeDataDir(env);
});
