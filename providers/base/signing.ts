/** What the verifiers of signed requests share: HMACs, compared in constant time. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../../models/rules/base/errors.ts';

/** A request as it came. */
export type SignedRequest = {
  headers: IncomingHttpHeaders;
  /** The bytes as they were sent. */
  body: Buffer;
  now: Date;
};
type Part = string | Uint8Array;

/** Whether `given`, lower-case hexadecimal, is the HMAC-SHA256 of the parts. */
export function isHmac(given: string, secret: string, parts: readonly Part[]): boolean {
  if (!/^[0-9a-f]{64}$/.test(given)) return false;
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return timingSafeEqual(Buffer.from(given, 'hex'), hmac.digest());
}

export function sha256(...parts: readonly Part[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** Says what is wrong to who may set it right, and nothing about the secret. */
export const unsigned = (message: string): Problem => new Problem('UNAUTHENTICATED', { message });

/** An object's member, whatever the value is. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
/** The same as text; undefined when it is none, or too long to be an id. */
export function textMember(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' && found !== '' && found.length <= maxIdLength ? found : undefined;
}
const maxIdLength = 200;

/** The JSON in a body; undefined when there is none. */
export function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The type of media alone: a parameter such as `charset` may follow it. */
export const isForm = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase() === 'application/x-www-form-urlencoded';
