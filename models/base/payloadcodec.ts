/**
 * Encrypts what Temporal stores: arguments, results, failures, memos, summaries and details. It uses AES-256-GCM with
 * the deployment's secret keys. The id of the key is stored beside each value, so that after a change of keys, the
 * older keys still decrypt older values. Values that were stored unencrypted stay readable.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { keyOf } from './secretbox.ts';

export type Payload = {
  metadata?: Record<string, Uint8Array> | null;
  data?: Uint8Array | null;
};

const nonceBytes = 12;
const tagBytes = 16;
const encoding = Buffer.from('binary/encrypted');
const purpose = 'temporal payloads';
/**
 * The additional authenticated data (AAD) of every payload, so that no other encrypted value of the deployment passes
 * for a payload.
 */
const bound = Buffer.from('temporal payload 1');
const lineFeed = 10;

/**
 * `keys` as in `createSecretBox`: the first one encrypts, all of them decrypt. When `encrypts` is false, new values
 * stay unencrypted.
 */
export function createPayloadCodec([newest, ...older]: readonly [Buffer, ...Buffer[]], encrypts = true) {
  const keys = [keyOf(newest), ...older.map(keyOf)] as const;
  const [current] = keys;

  function encodeOne(payload: Payload): Payload {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', current.for(purpose), nonce);
    cipher.setAAD(bound);
    const body = Buffer.concat([cipher.update(packed(payload)), cipher.final()]);
    return {
      metadata: { encoding, 'encryption-key-id': Buffer.from(current.id) },
      data: Buffer.concat([nonce, cipher.getAuthTag(), body]),
    };
  }

  function decodeOne(payload: Payload): Payload {
    const { metadata, data } = payload;
    if (!metadata?.['encoding'] || !encoding.equals(metadata['encoding'])) return payload;
    const id = Buffer.from(metadata['encryption-key-id'] ?? []).toString();
    const key = keys.find((each) => each.id === id);
    if (!key)
      throw new Error(`A payload was encrypted with the key ${id}, which is not configured. Append it to SECRET_KEY.`);
    const bytes = Buffer.from(data ?? []);
    const decipher = createDecipheriv('aes-256-gcm', key.for(purpose), bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(bound);
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return unpacked(Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]));
  }

  return {
    encode: async (payloads: Payload[]): Promise<Payload[]> => (encrypts ? payloads.map(encodeOne) : payloads),
    /** @throws Error when a value was changed, or its key is not configured. */
    decode: async (payloads: Payload[]): Promise<Payload[]> => payloads.map(decodeOne),
  };
}

/** A payload as plain bytes: one line of JSON with the metadata, whose values are in Base64, followed by the data. */
function packed({ metadata, data }: Payload): Buffer {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(Object.fromEntries(entries))}\n`), Buffer.from(data ?? [])]);
}

function unpacked(bytes: Buffer): Payload {
  const end = bytes.indexOf(lineFeed);
  const entries = Object.entries(JSON.parse(bytes.subarray(0, end).toString()) as Record<string, string>);
  return {
    metadata: Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value, 'base64')])),
    data: bytes.subarray(end + 1),
  };
}
