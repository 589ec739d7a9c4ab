/** The page calls the API by constants that are made of its routes. */
import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { operations, operationsFile } from './operations.ts';

it('web/app/api/operations.ts is what `npm run operations` writes: import the name of an operation first, then run it', async () => {
  expect(await readFile(operationsFile, 'utf8')).toBe(await operations());
});
