import { expect, it } from '@jest/globals';
import { againIfDuplicate, unlessDuplicate } from '../../models/base/connect.ts';

const duplicate = Object.assign(new Error('E11000 duplicate key'), { code: 11_000 });
const other = new Error('another error');

/** A write that fails with these errors, one after the other, and then succeeds. */
const failing =
  (...errors: Error[]) =>
  async (): Promise<string> => {
    const error = errors.shift();
    if (error) throw error;
    return 'written';
  };

it('unlessDuplicate returns undefined for a write that duplicates a stored record, and throws any other error', async () => {
  expect(await unlessDuplicate(failing())).toBe('written');
  expect(await unlessDuplicate(failing(duplicate))).toBeUndefined();
  await expect(unlessDuplicate(failing(other))).rejects.toBe(other);
});

it('againIfDuplicate repeats a write that fails as a duplicate of another writer’s record, and throws any other error', async () => {
  expect(await againIfDuplicate(failing(duplicate, duplicate))).toBe('written');
  await expect(againIfDuplicate(failing(duplicate, other))).rejects.toBe(other);
});
