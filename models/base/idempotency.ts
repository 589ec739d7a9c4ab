/**
 * The first replies to requests with an Idempotency-Key, stored for each credential, route and key. A reply is kept for
 * 24 hours, or for less when its request handler says so (`until` of `keepReply`). Bodies are encrypted, because some
 * contain a secret that is shown once.
 */
import { collectionOf, defineModel, type RecordOf } from './define.ts';
import { date, embedded, number, optional, string, text, type ValueOf } from '../rules/base/fields.ts';
import { unlessDuplicate } from './connect.ts';
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
    /** A hash over credential, route and idempotency key. */
    _id: string,
    fingerprint: string,
    /**
     * The request that holds the key. A request that has lost the key to another one can no longer store a reply, and
     * can no longer renew or release the key.
     */
    holder: string,
    /** The end of the holder's lease. After it, the holder counts as crashed. */
    running_until: date,
    reply: optional(idempotentReply),
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

/** `id`: the id of the key's record. `holder`: the request that takes or holds the key. */
type Holding = { id: string; holder: string };

/**
 * Takes the key for this request and returns undefined, or returns the record of the earlier request. The key is taken
 * over when its record has expired, or when its holder crashed and the request is the same.
 * `fingerprints`: the request's fingerprint computed with each secret key, newest key first. The earlier request may
 * have stored a fingerprint of an older key, because the secret key may have been changed meanwhile.
 */
export async function takeIdempotencyKey(
  { id, holder }: Holding,
  fingerprints: readonly string[],
  now: Date,
  lease: { runMs: number; keepMs: number },
): Promise<Entry | undefined> {
  const mine = {
    fingerprint: fingerprints[0]!,
    holder,
    about: [],
    running_until: new Date(now.getTime() + lease.runMs),
    expires_at: new Date(now.getTime() + lease.keepMs),
  };
  if (await unlessDuplicate(() => IdempotencyModel.create({ _id: id, ...mine }))) return undefined;
  const abandoned = { fingerprint: { $in: fingerprints }, reply: { $exists: false }, running_until: { $lte: now } };
  // MongoDB deletes expired records with a delay, so they may still be found.
  const free = { _id: id, $or: [abandoned, { expires_at: { $lte: now } }] };
  if (await collectionOf(IdempotencyModel).findOneAndUpdate(free, { $set: mine, $unset: { reply: '' } }))
    return undefined;
  const standing = await collectionOf(IdempotencyModel).findOne({ _id: id });
  // If there is no record, the key was released after the update above. The returned record has no reply, so the caller
  // reports that the first request still runs, and the client can try again.
  return standing ?? { _id: id, ...mine };
}

export async function renewIdempotencyKey({ id, holder }: Holding, until: Date): Promise<void> {
  await collectionOf(IdempotencyModel).updateOne(
    { _id: id, holder, reply: { $exists: false } },
    { $max: { running_until: until } },
  );
}

/** Stores the reply until the record expires, or until `until` when that is earlier. */
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
