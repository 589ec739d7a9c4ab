/**
 * First answers by Idempotency-Key, per credential and route, kept for 24 hours or until the answer is no longer
 * useful. Bodies are sealed, because some hold a secret that is shown once.
 */
import { collectionOf, defineModel, type RecordOf } from './define.ts';
import { date, embedded, number, optional, string, text, type ValueOf } from '../rules/base/fields.ts';
import { isDuplicate } from './connect.ts';
import { aboutField, aboutIndex } from './copies.ts';
import { sealedRecords } from './reseal.ts';
import type { Place } from './secretbox.ts';

const idempotentReply = embedded({
  status: number,
  body: text,
});
export type IdempotentReply = ValueOf<typeof idempotentReply>;

const IdempotencyModel = defineModel(
  'Idempotency',
  'idempotency',
  {
    /** A hash over credential, route and key. */
    _id: string,
    fingerprint: string,
    /**
     * The request that runs under the key. A request whose key another one has taken over keeps, renews and releases
     * nothing.
     */
    holder: string,
    /** The end of its lease. Until then the request counts as running, afterwards as dead with its process. */
    running_until: date,
    reply: optional(idempotentReply),
    /** Whom and what the answer tells about. */
    about: aboutField,
    expires_at: date,
  },
  [{ fields: { expires_at: 1 }, expireAfterSeconds: 0 }, aboutIndex],
);
type Entry = RecordOf<typeof IdempotencyModel>;

export const replyPlace = (id: string): Place => ({ field: 'idempotency.reply.body', record: id });

export const idempotencySeals = sealedRecords(IdempotencyModel, ({ _id, reply }) => [
  { path: 'reply.body', sealed: reply?.body, place: replyPlace(_id) },
]);

/** A key, and the request that asks for it or holds it. */
type Holding = { id: string; holder: string };

/**
 * Takes the key for this request and returns undefined, or returns the stored record. A key whose holder has died, or
 * that has expired, is taken over.
 */
export async function takeIdempotencyKey(
  { id, holder }: Holding,
  fingerprint: string,
  now: Date,
  lease: { runMs: number; keepMs: number },
): Promise<Entry | undefined> {
  const mine = {
    fingerprint,
    holder,
    about: [],
    running_until: new Date(now.getTime() + lease.runMs),
    expires_at: new Date(now.getTime() + lease.keepMs),
  };
  try {
    await IdempotencyModel.create({ _id: id, ...mine });
    return undefined;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
  const abandoned = { fingerprint, reply: { $exists: false }, running_until: { $lte: now } };
  // The database removes expired records with a delay, so they are still found here.
  const free = { _id: id, $or: [abandoned, { expires_at: { $lte: now } }] };
  if (await collectionOf(IdempotencyModel).findOneAndUpdate(free, { $set: mine, $unset: { reply: '' } }))
    return undefined;
  const standing = await collectionOf(IdempotencyModel).findOne({ _id: id });
  // The key was released between the two reads: the caller may try again at once.
  return standing ?? { _id: id, ...mine };
}

/** Extends the lease of a running request to `until`. */
export async function renewIdempotencyKey({ id, holder }: Holding, until: Date): Promise<void> {
  await collectionOf(IdempotencyModel).updateOne(
    { _id: id, holder, reply: { $exists: false } },
    { $max: { running_until: until } },
  );
}

/**
 * Keeps the answer as long as the key was taken for, or until `until` when that is earlier. `about`: the ids of what it tells
 * about, with which it is removed.
 */
export async function keepReply(
  { id, holder }: Holding,
  reply: IdempotentReply,
  { about, until }: { about: string[]; until?: Date | undefined },
): Promise<void> {
  await collectionOf(IdempotencyModel).updateOne(
    { _id: id, holder },
    { $set: { reply, about }, ...(until ? { $min: { expires_at: until } } : {}) },
  );
}

export async function releaseIdempotencyKey({ id, holder }: Holding): Promise<void> {
  await collectionOf(IdempotencyModel).deleteOne({ _id: id, holder, reply: { $exists: false } });
}
