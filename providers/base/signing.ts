/** Functions for verifying signed requests. HMACs are compared in constant time. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { signingPlace, type Integration } from '../../models/integrations/integration.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export type SignedRequest = {
  headers: IncomingHttpHeaders;
  /** The unparsed bytes, because the signature covers them. */
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

/** Whether `given` is the HMAC of the body with the connection's own secret. */
export function isSignedBy(own: Integration, given: string, body: Buffer, secrets: SecretBox): boolean {
  const { sealed_signing: sealed } = own;
  try {
    return sealed !== undefined && isHmac(given, secrets.open(sealed, signingPlace(own)), [body]);
  } catch {
    // The secret was encrypted with a key that this process does not have.
    return false;
  }
}

export function sha256(...parts: readonly Part[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/**
 * The error for an invalid signature. `message` helps the sender to correct the request, and must not reveal the
 * secret.
 */
export const unsigned = (message: string): Problem => new Problem('UNAUTHENTICATED', { message });

/** A property of a value; undefined when the value is not an object. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
/** A text property of a value; undefined also when the property is no text, is empty, or is too long for an id. */
export function textMember(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' && found !== '' && found.length <= maxIdLength ? found : undefined;
}
const maxIdLength = 200;

/** Whether the body is a form. Parameters of the media type, such as `charset`, are ignored. */
export const isForm = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase() === 'application/x-www-form-urlencoded';
