/**
 * Tokens of logins and support sessions: only ours are accepted, for their purpose and until they expire. Signing keys
 * rotate without ending logins.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  exportSPKI,
  importJWK,
  SignJWT,
  UnsecuredJWT,
  decodeProtectedHeader,
  generateKeyPair,
  type CryptoKey,
  type JWK,
} from 'jose';
import { until } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv } from '../kit/processes.ts';
import { createTokens, signingKeyDays, type SessionClaims, type Tokens } from '../../api/access/tokens.ts';
import { readConfig, type Config } from '../../config.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';
import { listSigningKeys, privateJwkPlace, SigningKeyModel, type SigningKey } from '../../models/access/signingkey.ts';

const dayMs = 86_400_000;
const start = new Date('2026-03-01T00:00:00Z').getTime();

let config: Config;
let now: number;
const env = systemEnv('tokens');
/** A simulated process with its own copy of the keys, the shared database, and a clock that the test sets. */
const newProcess = () =>
  createTokens({ config, clock: () => new Date(now), secrets: createSecretBox(config.secretKeys) });
const privateHalf = ({ _id, private_jwk }: SigningKey): string =>
  createSecretBox(config.secretKeys).open(private_jwk, privateJwkPlace(_id));

beforeAll(async () => {
  config = readConfig(env);
  await connectMongo(config.mongodbUri!);
});
afterAll(async () => {
  await disconnectMongo();
  await removeDataDir(env);
});
beforeEach(async () => {
  await SigningKeyModel.deleteMany({});
  now = start;
});

describe('a login token', () => {
  it('a login token contains account id and sign-out counter (epoch), and expires after exactly 7 days', async () => {
    const tokens = newProcess();
    const { token, expiresAt } = await tokens.sign('usr_1', 3);
    expect(expiresAt).toEqual(new Date(start + 7 * dayMs));
    now = expiresAt.getTime() - 1000;
    expect(await tokens.verify(token)).toEqual({ userId: 'usr_1', epoch: 3 });
    now = expiresAt.getTime();
    expect(await tokens.verify(token)).toBeUndefined();
  });

  it('a login token is accepted by every process', async () => {
    const { token } = await newProcess().sign('usr_1', 0);
    expect(await newProcess().verify(token)).toEqual({ userId: 'usr_1', epoch: 0 });
  });
});

describe('a forged token is refused', () => {
  let tokens: Tokens;
  let kid: string;
  let publicJwk: JWK;
  let ourKey: Parameters<SignJWT['sign']>[0];
  const claims = () => ({
    sub: 'usr_1',
    epoch: 0,
    iss: config.publicUrl,
    aud: 'dashboard',
    iat: now / 1000,
    exp: now / 1000 + 60,
  });

  beforeEach(async () => {
    tokens = newProcess();
    publicJwk = (await tokens.jwks()).keys[0]!;
    kid = publicJwk.kid!;
    const [record] = await listSigningKeys();
    ourKey = await importJWK(JSON.parse(privateHalf(record!)) as JWK, 'EdDSA');
  });
  const signed = (payload: Record<string, unknown>, header: Record<string, unknown> = {}, key = ourKey) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid, ...header }).sign(key);

  it('a login token without any of the tested faults is accepted', async () => {
    expect(await tokens.verify(await signed(claims()))).toEqual({ userId: 'usr_1', epoch: 0 });
  });

  it.each<[string, () => Promise<string>]>([
    ['another issuer', () => signed({ ...claims(), iss: 'https://elsewhere.example' })],
    ['no issuer', () => signed({ ...claims(), iss: undefined })],
    ['another audience', () => signed({ ...claims(), aud: 'support-session' })],
    ['no audience', () => signed({ ...claims(), aud: undefined })],
    ['expired', () => signed({ ...claims(), exp: now / 1000 - 1 })],
    ['no expiry', () => signed({ ...claims(), exp: undefined })],
    ['not valid yet', () => signed({ ...claims(), nbf: now / 1000 + 60 })],
    ['no subject', () => signed({ ...claims(), sub: undefined })],
    ['an unknown key', () => signed(claims(), { kid: 'unknown' })],
    ['no key named', () => signed(claims(), { kid: undefined })],
    ['an object as the name of its key', () => signed(claims(), { kid: { $ne: null } })],
    ['a key that it brings itself', async () => signed(claims(), { kid: undefined, jwk: publicJwk })],
    ['another key under our name', async () => signed(claims(), {}, (await generateKeyPair('EdDSA')).privateKey)],
    ['alg none', async () => new UnsecuredJWT(claims()).encode()],
    [
      'alg none under our name',
      async () =>
        (await signed(claims())).replace(
          /^[^.]+/,
          Buffer.from(JSON.stringify({ alg: 'none', kid })).toString('base64url'),
        ),
    ],
    [
      'the public key used as a shared secret',
      async () => {
        const pem = await exportSPKI((await importJWK(publicJwk, 'EdDSA', { extractable: true })) as CryptoKey);
        return signed(claims(), { alg: 'HS256' }, Buffer.from(pem));
      },
    ],
    ['ES256', async () => signed(claims(), { alg: 'ES256' }, (await generateKeyPair('ES256')).privateKey)],
    [
      'changed claims',
      async () => {
        const [head, , tail] = (await signed(claims())).split('.');
        return [head, Buffer.from(JSON.stringify({ ...claims(), sub: 'usr_2' })).toString('base64url'), tail].join('.');
      },
    ],
    ['cut short', async () => (await signed(claims())).slice(0, -2)],
    ['nonsense', () => Promise.resolve('a.b.c')],
  ])('a login token with this fault is refused: %s', async (_, make) => {
    expect(await tokens.verify(await make())).toBeUndefined();
  });
});

