/**
 * The chat embedded in a page: which origins are allowed, how visitors are recognized, signed e-mail addresses, and
 * revocation. Further tests cover step-up tokens, which can be used once. All run on the real database with a clock
 * that the test sets.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../kit/harness.ts';
import { removeDataDir, systemEnv } from '../kit/processes.ts';
import { prepareRates } from '../../api/http/limits.ts';
import { admitEmbed, recheckEmbed, type Admission, type Embed } from '../../api/chat/embed.ts';
import { readConfig, type Config } from '../../config.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { beginErasing, CustomerModel, findCustomer, provideCustomer } from '../../models/chat/customer.ts';
import { embedSecretPlace, replaceEmbedSecret } from '../../models/access/embedsecret.ts';
import { newId } from '../../models/base/ids.ts';
import { newToken } from '../../models/access/key.ts';
import { createOrganization, newOrganization, setEnvironment } from '../../models/access/organization.ts';
import { providePublishableKey, rotatePublishableKey } from '../../models/access/publishablekey.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { defaultOutboxState, defaultSettings } from '../../models/rules/integrations/supportconfig.ts';
import { createSecretBox, type SecretBox } from '../../models/base/secretbox.ts';
import {
  consumeStepUp,
  createSession,
  findSession,
  newStepUp,
  revokeSession,
  SessionModel,
} from '../../models/access/session.ts';
import { saveSupportConfig } from '../../models/integrations/supportconfig.ts';
import { everyRecord } from '../../models/base/define.ts';

const page = 'https://www.example.com';
const local = 'http://localhost:5173';
const env = systemEnv('embeds', { LIMITS: 'visitors_per_minute=5' });

let config: Config;
let secrets: SecretBox;
let now: Date;
let orgId: string;
let pk: string;

const context = () => ({ config, clock: () => now, secrets });

beforeAll(async () => {
  config = readConfig(env);
  secrets = createSecretBox(config.secretKeys);
  await connectMongo(config.mongodbUri!);
  await prepareRates();
});
afterAll(async () => {
  await disconnectMongo();
  await removeDataDir(env);
});
beforeEach(async () => {
  now = new Date();
  orgId = await newOrg();
  pk = (await providePublishableKey(orgId, 'test', now)).key;
});

async function newOrg(): Promise<string> {
  const id = newId('org');
  await createOrganization(newOrganization(id, 'Test', 'usr_1', now));
  await saveSupportConfig(id, 0, { ...defaultSettings, ...defaultOutboxState, allowed_origins: [page] }, now);
  return id;
}
async function secretOf(mode: Mode, formerUntil = now): Promise<string> {
  const secret = `emb_${mode}_${randomUUID()}`;
  await replaceEmbedSecret(orgId, mode, secrets.seal(secret, embedSecretPlace(orgId, mode)), formerUntil, now);
  return secret;
}
const signed = (secret: string, email: string) => createHmac('sha256', secret).update(email).digest('hex');
/** A first visit, from a new address unless one is given. */
const visit = (fields: Partial<Embed> = {}) =>
  admitEmbed(context(), { pk, origin: page, visitorId: randomUUID(), address: randomUUID(), ...fields });
const refusal = async (attempt: Promise<unknown>) => {
  const thrown = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  return thrown as { code?: string; details?: { path: unknown[] }[] } | undefined;
};

