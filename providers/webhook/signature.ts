/**
 * The headers by which receivers of webhooks verify that this system sent a request, according to Standard Webhooks
 * 1.0.
 */
import { createHmac } from 'node:crypto';

/** The bytes of a secret: the base64 after `whsec_`, otherwise the text's own bytes. */
export const keyOf = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret, 'utf8');

/**
 * Signs `body` at the time `at` with each secret. `secrets`: the newest first, then older ones that are still valid.
 * The newest secret also signs the body alone, for receivers older than the standard.
 */
export function signedHeaders(
  id: string,
  at: Date,
  body: string,
  secrets: readonly [string, ...string[]],
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const content = `${id}.${timestamp}.${body}`;
  const keys = secrets.map(keyOf);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`)
      .join(' '),
    'x-svc-signature': createHmac('sha256', keys[0]!).update(body).digest('hex'),
  };
}
