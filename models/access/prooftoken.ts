/**
 * Tokens in mailed links. A token is a keyed hash of an id and is computed whenever it is needed. So every attempt to
 * send a mail sends the same token. Only the token's hash is stored.
 */
import { hashToken } from './key.ts';
import type { SecretBox } from '../base/secretbox.ts';
import type { TokenPurpose } from '../rules/access/account.ts';

type Keys = Pick<SecretBox, 'mac' | 'macs'>;

const purposeOf = (purpose: TokenPurpose): string => `mailed tokens: ${purpose}`;

/** The token for an id: 43 characters with 256 bits. `id` need not be secret. */
export const proofToken = (keys: Keys, purpose: TokenPurpose, id: string): string =>
  keys.mac(purposeOf(purpose), id).toString('base64url');

export const proofHash = (keys: Keys, purpose: TokenPurpose, id: string): string =>
  hashToken(proofToken(keys, purpose, id));

/** The token that has this stored hash, whichever secret key made it; without a match, the token of the newest key. */
export function storedProofToken(keys: Keys, purpose: TokenPurpose, id: string, hash: string): string {
  const made = keys.macs(purposeOf(purpose), id).map((mac) => mac.toString('base64url'));
  return made.find((token) => hashToken(token) === hash) ?? proofToken(keys, purpose, id);
}
