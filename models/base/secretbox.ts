/**
 * Encryption and keyed hashes with the deployment's secret keys.
 *
 * Values that must be readable again are encrypted with AES-256-GCM. Each is bound to its record and field, so that a
 * value moved to another place does not decrypt. Keyed hashes use HMAC-SHA256. Each purpose has its own key, derived
 * with HKDF.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * The place where a sealed value is stored; the encryption binds the value to this place. `field` is
 * `<collection>.<field>`, and `record` is the id of the record.
 */
export type Place = { field: string; record: string };

export type SecretBox = {
  /** Encrypts with the newest key; each call gives a different result. */
  seal(text: string, place: Place): string;
  /** Decrypts a result of `seal`. Throws when the value was changed or moved, or when its key is not configured. */
  open(sealed: string, place: Place): string;
  /** Whether the value was sealed with the newest key. */
  isNewest(sealed: string): boolean;
  /** The HMAC of a text for a purpose, with the newest key. */
  mac(purpose: string, text: string): Buffer;
  /** The HMACs with every key, newest first, to recognise hashes from before a key change. */
  macs(purpose: string, text: string): Buffer[];
  /** A signature: the HMAC of a text for a purpose, as text, preceded by the id of the key. */
  sign(purpose: string, text: string): string;
  /** Whether the signature is valid; undefined when its key is not configured. */
  verify(purpose: string, text: string, signature: unknown): boolean | undefined;
};

const nonceBytes = 12;
const tagBytes = 16;

/** `keys`: 32 bytes each (`config.secretKeys`). The first one encrypts and signs; all of them decrypt and verify. */
export function createSecretBox([newest, ...older]: readonly [Buffer, ...Buffer[]]): SecretBox {
  const keys = [keyOf(newest), ...older.map(keyOf)] as const;
  const [current] = keys;
  const sealer = (id: string) => keys.find((key) => key.id === id);
  return {
    seal(text, place) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', current.for('sealed values'), nonce);
      cipher.setAAD(boundTo(place));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${current.id}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed, place) {
      const [id = '', content = ''] = sealed.split('.');
      const key = sealer(id);
      if (!key) throw new Error('This value was sealed with a key that is not among the configured ones.');
      const bytes = Buffer.from(content, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key.for('sealed values'), bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(boundTo(place));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
    },
    isNewest: (sealed) => sealed.startsWith(`${current.id}.`),
    mac: (purpose, text) => macOf(current, purpose, text),
    macs: (purpose, text) => keys.map((key) => macOf(key, purpose, text)),
    sign: (purpose, text) => `${current.id}.${macOf(current, purpose, text).toString('base64url')}`,
    verify(purpose, text, signature) {
      if (typeof signature !== 'string') return false;
      const [id = '', given = ''] = signature.split('.');
      const key = sealer(id);
      if (!key) return undefined;
      const bytes = Buffer.from(given, 'base64url');
      const expected = macOf(key, purpose, text);
      return bytes.length === expected.length && timingSafeEqual(bytes, expected);
    },
  };
}

export type Key = { id: string; for(purpose: string): Buffer };

/** A key and its `id`, which is stored with each value and reveals nothing about the key. */
export function keyOf(secret: Buffer): Key {
  const derived = new Map<string, Buffer>();
  const derive = (purpose: string, bytes = 32): Buffer => Buffer.from(hkdfSync('sha256', secret, '', purpose, bytes));
  return {
    id: derive('key id', 4).toString('hex'),
    for(purpose) {
      const key = derived.get(purpose) ?? derive(`key for ${purpose}`);
      derived.set(purpose, key);
      return key;
    },
  };
}

const macOf = (key: Key, purpose: string, text: string): Buffer =>
  createHmac('sha256', key.for(purpose)).update(text).digest();

/** The place as JSON, so that different places never give the same bytes. */
const boundTo = ({ field, record }: Place): Buffer => Buffer.from(JSON.stringify([field, record]));
