/**
 * Tokens of reply addresses: the id of a mail thread and a signature. A token with an invalid signature is rejected
 * without a database query.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../base/secretbox.ts';

const idBytes = 16;
/** 80 bits are enough: each guess costs one mail, and the sender must also be the customer. */
const signatureBytes = 10;

/** The id of a new thread: 32 hexadecimal digits. */
export const newTokenId = (): string => randomBytes(idBytes).toString('hex');

type Keys = Pick<SecretBox, 'mac' | 'macs'>;
const purpose = 'reply addresses';

/** The signed token of a thread id, 52 hexadecimal digits. */
export const tokenOf = (keys: Keys, id: string): string => id + signatureIn(keys.mac(purpose, id)).toString('hex');

/** The thread id in a token, in upper or lower case; undefined when none of the keys has signed the token. */
export function readToken(keys: Keys, token: string): string | undefined {
  if (!/^[\da-f]{52}$/iu.test(token)) return undefined;
  const bytes = Buffer.from(token, 'hex');
  const id = bytes.toString('hex', 0, idBytes);
  const signed = keys.macs(purpose, id).some((mac) => timingSafeEqual(signatureIn(mac), bytes.subarray(idBytes)));
  return signed ? id : undefined;
}

const signatureIn = (mac: Buffer): Buffer => mac.subarray(0, signatureBytes);
