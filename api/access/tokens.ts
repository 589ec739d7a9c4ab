/**
 * Login tokens, valid for 7 days (spec 5.1), and the shorter-lived tokens of support sessions. Both are EdDSA JWTs,
 * distinguished by their audience. The signing keys are in the database and rotate automatically. An old key stays
 * published until the last token that it signed has expired, so a rotation signs nobody out.
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
  type JWTPayload,
} from 'jose';
import { ConfigError, type Config } from '../../config.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { modes, type Mode } from '../../models/rules/access/keys.ts';
import {
  addSigningKey,
  listSigningKeys,
  privateJwkPlace,
  removeSigningKeysBefore,
  type SigningKey,
} from '../../models/access/signingkey.ts';
import { defined } from '../../models/rules/base/defined.ts';

const tokenDays = 7;
/**
 * A key signs for this many days before the next key replaces it. This limits the use of a key that leaked unnoticed,
 * and only two or three keys are published at a time.
 */
export const signingKeyDays = 30;
const dayMs = 86_400_000;
/** A process reads the keys again after this many ms. An unknown `kid` makes it read them at once. */
const refreshMs = 60_000;
/**
 * A new key is published for this long, in ms, before it signs. So every process has read the key before it meets a
 * token that the key signed. The very first key signs at once, since no process can hold an older set. The time is two
 * refreshes, plus room for clocks that differ.
 */
const publishMs = 2 * refreshMs + 60_000;
/**
 * Unknown `kid`s make a process read the keys at most once in this many ms, so that made-up tokens cannot overload the
 * database.
 */
const unknownKidMs = 1_000;
/**
 * The two kinds of tokens. Where one kind is expected, a token of the other kind is refused like a token with a wrong
 * signature.
 */
const audiences = { login: 'dashboard', session: 'support-session' } as const;