describe('a session token', () => {
  const claims: SessionClaims = {
    sessionId: 'ssn_1',
    customerId: 'cus_1',
    orgId: 'org_1',
    mode: 'live',
    verified: true,
    productType: 'personal',
  };
  const end = new Date(start + 60_000);

  it('a session token has all the session’s claims, and every process accepts it until it expires', async () => {
    const token = await newProcess().signSession(claims, end);
    const plain = { ...claims, verified: false };
    delete plain.productType;
    now = end.getTime() - 1000;
    expect(await newProcess().verifySession(token)).toEqual({ ...claims, expiresAt: end });
    expect(await newProcess().verifySession(await newProcess().signSession(plain, end))).toEqual({
      ...plain,
      expiresAt: end,
    });
    now = end.getTime();
    expect(await newProcess().verifySession(token)).toBeUndefined();
  });

  it('a session token is not accepted as a login, nor a login token as a session', async () => {
    const tokens = newProcess();
    expect(await tokens.verify(await tokens.signSession(claims, end))).toBeUndefined();
    expect(await tokens.verifySession((await tokens.sign('usr_1', 0)).token)).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>]>([
    ['no session', { sid: undefined }],
    ['an object as its session', { sid: { $ne: null } }],
    ['no organization', { org: undefined }],
    ['no mode', { mode: undefined }],
    ['an unknown mode', { mode: 'production' }],
    ['a text as its verified flag', { verified: 'yes' }],
    ['a list as its product', { productType: ['a'] }],
    ['no customer', { sub: undefined }],
    ['no end', { exp: undefined }],
    ['another audience', { aud: 'dashboard' }],
    ['another issuer', { iss: 'https://elsewhere.example' }],
  ])('a session token that has %s is refused', async (_, change) => {
    const tokens = newProcess();
    const { kid } = (await tokens.jwks()).keys[0]!;
    const [record] = await listSigningKeys();
    const key = await importJWK(JSON.parse(privateHalf(record!)) as JWK, 'EdDSA');
    const whole = {
      sub: 'cus_1',
      iss: config.publicUrl,
      aud: 'support-session',
      iat: now / 1000,
      exp: now / 1000 + 60,
      org: 'org_1',
      sid: 'ssn_1',
      mode: 'test',
      verified: true,
    };
    const signed = (payload: Record<string, unknown>) =>
      new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: kid! }).sign(key);
    expect(await tokens.verifySession(await signed(whole))).toBeDefined();
    expect(await tokens.verifySession(await signed({ ...whole, ...change }))).toBeUndefined();
  });
});

