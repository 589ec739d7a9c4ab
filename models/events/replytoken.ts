/**
 * Tokens of reply addresses: the id of a mail thread, which names conversation and customer, and a signature. A token that was
 * not signed here is refused without asking the database.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { fromBase32, maxTokenLength, toBase32 } from '../rules/events/replyaddress.ts';

const idBytes = 16;
/** 80 bits: a guess has to be sent as a mail, and its sender has to be the customer anyway. */
const signatureBytes = 10;

/** A new thread's id: 32 hexadecimal digits. */
export const newTokenId = (): string => randomBytes(idBytes).toString('hex');

/** The token of this id, 42 characters. `key`: `config.secretKey`. */
export function tokenOf(key: Buffer, id: string): string {
  const bytes = Buffer.from(id, 'hex');
  return toBase32(Buffer.concat([bytes, signatureOf(key, bytes)]));
}

/** The id in a token that was signed with this key, whatever its case; undefined for any other text. */
export function readToken(key: Buffer, token: string): string | undefined {
  const bytes = token.length <= maxTokenLength ? fromBase32(token) : undefined;
  if (bytes?.length !== idBytes + signatureBytes) return undefined;
  const id = bytes.subarray(0, idBytes);
  return timingSafeEqual(signatureOf(key, id), bytes.subarray(idBytes)) ? Buffer.from(id).toString('hex') : undefined;
}

const signatureOf = (key: Buffer, id: Uint8Array): Buffer =>
  createHmac('sha256', key).update('reply address\0').update(id).digest().subarray(0, signatureBytes);
