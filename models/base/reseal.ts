/**
 * Sealing everything anew with the newest key, so that older keys are not needed any more. Each model that stores sealed values
 * says where they are; processes that work at the same time keep working.
 */
import type { Model } from 'mongoose';
import { collectionOf } from './define.ts';
import type { Place, SecretBox } from './secretbox.ts';

/** A sealed value of a record: where it is stored (`path`, with the index in a list), and what it is bound to. */
export type SealedValue = { path: string; sealed: string | null | undefined; place: Place };
export type SealedRecords = {
  model: Model<never>;
  valuesIn(record: never): SealedValue[];
  /** Records that are left alone at this moment, because a process is about to replace exactly this value. */
  restingAt?(now: Date): object;
  /** Whether `version` counts changes of the record, so that nobody puts an older one back. */
  versioned?: true;
};

/** What a model declares; typed by its record. */
export const sealedRecords = <T extends { _id: string }>(
  model: Model<T>,
  valuesIn: (record: T) => SealedValue[],
  options: Pick<SealedRecords, 'restingAt' | 'versioned'> = {},
): SealedRecords => ({ model, valuesIn, ...options }) as unknown as SealedRecords;

/** `left`: values that another process changed meanwhile; `unreadable`: places whose value no configured key opens. */
export type Resealed = { resealed: number; left: number; unreadable: Place[] };

const batchSize = 200;

/** Seals the values of these records anew that an older key has sealed. Safe to repeat. */
export async function resealRecords(of: SealedRecords, secrets: SecretBox, now: Date): Promise<Resealed> {
  const collection = collectionOf(of.model as unknown as Model<{ _id: string }>);
  const done: Resealed = { resealed: 0, left: 0, unreadable: [] };
  for (let last = ''; ;) {
    // By the primary key: a page at a time, however many records there are.
    const records = await collection
      .find({ _id: { $gt: last } })
      .sort({ _id: 1 })
      .limit(batchSize)
      .toArray();
    for (const record of records) await resealRecord(of, record, { secrets, now, done });
    if (records.length < batchSize) return done;
    last = records.at(-1)!._id;
  }
}

async function resealRecord(
  { model, valuesIn, restingAt, versioned }: SealedRecords,
  record: { _id: string },
  { secrets, now, done }: { secrets: SecretBox; now: Date; done: Resealed },
): Promise<void> {
  const collection = collectionOf(model as unknown as Model<{ _id: string }>);
  for (const { path, sealed, place } of valuesIn(record as never)) {
    if (typeof sealed !== 'string' || secrets.isNewest(sealed)) continue;
    let text: string;
    try {
      text = secrets.open(sealed, place);
    } catch {
      done.unreadable.push(place);
      continue;
    }
    const { matchedCount } = await collection.updateOne(
      { _id: record._id, [path]: sealed, ...restingAt?.(now) },
      {
        $set: { [path]: secrets.seal(text, place) },
        ...(versioned ? { $inc: { version: 1 } } : {}),
      },
    );
    if (matchedCount === 1) done.resealed += 1;
    else done.left += 1;
  }
}