describe('rotation of signing keys', () => {
  const kidOf = (token: string) => decodeProtectedHeader(token).kid!;

  it('a token that was signed before a rotation of the signing keys stays valid until its expiry', async () => {
    const before = newProcess();
    await before.sign('usr_0', 0);
    now = start + signingKeyDays * dayMs - 1000;
    const { token, expiresAt } = await before.sign('usr_1', 0);
    now = start + (signingKeyDays + 1) * dayMs;
    const rotated = newProcess();
    await rotated.sign('usr_2', 0);
    now += 600_000;
    const later = newProcess();
    const fresh = await later.sign('usr_3', 0);
    expect(kidOf(fresh.token)).not.toBe(kidOf(token));
    for (const tokens of [before, rotated, later]) {
      now = expiresAt.getTime() - 1000;
      expect(await tokens.verify(token)).toEqual({ userId: 'usr_1', epoch: 0 });
    }
  });

  it('a rotation of the signing keys publishes the new key minutes before tokens are signed with that key', async () => {
    const first = kidOf((await newProcess().sign('usr_1', 0)).token);
    now = start + (signingKeyDays + 1) * dayMs;
    const rotating = newProcess();
    expect(kidOf((await rotating.sign('usr_1', 0)).token)).toBe(first);
    expect((await rotating.jwks()).keys).toHaveLength(2);
    now += 60_000;
    expect(kidOf((await newProcess().sign('usr_1', 0)).token)).toBe(first);
    now += 600_000;
    expect(kidOf((await newProcess().sign('usr_1', 0)).token)).not.toBe(first);
  });

  it('a process that meets a token with an unknown signing key reloads the signing keys', async () => {
    const old = newProcess();
    await old.sign('usr_1', 0);
    now = start + (signingKeyDays + 1) * dayMs;
    await newProcess().jwks();
    now += 600_000;
    const { token } = await newProcess().sign('usr_2', 0);
    await until(async () => await old.verify(token), 'the old process to know the new key');
  });

  it('when many processes need a new signing key at the same time, exactly one key is created', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => newProcess().sign('usr_1', 0)));
    expect(new Set(all.map((a) => kidOf(a.token))).size).toBe(1);
    expect(await listSigningKeys()).toHaveLength(1);
    now = start + (signingKeyDays + 1) * dayMs;
    await Promise.all(Array.from({ length: 6 }, () => newProcess().jwks()));
    expect((await listSigningKeys()).map((k) => k.number)).toEqual([2, 1]);
  });

  it('rotation of signing keys deletes a key once no token signed with it can still be valid', async () => {
    await newProcess().jwks();
    now = start + (signingKeyDays + 1) * dayMs;
    await newProcess().jwks();
    now += 7 * dayMs + 600_000;
    expect((await newProcess().jwks()).keys).toHaveLength(2);
    now += dayMs;
    expect((await newProcess().jwks()).keys).toHaveLength(1);
    expect((await listSigningKeys()).map((k) => k.number)).toEqual([2]);
  });

  it('a process whose SECRET_KEY does not match the database does not start, and stores no signing key', async () => {
    const right = newProcess();
    await right.sign('usr_1', 0);
    const wrong = startProcess('api/server.ts', { ...env, SECRET_KEY: 'b2'.repeat(32) });
    await expect(wrong).rejects.toThrow(/SECRET_KEY is not the one that this database was written with/);
    expect((await listSigningKeys()).map((k) => k.number)).toEqual([1]);
  });

  it('a rotation of the signing keys skips a key encrypted with another SECRET_KEY, and fails when no key is readable', async () => {
    const foreign = createSecretBox([Buffer.alloc(32, 7)]);
    const { token } = await newProcess().sign('usr_1', 0);
    const [first] = await listSigningKeys();
    const sealed = { private_jwk: foreign.seal(privateHalf(first!), privateJwkPlace('foreign')) };
    await SigningKeyModel.create({ ...first, ...sealed, _id: 'foreign', number: 2 });
    now = start + (signingKeyDays + 1) * dayMs;
    await newProcess().jwks();
    now += 600_000;
    const fresh = await newProcess().sign('usr_2', 0);
    expect((await listSigningKeys()).map((k) => [k.number, k._id === kidOf(fresh.token)])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ]);
    expect((await newProcess().jwks()).keys.map((k) => k.kid)).toEqual([kidOf(fresh.token), kidOf(token)]);
    const other = createTokens({ config, clock: () => new Date(now), secrets: foreign });
    await expect(other.jwks()).rejects.toThrow(/SECRET_KEY is not the one/);
  });

  it('rotation of signing keys stores private keys encrypted, and publishes only public ones', async () => {
    const tokens = newProcess();
    const [record] = await listSigningKeys().then(async (k) =>
      k.length ? k : (await tokens.jwks(), listSigningKeys()),
    );
    expect(record!.public_jwk).not.toHaveProperty('d');
    expect(() => JSON.parse(record!.private_jwk) as unknown).toThrow();
    expect((await tokens.jwks()).keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: record!._id, alg: 'EdDSA', use: 'sig' },
    ]);
  });
});
