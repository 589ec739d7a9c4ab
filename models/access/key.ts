/** API keys: creation, look-up, rotation and revocation. Only the hash of a key is stored. */
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { changerOf, collectionOf, defineModel, finderOf, newest, olderThan, type RecordOf } from '../base/define.ts';
import { date, list, nullable, oneOf, optional, string, unique } from '../rules/base/fields.ts';
import { modes, scopes, splitToken, tokenPrefix, type KeyPrefix } from '../rules/access/keys.ts';

const KeyModel = defineModel(
  'Key',
  'keys',
  {
    _id: string,
    org_id: string,
    name: string,
    scopes: list(oneOf(scopes)),
    /**
     * The mode in the key's prefix. The prefix of a legacy key names no mode; its mode follows the organization's
     * environment.
     */
    mode: oneOf([...modes, 'legacy']),
    /** SHA-256 of the token, hexadecimal. */
    token_hash: unique(string),
    /** The first characters of the token, by which people recognise the key. */
    token_prefix: string,
    created_by_user_id: string,
    created_at: date,
    updated_at: date,
    last_used_at: optional(nullable(date)),
    expires_at: optional(nullable(date)),
    revoked_at: optional(nullable(date)),
    /** The id of the key that replaced this key; a key can be replaced only once. */
    rotated_to: optional(nullable(string)),
  },
  [{ fields: { org_id: 1, _id: -1 } }],
);
export type Key = RecordOf<typeof KeyModel>;

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * A new token: a prefix, 32 random base62 characters (190 bits), and the CRC32 of these characters in 6 characters.
 * Because of the checksum, mistyped or invented keys are refused without a database look-up.
 */
export function newToken(kind: KeyPrefix['kind'], mode: KeyPrefix['mode']): string {
  const random = Array.from({ length: 32 }, () => base62[randomInt(62)]).join('');
  return `${tokenPrefix(kind, mode)}${random}${checksum(random)}`;
}

/** Whether a token has the form of an API key, with a correct checksum. */
export function wellFormed(token: string): boolean {
  const secret = splitToken(token)?.secret;
  return secret !== undefined && /^[0-9A-Za-z]{38}$/.test(secret) && checksum(secret.slice(0, 32)) === secret.slice(32);
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export async function findKeyByToken(token: string): Promise<Key | null> {
  return collectionOf(KeyModel).findOne({ token_hash: hashToken(token) });
}

export const findKey = finderOf(KeyModel);
const changeKey = changerOf(KeyModel);

/** The keys of an organization, newest first, including revoked keys; `before` is the last id of the previous page. */
export async function listKeys(orgId: string, limit: number, before?: string): Promise<Key[]> {
  return newest(collectionOf(KeyModel).find({ org_id: orgId, ...olderThan(before) }), limit);
}

export async function createKey(key: Key): Promise<void> {
  await KeyModel.create(key);
}

/**
 * Updates a key. Null when there is no such key or it is revoked. A change of `expires_at` also returns null when the
 * key was rotated.
 */
export async function updateKey(
  orgId: string,
  keyId: string,
  change: Partial<Pick<Key, 'name' | 'scopes' | 'expires_at'>>,
  now: Date,
): Promise<Key | null> {
  // A rotation has set the expiry of the old key; changing it to a later time would make the old token valid again.
  const unrotated = 'expires_at' in change ? { rotated_to: null } : {};
  return changeKey(orgId, keyId, { $set: { ...change, updated_at: now } }, { revoked_at: null, ...unrotated });
}

/** Revokes a key permanently; null when there is no such key or it is revoked already. */
export const revokeKey = (orgId: string, keyId: string, now: Date) =>
  changeKey(orgId, keyId, { $set: { revoked_at: now, updated_at: now } }, { revoked_at: null });

/**
 * Makes `keeper` the creator of all unrevoked keys that a person created; without `keeper`, revokes these keys. Returns
 * the keys as they were before.
 */
export async function settleKeysOf(
  orgId: string,
  userId: string,
  keeper: string | undefined,
  now: Date,
): Promise<Key[]> {
  const created = { org_id: orgId, created_by_user_id: userId, revoked_at: null };
  const keys = await collectionOf(KeyModel).find(created).sort({ _id: 1 }).toArray();
  const change = keeper === undefined ? { revoked_at: now } : { created_by_user_id: keeper };
  await collectionOf(KeyModel).updateMany(
    { ...created, _id: { $in: keys.map(({ _id }) => _id) } },
    { $set: { ...change, updated_at: now } },
  );
  return keys;
}

/**
 * Replaces `old` by `next`; the old key works until `oldEnds`. False when `old` has changed since it was read
 * (optimistic locking), so that two concurrent rotations make only one new key. `next` is stored first. A crash right
 * afterwards leaves an unused key whose token nobody has seen, and the old key unchanged.
 */
export async function replaceKey(old: Key, next: Key, oldEnds: Date, now: Date): Promise<boolean> {
  await KeyModel.create(next);
  const { matchedCount } = await collectionOf(KeyModel).updateOne(
    { _id: old._id, org_id: old.org_id, revoked_at: null, rotated_to: null, updated_at: old.updated_at },
    { $set: { expires_at: oldEnds, rotated_to: next._id, updated_at: now } },
  );
  if (matchedCount === 0) await collectionOf(KeyModel).deleteOne({ _id: next._id, org_id: next.org_id });
  return matchedCount === 1;
}

/** Stores when a key was last used. The caller does this at most once a minute per key, to save writes. */
export async function touchKey(keyId: string, now: Date): Promise<void> {
  await collectionOf(KeyModel).updateOne({ _id: keyId }, { $max: { last_used_at: now } });
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = base62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