describe('an embedded visitor', () => {
  it('an embedded visitor becomes a customer with a session, with the product that the page names', async () => {
    const visitorId = randomUUID();
    const principal = await visit({ visitorId, productType: 'personal', address: '192.0.2.1' });
    expect(principal).toEqual({
      kind: 'session',
      address: '192.0.2.1',
      orgId,
      mode: 'test',
      modes: ['test'],
      sessionId: expect.stringMatching(/^ssn_/),
      customerId: expect.stringMatching(/^cus_/),
      verified: false,
      productType: 'personal',
      expiresAt: new Date(now.getTime() + 86_400_000),
    });
    expect(await findSession(orgId, principal.sessionId)).toMatchObject({ kind: 'embed', product_type: 'personal' });
    expect(await findCustomer(orgId, principal.customerId)).toMatchObject({ visitor_id: visitorId, verified: false });
  });

  it('a returning visitor keeps their customer record and their session, which then lasts another day', async () => {
    const visitorId = randomUUID();
    const first = await visit({ visitorId, productType: 'personal' });
    now = new Date(now.getTime() + 3_600_000);
    const second = await visit({ visitorId, productType: ' ' });
    const third = await visit({ visitorId, productType: 'business' });
    expect([second.sessionId, second.customerId]).toEqual([first.sessionId, first.customerId]);
    expect(second.expiresAt).toEqual(new Date(first.expiresAt.getTime() + 3_600_000));
    expect(second).not.toHaveProperty('productType');
    expect(third.productType).toBe('business');
    now = new Date(now.getTime() + 7 * 86_400_000);
    expect((await visit({ visitorId })).customerId).toBe(first.customerId);
  });

  it('an embedded visitor is one customer with one session, however many tabs open at the same time', async () => {
    const visitorId = randomUUID();
    const tabs = await Promise.all(Array.from({ length: 16 }, () => visit({ visitorId })));
    expect(new Set(tabs.map((tab) => `${tab.customerId} ${tab.sessionId}`)).size).toBe(1);
  });

  it('the same visitor id belongs to different customers in different organizations or modes', async () => {
    const visitorId = randomUUID();
    const here = await visit({ visitorId });
    const stranger = await visit();
    await setEnvironment(orgId, 'production');
    const live = await visit({ visitorId, pk: (await providePublishableKey(orgId, 'live', now)).key });
    orgId = await newOrg();
    const there = await visit({ visitorId, pk: (await providePublishableKey(orgId, 'test', now)).key });
    expect(new Set([here, stranger, live, there].map((principal) => principal.customerId)).size).toBe(4);
    expect(live.mode).toBe('live');
  });

  it('a visitor whose session was revoked is refused, even days later', async () => {
    const visitorId = randomUUID();
    const { sessionId } = await visit({ visitorId });
    await revokeSession(orgId, sessionId, now);
    for (let day = 0; day < 3; day++) {
      expect(await refusal(visit({ visitorId }))).toMatchObject({ code: 'UNAUTHENTICATED' });
      now = new Date(now.getTime() + 2 * 86_400_000);
    }
    expect((await visit()).sessionId).not.toBe(sessionId);
  });

  it('a client address may bring five new visitors a minute, while known visitors may return without limit', async () => {
    const address = '192.0.2.7';
    const known = randomUUID();
    for (const visitorId of [known, ...Array.from({ length: 4 }, () => randomUUID())])
      await visit({ address, visitorId });
    expect(await refusal(visit({ address }))).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await CustomerModel.countDocuments({ org_id: orgId }, everyRecord)).toBe(5);
    for (let i = 0; i < 10; i++) await visit({ address, visitorId: known });
    await visit({ address: '192.0.2.8' });
  });

  it('new visitors from different hosts of the same IPv6 network count towards one limit', async () => {
    for (let host = 1; host <= 5; host += 1) await visit({ address: `2001:db8:9:9::${host}` });
    expect(await refusal(visit({ address: '2001:db8:9:9:1::1' }))).toMatchObject({ code: 'RATE_LIMITED' });
    await visit({ address: '2001:db8:9:a::1' });
  });

  it.each<[string, Partial<Embed>, string]>([
    ['a guessable id', { visitorId: 'me' }, 'visitorId'],
    ['an id that needs escaping', { visitorId: 'a'.repeat(15) + '/' }, 'visitorId'],
    ['an endless id', { visitorId: 'a'.repeat(101) }, 'visitorId'],
    ['an e-mail that nobody signed', { email: 'ada@example.com' }, 'sig'],
    ['a signature but no e-mail', { sig: 'a'.repeat(64) }, 'email'],
    ['an invalid e-mail', { email: 'ada', sig: 'a'.repeat(64) }, 'email'],
    ['an endless product', { productType: 'x'.repeat(201) }, 'productType'],
  ])('a visitor with %s is refused, and the error names the parameter', async (_, fields, name) => {
    const thrown = await refusal(visit(fields));
    expect([thrown?.code, thrown?.details?.[0]?.path]).toEqual(['VALIDATION', ['query', name]]);
  });
});

