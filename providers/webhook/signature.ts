/** The headers by which receivers of webhooks see that a request is ours, after Standard Webhooks 1.0. */
import { createHmac } from 'node:crypto';

/** What a secret stands for: base64 after `whsec_`, else the text's own bytes. */
export const keyOf = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret, 'utf8');

/**
 * Signs `body` as it is at `at`. `secrets`: the newest first, and those that are still good beside it; at least one. The
 * newest one also signs the body alone, for receivers that are older than the standard.
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
