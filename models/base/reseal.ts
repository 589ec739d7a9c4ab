/**
 * Encrypts all sealed values (see `SecretBox`) again with the newest secret key, so that older keys can be removed.
 * Each model lists its sealed values. Other processes can keep working meanwhile.
 */
import { acrossShards, type Model } from './define.ts';
import type { renewalTurns } from './lease.ts';
import type { Place, SecretBox } from './secretbox.ts';

/**
 * A sealed value of a record. `path`: its field, with the index if the field is a list. `place`: the place that the
 * encryption binds the value to.
 */
export type SealedValue = { path: string; sealed: string | null | undefined; place: Place };
export type SealedRecords = {
  model: Model<never>;
  valuesIn(record: never): SealedValue[];
  /**
   * The lock for renewing the record's values, when other processes renew them too. While another process holds the
   * lock, the values are not re-encrypted; they count as `left`.
   */
  turnsOf?(record: never): ReturnType<typeof renewalTurns>;
  /** Whether the record uses a `version` for optimistic locking, which must then be incremented. */
  versioned?: true;
};

export const sealedRecords = <T extends { _id: string }>(
  model: Model<T>,
  valuesIn: (record: T) => SealedValue[],
  options: { turnsOf?: (record: T) => ReturnType<typeof renewalTurns>; versioned?: true } = {},
): SealedRecords => ({ model, valuesIn, ...options }) as unknown as SealedRecords;

/**
 * `left`: the number of values that were not re-encrypted, because another process was changing them. `unreadable`: the
 * places of the values that no configured key can decrypt.
 */
export type Resealed = { resealed: number; left: number; unreadable: Place[] };

const batchSize = 200;

/** Re-encrypts, with the newest key, every value that an older key has sealed. Idempotent. */
export async function resealRecords(of: SealedRecords, secrets: SecretBox): Promise<Resealed> {
  const collection = acrossShards(of.model as unknown as Model<{ _id: string }>);
  const done: Resealed = { resealed: 0, left: 0, unreadable: [] };
  for (let last = ''; ;) {
    // Pages by primary key, so that memory stays bounded.
    const records = await collection
      .find({ _id: { $gt: last } })
      .sort({ _id: 1 })
      .limit(batchSize)
      .toArray();
    for (const record of records) await resealRecord(of, record, { secrets, done });
    if (records.length < batchSize) return done;
    last = records.at(-1)!._id;
  }
}

async function resealRecord(
  { model, valuesIn, turnsOf, versioned }: SealedRecords,
  record: { _id: string },
  { secrets, done }: { secrets: SecretBox; done: Resealed },
): Promise<void> {
  const collection = acrossShards(model as unknown as Model<{ _id: string }>);
  for (const { path, sealed, place } of valuesIn(record as never)) {
    if (typeof sealed !== 'string' || secrets.isNewest(sealed)) continue;
    let text: string;
    try {
      text = secrets.open(sealed, place);
    } catch {
      done.unreadable.push(place);
      continue;
    }
    const turns = turnsOf?.(record as never);
    if (turns && !(await turns.claim())) {
      done.left += 1;
      continue;
    }
    const change = { $set: { [path]: secrets.seal(text, place) }, ...(versioned ? { $inc: { version: 1 } } : {}) };
    const { matchedCount } = await collection
      .updateOne({ _id: record._id, [path]: sealed }, change)
      .finally(() => turns?.end());
    if (matchedCount === 1) done.resealed += 1;
    else done.left += 1;
  }
}
