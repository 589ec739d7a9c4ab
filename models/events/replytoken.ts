/**
 * Tokens of reply addresses: the id of a mail thread, which names conversation and customer, and a signature. A token that was
 * not signed here is refused without asking the database.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../base/secretbox.ts';
import { fromBase32, maxTokenLength, toBase32 } from '../rules/events/replyaddress.ts';

const idBytes = 16;
/** 80 bits: a guess has to be sent as a mail, and its sender has to be the customer anyway. */
const signatureBytes = 10;

/** A new thread's id: 32 hexadecimal digits. */
export const newTokenId = (): string => randomBytes(idBytes).toString('hex');

type Keys = Pick<SecretBox, 'mac' | 'macs'>;
const purpose = 'reply addresses';

/** The token of this id, 42 characters. */
export function tokenOf(keys: Keys, id: string): string {
  const bytes = Buffer.from(id, 'hex');
  return toBase32(Buffer.concat([bytes, signatureIn(keys.mac(purpose, id))]));
}

/** The id in a token that was signed with one of these keys, whatever its case; undefined for any other text. */
export function readToken(keys: Keys, token: string): string | undefined {
  const bytes = token.length <= maxTokenLength ? fromBase32(token) : undefined;
  if (bytes?.length !== idBytes + signatureBytes) return undefined;
  const id = Buffer.from(bytes.subarray(0, idBytes)).toString('hex');
  const signed = keys.macs(purpose, id).some((mac) => timingSafeEqual(signatureIn(mac), bytes.subarray(idBytes)));
  return signed ? id : undefined;
}

const signatureIn = (mac: Buffer): Buffer => mac.subarray(0, signatureBytes);
