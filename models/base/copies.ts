/**
 * Copies of meetings, tasks, customers, documents and interviews in other records: notifications, deliveries, answers that are
 * kept for a repeated request. Each names whose copy it is, so that one removal finds all of them. Their collections are
 * listed in models/rules/base/holdings.ts.
 */
import mongoose from 'mongoose';
import type { IndexDefinition } from './define.ts';
import { list, string } from '../rules/base/fields.ts';
import { copies } from '../rules/base/holdings.ts';

/** The ids of whom or what a record tells about; none of a record that tells about none of them. */
export const aboutField = list(string);
export const aboutIndex: IndexDefinition = { fields: { about: 1 } };

/** How many copies there are of these, by collection. Ids are unique in the whole system. */
export async function countCopies(ids: readonly string[]): Promise<Record<string, number>> {
  const counts = copies.map(async ({ collection, by }) => {
    const count = await mongoose.connection.collection(collection).countDocuments({ [by]: { $in: [...ids] } });
    return [collection, count] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Removes every copy of these; what is outstanding of it is not sent any more. Safe to repeat. */
export async function eraseCopies(ids: readonly string[]): Promise<void> {
  for (const { collection, by } of copies)
    await mongoose.connection.collection(collection).deleteMany({ [by]: { $in: [...ids] } });
}