export type TokenDeps = { config: Config; clock: () => Date; secrets: SecretBox };
export type SessionClaims = {
  sessionId: string;
  customerId: string;
  orgId: string;
  mode: Mode;
  verified: boolean;
  productType?: string;
};
export type Tokens = {
  /** Signs a login token. `epoch`: the user's epoch; the token is refused once the user's epoch changes. */
  sign(userId: string, epoch: number): Promise<{ token: string; expiresAt: Date }>;
  /** The claims of a valid login token that this deployment signed, else undefined. */
  verify(token: string): Promise<{ userId: string; epoch: number } | undefined>;
  /** Signs a support session's token. It is valid until `expiresAt`, rounded down to the second. */
  signSession(claims: SessionClaims, expiresAt: Date, issued?: Date): Promise<string>;
  /**
   * The claims of a valid session token that this deployment signed, else undefined. Only the session's record says
   * whether it was revoked.
   */
  verifySession(token: string): Promise<(SessionClaims & { expiresAt: Date }) | undefined>;
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

  async function sign(
    claims: JWTPayload,
    subject: string,
    audience: string,
    { issued = clock(), expires }: { issued?: Date | undefined; expires: number },
  ): Promise<string> {
    const { signer } = await keyring(refreshMs);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid: signer.kid })
      .setSubject(subject)
      .setIssuer(config.publicUrl)
      .setAudience(audience)
      .setIssuedAt(seconds(issued))
      .setExpirationTime(expires)
      .sign(signer.key);
  }

  async function findKey({ kid = '' }: { kid?: string }): Promise<Verifier> {
    const known = await keyring(refreshMs);
    const verifier = known.verifiers.get(kid) ?? (await keyring(unknownKidMs)).verifiers.get(kid);
    if (!verifier) throw new errors.JWKSNoMatchingKey();
    return verifier;
  }

  async function verify(token: string, audience: string): Promise<JWTPayload | undefined> {
    try {
      const { payload } = await jwtVerify(token, findKey, {
        issuer: config.publicUrl,
        audience,
        algorithms: ['EdDSA'],
        currentDate: clock(),
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  return {
    async sign(userId, epoch) {
      const issued = clock();
      const expires = seconds(issued) + tokenDays * 86_400;
      const token = await sign({ epoch }, userId, audiences.login, { issued, expires });
      return { token, expiresAt: new Date(expires * 1000) };
    },

    async verify(token) {
      const payload = await verify(token, audiences.login);
      return payload && { userId: payload.sub!, epoch: Number(payload['epoch']) };
    },

    async signSession({ sessionId, customerId, orgId, mode, verified, productType }, expiresAt, issued) {
      const claims = {
        org: orgId,
        sid: sessionId,
        mode,
        verified,
        ...defined({ productType }),
      };
      return sign(claims, customerId, audiences.session, { issued, expires: seconds(expiresAt) });
    },

    async verifySession(token) {
      const payload = await verify(token, audiences.session);
      return payload && readSessionClaims(payload);
    },

    async jwks() {
      const { records } = await keyring(refreshMs);
      return { keys: records.map((r) => ({ ...(r.public_jwk as JWK), kid: r._id, alg: 'EdDSA', use: 'sig' })) };
    },
  };
}

const seconds = (moment: Date): number => Math.floor(moment.getTime() / 1000);

/** The claims, or undefined if they do not have the shape that `signSession` writes. */
function readSessionClaims(payload: JWTPayload): (SessionClaims & { expiresAt: Date }) | undefined {
  const { sub, exp, org, sid, mode, verified, productType } = payload;
  if (typeof org !== 'string' || typeof sid !== 'string' || typeof verified !== 'boolean') return undefined;
  if (!modes.includes(mode as Mode) || !['string', 'undefined'].includes(typeof productType)) return undefined;
  return {
    sessionId: sid,
    customerId: sub!,
    orgId: org,
    mode: mode as Mode,
    verified,
    ...(typeof productType === 'string' ? { productType } : {}),
    expiresAt: new Date(exp! * 1000),
  };
}

/**
 * Reads the keys. Creates the first key, or the next one when the newest is older than `signingKeyDays`, and deletes
 * keys that no valid token needs.
 */
async function readKeyring(deps: TokenDeps): Promise<Keyring> {
  const now = deps.clock();
  const ageOf = (r: SigningKey) => now.getTime() - r.created_at.getTime();
  const stored = await listSigningKeys();
  let records = openKeys(deps.secrets, stored);
  if (!records[0] || ageOf(records[0]) > signingKeyDays * dayMs) {
    await addSigningKey(await newSigningKey(deps, (stored[0]?.number ?? 0) + 1, now));
    records = openKeys(deps.secrets, await listSigningKeys());
  }
  // `needed`: the newest key that is older than a token's lifetime plus one day. All tokens of the keys before it have
  // expired, because a key stops signing soon after its successor appears.
  const needed = records.find((r) => ageOf(r) > (tokenDays + 1) * dayMs);
  if (needed && needed.number > records.at(-1)!.number) {
    await removeSigningKeysBefore(needed.number);
    records = records.filter((r) => r.number >= needed.number);
  }
  const verifiers = new Map<string, Verifier>();
  for (const r of records) verifiers.set(r._id, await importJWK(r.public_jwk as JWK, 'EdDSA'));
  const signing = records.find((r) => ageOf(r) >= publishMs) ?? records.at(-1)!;
  const key = await importJWK(JSON.parse(signing.private_jwk) as JWK, 'EdDSA');
  return { records, verifiers, signer: { kid: signing._id, key } };
}

/**
 * Decrypts the private keys. The oldest key shows whether this process has the right SECRET_KEY. It is checked before
 * anything is written, so that a process with a wrong SECRET_KEY leaves nothing behind. A later key that this process
 * cannot decrypt was written by another process, which had a wrong SECRET_KEY. That key is skipped, because an error
 * would stop all processes with the right SECRET_KEY.
 */
function openKeys({ open }: SecretBox, records: readonly SigningKey[]): SigningKey[] {
  return records.flatMap((record, index) => {
    try {
      return [{ ...record, private_jwk: open(record.private_jwk, privateJwkPlace(record._id)) }];
    } catch (error) {
      if (index < records.length - 1) return [];
      throw new ConfigError(
        'SECRET_KEY is not the one that this database was written with, so no one could sign in and no stored secret be read. Set SECRET_KEY to it or append it there, or put the former DATA_DIR/secret.key back.',
        { cause: error },
      );
    }
  });
}

async function newSigningKey(deps: TokenDeps, number: number, now: Date): Promise<SigningKey> {
  const pair = await generateKeyPair('EdDSA', { extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  return {
    _id: kid,
    number,
    public_jwk: publicJwk,
    private_jwk: deps.secrets.seal(JSON.stringify(await exportJWK(pair.privateKey)), privateJwkPlace(kid)),
    created_at: now,
  };
}
