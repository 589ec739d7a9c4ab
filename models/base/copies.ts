/**
 * Copies of the content of meetings, tasks, customers, documents and interviews in other records: notifications,
 * deliveries, and idempotent replies. Each copy stores the ids of the originals, so that the removal of an original
 * finds all its copies. models/rules/base/holdings.ts lists the collections of copies.
 */
import mongoose from 'mongoose';
import type { IndexDefinition } from './define.ts';
import { list, string } from '../rules/base/fields.ts';
import { copies } from '../rules/base/holdings.ts';

/**
 * The field `about`: the ids of the originals whose content the record copies. The record is deleted when one of these
 * originals is deleted.
 */
export const aboutField = list(string);
export const aboutIndex: IndexDefinition = { fields: { about: 1 } };

/** The number of copies of the originals with these ids, by collection. Ids are unique across collections. */
export async function countCopies(ids: readonly string[]): Promise<Record<string, number>> {
  const counts = copies.map(async ({ collection, by }) => {
    const count = await mongoose.connection.collection(collection).countDocuments({ [by]: { $in: [...ids] } });
    return [collection, count] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Deletes every copy of the originals with these ids, including unsent deliveries. Idempotent. */
export async function eraseCopies(ids: readonly string[]): Promise<void> {
  for (const { collection, by } of copies)
    await mongoose.connection.collection(collection).deleteMany({ [by]: { $in: [...ids] } });
}
