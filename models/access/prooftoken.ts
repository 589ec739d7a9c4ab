/**
 * Tokens that are sent by mail. A token is made of the id of what it stands for and the deployment's key whenever it is
 * needed, so that each attempt to send a mail sends the same one; only its hash is stored.
 */
import { hashToken } from './key.ts';
import type { SecretBox } from '../base/secretbox.ts';
import type { TokenPurpose } from '../rules/access/account.ts';

type Keys = Pick<SecretBox, 'mac' | 'macs'>;

const purposeOf = (purpose: TokenPurpose): string => `mailed tokens: ${purpose}`;

/** 43 characters, 256 bits. `id` need not be a secret. */
export const proofToken = (keys: Keys, purpose: TokenPurpose, id: string): string =>
  keys.mac(purposeOf(purpose), id).toString('base64url');

/** What is stored of it. */
export const proofHash = (keys: Keys, purpose: TokenPurpose, id: string): string =>
  hashToken(proofToken(keys, purpose, id));

/** The token of which this hash was stored, which may have been made by an older key; else as `proofToken`. */
export function storedProofToken(keys: Keys, purpose: TokenPurpose, id: string, hash: string): string {
  const made = keys.macs(purposeOf(purpose), id).map((mac) => mac.toString('base64url'));
  return made.find((token) => hashToken(token) === hash) ?? proofToken(keys, purpose, id);
}
