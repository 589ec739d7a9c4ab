/**
 * Rules for all test systems. None reaches a real outside service. Each has its own name, because two of one name would
 * share a database and queues. Only `shared`, the system of the whole run, is named more than once, by tests that start
 * another process of it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { removeDataDir, systemEnv } from '../kit/processes.ts';
import { environment, readConfig } from '../../config.ts';

const tests = fileURLToPath(new URL('..', import.meta.url));
/** The functions that take a system's name. */
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

/** All texts in a value, however deep. */
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
  // An address whose default is in a client, like that of S3, is found by its variable's name.
  const places = Object.keys(environment.shape).filter((name) => /_API_URL$|_ENDPOINT$/u.test(name));
  expect(places.filter((name) => env[name] === undefined)).toEqual([]);
  await removeDataDir(env);
});
