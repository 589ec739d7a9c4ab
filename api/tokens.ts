/**
 * Login tokens: EdDSA JWTs, valid 7 days (spec 5.1), signed by keys that live in the database and rotate by themselves.
 * An old key stays published until the last token it signed has expired, so a rotation signs nobody out.
 */
import {
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
  type JWK,
} from 'jose';
import type { Config } from '../config.ts';
import type { SecretBox } from '../models/secretbox.ts';
import { addSigningKey, listSigningKeys, removeSigningKeysBefore, type SigningKey } from '../models/signingkey.ts';

const TOKEN_DAYS = 7;
const DAY_MS = 86_400_000;
/** How long a process uses its copy of the keys before it looks again, in ms. An unknown `kid` makes it look at once. */
const REFRESH_MS = 60_000;
/**
 * A new key is published this long before it signs, in ms, so that every process has it by the time it meets a token of
 * it; the first key of all signs at once, for nobody can miss it. Two refreshes, and room for clocks that differ.
 */
const PUBLISH_MS = 2 * REFRESH_MS + 60_000;
/** At most one look a second for unknown `kid`s, so that made-up tokens cannot hammer the database. */
const UNKNOWN_KID_MS = 1_000;
const audience = 'dashboard';

export type TokenDeps = { config: Config; clock: () => Date; secrets: SecretBox };
export type Tokens = {
  /** Signs a token for a user; `epoch` is the account's, see models/user.ts. */
  sign(userId: string, epoch: number): Promise<{ token: string; expiresAt: Date }>;
  /** The claims of a token of ours that is still valid, else undefined. */
  verify(token: string): Promise<{ userId: string; epoch: number } | undefined>;
  /** The public keys, as served at `/.well-known/jwks.json`. */
  jwks(): Promise<{ keys: JWK[] }>;
};

type Verifier = Awaited<ReturnType<typeof importJWK>>;
type Keyring = { records: SigningKey[]; verifiers: Map<string, Verifier>; signer: { kid: string; key: Verifier } };

export function createTokens(deps: TokenDeps): Tokens {
  const { config, clock } = deps;
  let readAt = -Infinity;
  let reading: Promise<Keyring>;

  function keyring(maxAgeMs: number): Promise<Keyring> {
    if (performance.now() - readAt >= maxAgeMs) {
      readAt = performance.now();
      reading = readKeyring(deps);
      reading.catch(() => (readAt = -Infinity));
    }
    return reading;
  }

  return {
    async sign(userId, epoch) {
      const { signer } = await keyring(REFRESH_MS);
      const now = Math.floor(clock().getTime() / 1000);
      const expires = now + TOKEN_DAYS * 86_400;
      const token = await new SignJWT({ epoch })
        .setProtectedHeader({ alg: 'EdDSA', kid: signer.kid })
        .setSubject(userId)
        .setIssuer(config.publicUrl)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(expires)
        .sign(signer.key);
      return { token, expiresAt: new Date(expires * 1000) };
    },

    async verify(token) {
      const findKey = async ({ kid = '' }: { kid?: string }): Promise<Verifier> => {
        const known = await keyring(REFRESH_MS);
        const verifier = known.verifiers.get(kid) ?? (await keyring(UNKNOWN_KID_MS)).verifiers.get(kid);
        if (!verifier) throw new errors.JWKSNoMatchingKey();
        return verifier;
      };
      try {
        const { payload } = await jwtVerify(token, findKey, {
          issuer: config.publicUrl,
          audience,
          algorithms: ['EdDSA'],
          currentDate: clock(),
          requiredClaims: ['exp', 'sub'],
        });
        return { userId: payload.sub!, epoch: Number(payload['epoch']) };
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },

    async jwks() {
      const { records } = await keyring(REFRESH_MS);
      return { keys: records.map((r) => ({ ...(r.public_jwk as JWK), kid: r._id, alg: 'EdDSA', use: 'sig' })) };
    },
  };
}

/** Reads the keys; makes the first one, or the next when the newest is older than JWT_KEY_DAYS; drops those nobody can need. */
async function readKeyring(deps: TokenDeps): Promise<Keyring> {
  const now = deps.clock();
  const ageOf = (r: SigningKey) => now.getTime() - r.created_at.getTime();
  let records = await listSigningKeys();
  const newest = records[0];
  if (!newest || ageOf(newest) > deps.config.jwtKeyDays * DAY_MS) {
    await addSigningKey(await newSigningKey(deps, (newest?.number ?? 0) + 1, now));
    records = await listSigningKeys();
  }
  // A key stops signing soon after its successor appears; the day that is added is far more than that.
  const needed = records.find((r) => ageOf(r) > (TOKEN_DAYS + 1) * DAY_MS);
  if (needed && needed.number > records.at(-1)!.number) {
    await removeSigningKeysBefore(needed.number);
    records = records.filter((r) => r.number >= needed.number);
  }
  const verifiers = new Map<string, Verifier>();
  for (const r of records) verifiers.set(r._id, await importJWK(r.public_jwk as JWK, 'EdDSA'));
  const signing = records.find((r) => ageOf(r) >= PUBLISH_MS) ?? records.at(-1)!;
  const key = await importJWK(JSON.parse(deps.secrets.open(signing.private_jwk)) as JWK, 'EdDSA');
  return { records, verifiers, signer: { kid: signing._id, key } };
}

async function newSigningKey(deps: TokenDeps, number: number, now: Date): Promise<SigningKey> {
  const pair = await generateKeyPair('EdDSA', { extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  return {
    _id: await calculateJwkThumbprint(publicJwk),
    number,
    public_jwk: publicJwk,
    private_jwk: deps.secrets.seal(JSON.stringify(await exportJWK(pair.privateKey))),
    created_at: now,
  };
}
