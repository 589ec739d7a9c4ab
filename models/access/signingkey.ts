/**
 * The keys that sign login tokens and the tokens of support sessions. Private keys are stored encrypted; all processes
 * share the keys through the database.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, mixed, number, string, unique } from '../rules/base/fields.ts';
import { unlessDuplicate } from '../base/connect.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place } from '../base/secretbox.ts';

export const SigningKeyModel = defineModel('SigningKey', 'signing_keys', {
  /** The `kid` of the key. */
  _id: string,
  /**
   * A counter; the key with the highest number signs. It is unique, so that two processes that rotate at once create
   * one key.
   */
  number: unique(number),
  public_jwk: mixed<Record<string, unknown>>(),
  /** The private key, encrypted. */
  private_jwk: string,
  created_at: date,
});
export type SigningKey = RecordOf<typeof SigningKeyModel>;

export const privateJwkPlace = (kid: string): Place => ({ field: 'signing_keys.private_jwk', record: kid });

export const signingKeySeals = sealedRecords(SigningKeyModel, ({ _id, private_jwk }) => [
  { path: 'private_jwk', sealed: private_jwk, place: privateJwkPlace(_id) },
]);

/**
 * The signing keys, newest first. The query reads the primary's local state, which shows a new key before a majority of
 * the replica set has it. So a process whose key was refused, because another process added one at the same time, finds
 * the other process's key at once.
 */
export async function listSigningKeys(): Promise<SigningKey[]> {
  return collectionOf(SigningKeyModel)
    .find({}, { readConcern: { level: 'local' } })
    .sort({ number: -1 })
    .toArray();
}

/** Stores a new key; false when another process has stored one with the same number. */
export async function addSigningKey(key: SigningKey): Promise<boolean> {
  return (await unlessDuplicate(() => SigningKeyModel.create(key))) !== undefined;
}

export async function removeSigningKeysBefore(number: number): Promise<void> {
  await collectionOf(SigningKeyModel).deleteMany({ number: { $lt: number } });
}