describe('a page that embeds the chat', () => {
  it('a page that embeds the chat is allowed when its origin is listed, and in test mode also on localhost', async () => {
    await visit();
    await visit({ origin: local });
    for (const origin of ['https://elsewhere.example', 'null', undefined]) {
      expect(await refusal(visit({ origin }))).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED', status: 403 });
    }
  });

  it('a page on localhost is refused in live mode, and every page is refused while no origin is listed', async () => {
    await setEnvironment(orgId, 'production');
    pk = (await providePublishableKey(orgId, 'live', now)).key;
    expect(await visit()).toMatchObject({ mode: 'live' });
    expect(await refusal(visit({ origin: local }))).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
    await saveSupportConfig(orgId, 1, { ...defaultSettings, ...defaultOutboxState }, now);
    expect(await refusal(visit())).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
  });

  it('a page with a live key gets test mode until the organization is live', async () => {
    pk = (await providePublishableKey(orgId, 'live', now)).key;
    expect(await visit({ origin: local })).toMatchObject({ mode: 'test' });
  });

  it.each([
    ['no key', () => ''],
    ['a nonsense key', () => 'svc_pk_test_nonsense'],
    ['a secret key', () => newToken('secret', 'test')],
    ['a cut key', () => pk.slice(0, -1)],
    ['a key never issued', () => newToken('publishable', 'test')],
  ])('a page with %s is refused', async (_, make) => {
    expect(await refusal(visit({ pk: make() }))).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('a page with a replaced key is refused', async () => {
    await visit();
    await rotatePublishableKey(orgId, 'test', now);
    await until(async () => (await refusal(visit()))?.code === 'UNAUTHENTICATED', 'the old key to be refused');
  });
});

describe('a signed e-mail address', () => {
  const email = 'ada@example.com';

  it('a signed e-mail address identifies the verified customer with that address, not the visitor’s earlier anonymous customer', async () => {
    const secret = await secretOf('test');
    const visitorId = randomUUID();
    const anonymous = await visit({ visitorId });
    const minted = await provideCustomer(orgId, 'test', { email, externalId: 'u-1' }, now);
    const known = await visit({ visitorId, email: ' Ada@Example.COM', sig: signed(secret, email) });
    expect(known).toMatchObject({ customerId: minted._id, verified: true });
    expect([anonymous.customerId, anonymous.sessionId]).not.toContain(known.customerId);
    expect(known.sessionId).not.toBe(anonymous.sessionId);
    expect(await visit({ visitorId })).toMatchObject({ customerId: anonymous.customerId, verified: false });
  });

  it.each<[string, (secret: string) => string]>([
    ['of another e-mail', (secret) => signed(secret, 'eve@example.com')],
    ['with another secret', () => signed('emb_test_other', email)],
    ['of another spelling of the e-mail', (secret) => signed(secret, 'Ada@example.com')],
    ['in base64', (secret) => createHmac('sha256', secret).update(email).digest('base64url')],
    ['with SHA-1', (secret) => createHmac('sha1', secret).update(email).digest('hex')],
    ['cut short', (secret) => signed(secret, email).slice(0, -2)],
    ['that is empty', () => ''],
  ])('an e-mail with a signature %s is refused, and no customer is created', async (_, sign) => {
    const sig = sign(await secretOf('test'));
    expect(await refusal(visit({ email, sig }))).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await CustomerModel.countDocuments({ org_id: orgId }, everyRecord)).toBe(0);
  });

  it('a signed e-mail address is refused when no embed secret exists, and when the secret of another mode or organization signed it', async () => {
    expect(await refusal(visit({ email, sig: signed('', email) }))).toMatchObject({ code: 'UNAUTHENTICATED' });
    const live = await secretOf('live');
    expect(await refusal(visit({ email, sig: signed(live, email) }))).toMatchObject({ code: 'UNAUTHENTICATED' });
    const mine = await secretOf('test');
    orgId = await newOrg();
    await secretOf('test');
    pk = (await providePublishableKey(orgId, 'test', now)).key;
    expect(await refusal(visit({ email, sig: signed(mine, email) }))).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('a signed e-mail address is accepted with the previous secret during the overlap, and refused afterwards', async () => {
    const old = await secretOf('test');
    const next = await secretOf('test', new Date(now.getTime() + 60_000));
    await visit({ email, sig: signed(old, email) });
    await visit({ email, sig: signed(next, email).toUpperCase() });
    now = new Date(now.getTime() + 60_000);
    expect(await refusal(visit({ email, sig: signed(old, email) }))).toMatchObject({ code: 'UNAUTHENTICATED' });
    await visit({ email, sig: signed(next, email) });
    await secretOf('test');
    expect(await refusal(visit({ email, sig: signed(next, email) }))).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('the credentials that admitted an embed, checked again later', () => {
  const email = 'ada@example.com';
  const check = (admission: Partial<Admission>, mode: Mode = 'test') =>
    recheckEmbed(context(), { orgId, mode }, { pk, origin: page, email: undefined, sig: undefined, ...admission });

  it('an embed’s credentials are still accepted while nothing has changed, and the check creates no customer', async () => {
    const sig = signed(await secretOf('test'), email);
    await check({});
    await check({ origin: local });
    await check({ email, sig });
    expect(await CustomerModel.countDocuments({ org_id: orgId }, everyRecord)).toBe(0);
  });

  it('an embed’s credentials are refused once the key is replaced', async () => {
    await check({});
    await rotatePublishableKey(orgId, 'test', now);
    await until(async () => (await refusal(check({})))?.code === 'UNAUTHENTICATED', 'the old key to be refused');
  });

  it('an embed’s credentials are refused once the origin is removed from the allowlist', async () => {
    await saveSupportConfig(orgId, 1, { ...defaultSettings, ...defaultOutboxState }, now);
    expect(await refusal(check({}))).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
    await check({ origin: local });
  });

  it('an embed’s signature is refused once its secret is replaced and the overlap is over', async () => {
    const sig = signed(await secretOf('test'), email);
    await secretOf('test', new Date(now.getTime() + 60_000));
    await check({ email, sig });
    now = new Date(now.getTime() + 60_000);
    expect(await refusal(check({ email, sig }))).toMatchObject({ code: 'UNAUTHENTICATED' });
    await check({});
  });

  it('an embed’s credentials are checked in the session’s mode, even when the key now acts in another mode', async () => {
    pk = (await providePublishableKey(orgId, 'live', now)).key;
    const sig = signed(await secretOf('test'), email);
    expect(await visit({ origin: local, email, sig })).toMatchObject({ mode: 'test' });
    await setEnvironment(orgId, 'production');
    await until(async () => (await visit()).mode === 'live', 'the key to act live');
    await check({ origin: local, email, sig });
    expect(await refusal(check({ origin: local }, 'live'))).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
  });
});

describe('a customer who is being deleted', () => {
  it('a new session of a customer who is being deleted gets a new customer', async () => {
    const visitorId = randomUUID();
    const identity = { email: 'ada@example.com', externalId: 'u-1' };
    const minted = await provideCustomer(orgId, 'test', identity, now);
    const visitor = await visit({ visitorId });
    for (const id of [minted._id, visitor.customerId]) expect(await beginErasing(orgId, id, now)).not.toBeNull();
    const again = await provideCustomer(orgId, 'test', identity, now);
    expect(again._id).not.toBe(minted._id);
    expect((await visit({ visitorId })).customerId).not.toBe(visitor.customerId);
    expect(await beginErasing(await newOrg(), minted._id, now)).toBeNull();
  });
});

describe('a step-up token', () => {
  async function stepUpSession() {
    const { token, stored } = newStepUp(now);
    const sessionId = newId('session');
    await createSession({
      _id: sessionId,
      org_id: orgId,
      mode: 'test',
      kind: 'minted',
      customer_id: 'cus_1',
      verified: true,
      context: {},
      ...stored,
      expires_at: new Date(now.getTime() + 3_600_000),
      created_by: 'key_1',
      created_at: now,
    });
    return { token, sessionId };
  }

  it('a step-up token can be used once, even when used concurrently', async () => {
    const { token, sessionId } = await stepUpSession();
    const used = await Promise.all(Array.from({ length: 12 }, () => consumeStepUp(orgId, sessionId, token, now)));
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await SessionModel.findById(sessionId).lean()).not.toHaveProperty('step_up_hash');
  });

  it('a step-up token works only for its own session and organization, and a failed attempt does not use up the token', async () => {
    const [one, two] = [await stepUpSession(), await stepUpSession()];
    expect(await consumeStepUp(orgId, one.sessionId, two.token, now)).toBe(false);
    expect(await consumeStepUp(await newOrg(), one.sessionId, one.token, now)).toBe(false);
    expect(await consumeStepUp(orgId, one.sessionId, one.token, now)).toBe(true);
  });

  it('a step-up token expires after five minutes, or earlier with its session', async () => {
    const [late, early, revoked] = [await stepUpSession(), await stepUpSession(), await stepUpSession()];
    const after = (ms: number) => new Date(now.getTime() + ms);
    expect(await consumeStepUp(orgId, late.sessionId, late.token, after(300_000))).toBe(false);
    expect(await consumeStepUp(orgId, early.sessionId, early.token, after(299_999))).toBe(true);
    await revokeSession(orgId, revoked.sessionId, now);
    expect(await consumeStepUp(orgId, revoked.sessionId, revoked.token, now)).toBe(false);
  });
});
