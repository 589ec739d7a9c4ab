/**
 * The systems of tests have names of their own: two of one name would share a database and queues, and spoil each other. Only
 * `shared`, the system of the whole run, is named more than once, by tests that start another process of it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

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
