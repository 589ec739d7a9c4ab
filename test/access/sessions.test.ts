/**
 * Support sessions: minted for one customer, who is recognized later, refused after they end, and not accepted as any
 * other credential.
 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose';
import { sharedDatabase } from '../kit/database.ts';
import { apiAt, system, until, type Reply, type TestOrg } from '../kit/harness.ts';
import { moveClock, removeDataDir, startProcess, systemEnv } from '../kit/processes.ts';
import { createTokens } from '../../api/access/tokens.ts';
import { readConfig } from '../../config.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';

const api = system();
const db = sharedDatabase();

let org: TestOrg;
let key: string;
beforeEach(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});

const newEmail = () => `${randomUUID()}@customer.example`;
const mint = (body: Record<string, unknown>, headers: Record<string, string> = {}, token = key) =>
  api.request('POST', `/support/sessions/orgs/${org.orgId}/mint`, { token, body, headers });
const revoke = (sessionId: string, token = org.owner.token, orgId = org.orgId) =>
  api.request('POST', `/support/sessions/orgs/${orgId}/${sessionId}/revoke`, { token });
/** A request that only a valid session may make. */
const ask = (token: string, orgId = org.orgId, at = api) =>
  at.request('GET', `/support/chat/conversations/${orgId}`, { token });
const customerIds = (replies: Reply[]) => [...new Set(replies.map(({ body }) => body.customer_id as string))];
const sessionRecord = (sessionId: string) => db().collection<{ _id: string }>('sessions').findOne({ _id: sessionId });
const customerRecord = (id: string) => db().collection<{ _id: string }>('customers').findOne({ _id: id });

describe('POST …/mint', () => {
  it('minting a session returns a signed token with all properties of the session, and the URLs to use it with', async () => {
    const before = Date.now();
    const { status, body } = await mint({
      customer: { email: ' Ada@Example.COM ', name: 'Ada', externalCustomerId: 'u-1' },
      ttlSeconds: 120,
      context: { productType: 'personal', plan: { tier: ['gold', 1] } },
      visitorId: 'browser-0123456789',
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      token: expect.any(String),
      session_id: expect.stringMatching(/^ssn_/),
      customer_id: expect.stringMatching(/^cus_/),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
      ws_url: `ws://127.0.0.1:3000/v1/support/chat/ws/${org.orgId}?sessionToken=${body.token}`,
      rest_base_url: 'http://127.0.0.1:3000/v1/support',
      mode: 'test',
    });
    const jwks = (await (await fetch(`${api.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    const { payload, protectedHeader } = await jwtVerify(body.token, createLocalJWKSet(jwks), {
      issuer: 'http://127.0.0.1:3000',
      audience: 'support-session',
    });
    expect(protectedHeader.alg).toBe('EdDSA');
    expect(payload).toMatchObject({
      sub: body.customer_id,
      org: org.orgId,
      sid: body.session_id,
      mode: 'test',
      productType: 'personal',
      verified: true,
    });
    expect(new Date(payload.exp! * 1000).toISOString()).toBe(body.expires_at);
    expect(payload.exp! - payload.iat!).toBe(120);
    expect(payload.exp! * 1000).toBeGreaterThan(before + 118_000);
    expect(await sessionRecord(body.session_id)).toMatchObject({
      org_id: org.orgId,
      mode: 'test',
      customer_id: body.customer_id,
      product_type: 'personal',
      context: { productType: 'personal', plan: { tier: ['gold', 1] } },
      visitor_id: 'browser-0123456789',
      verified: true,
    });
    expect(await customerRecord(body.customer_id)).toMatchObject({
      org_id: org.orgId,
      mode: 'test',
      external_id: 'u-1',
      email: 'ada@example.com',
      name: 'Ada',
      verified: true,
    });
    expect((await ask(body.token)).status).toBe(200);
  });

  it('a session is valid for an hour by default, and has no product when the context has none', async () => {
    const { body } = await mint({ customer: { email: newEmail() }, context: { productType: ' ' } });
    const payload = decodeJwt(body.token);
    expect(payload.exp! - payload.iat!).toBe(3600);
    expect(payload).not.toHaveProperty('productType');
    expect(body).not.toHaveProperty('step_up_token');
  });

  it('minting a session stores neither the token nor the step-up token in plain text, not even with an Idempotency-Key', async () => {
    const { body } = await mint({ customer: { email: newEmail() }, stepUp: true }, { 'idempotency-key': randomUUID() });
    expect(body.step_up_token).toMatch(/^sut_[\w-]{43}$/);
    const stored = await sessionRecord(body.session_id);
    expect(stored).toMatchObject({ step_up_hash: createHash('sha256').update(body.step_up_token).digest('hex') });
    for (const { name } of await db().listCollections({}, { nameOnly: true }).toArray()) {
      if (/^(system|files)/.test(name)) continue;
      const rows = JSON.stringify(await db().collection(name).find().toArray());
      expect([name, rows.includes(body.token), rows.includes(body.step_up_token)]).toEqual([name, false, false]);
    }
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['no customer', {}, ['customer']],
    ['a customer without a name of any kind', { customer: { name: 'Ada' } }, ['customer']],
    ['no address', { customer: { email: 'ada' } }, ['customer', 'email']],
    ['an endless id', { customer: { externalCustomerId: 'x'.repeat(201) } }, ['customer', 'externalCustomerId']],
    ['an id of two lines', { customer: { externalCustomerId: 'a\nb' } }, ['customer', 'externalCustomerId']],
    [
      'an unknown field of the customer',
      { customer: { email: 'a@b.example', verified: false } },
      ['customer', 'verified'],
    ],
    ['too short a life', { ttlSeconds: 59 }, ['ttlSeconds']],
    ['too long a life', { ttlSeconds: 3601 }, ['ttlSeconds']],
    ['a life with half a second', { ttlSeconds: 60.5 }, ['ttlSeconds']],
    ['an empty visitor id', { visitorId: '' }, ['visitorId']],
    ['a visitor id of 101 characters', { visitorId: 'v'.repeat(101) }, ['visitorId']],
    ['a context that is a list', { context: [] }, ['context']],
    ['a product that is no text', { context: { productType: 7 } }, ['context', 'productType']],
    ['an endless product', { context: { productType: 'x'.repeat(201) } }, ['context', 'productType']],
    ['a context of 9 KiB', { context: { a: 'x'.repeat(9 * 1024) } }, ['context']],
    ['an operator in the context', { context: { a: { $ne: null } } }, ['context']],
    ['a mode chosen by the caller', { mode: 'live' }, ['mode']],
  ])('minting a session refuses %s with 400 naming the field', async (_, fields, path) => {
    const { status, body } = await mint({
      ...('customer' in fields || path[0] === 'customer' ? {} : { customer: { email: newEmail() } }),
      ...fields,
    });
    expect([status, body.code, body.details[0].path]).toEqual([400, 'VALIDATION', ['body', ...path]]);
  });

  it.each(['7', 'user 7/ä', 'v'.repeat(100)])(
    'minting a session accepts any visitor id from a backend: %j',
    async (visitorId) => {
      expect((await mint({ customer: { email: newEmail() }, visitorId })).status).toBe(200);
    },
  );

  it('minting a session refuses a body of deeply nested brackets with 400', async () => {
    const raw = `{"customer":{"email":"a@b.example"},"context":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    const { status, body } = await api.request('POST', `/support/sessions/orgs/${org.orgId}/mint`, {
      token: key,
      raw,
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    });
    expect([status, body.details]).toEqual([400, [{ path: ['body'], message: 'may nest 100 levels deep, not more' }]]);
  });

  it('minting a session returns the same session for the same Idempotency-Key', async () => {
    const [body, headers] = [{ customer: { email: newEmail() } }, { 'idempotency-key': randomUUID() }];
    const first = await mint(body, headers);
    const again = await mint(body, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await db().collection('sessions').countDocuments({ org_id: org.orgId })).toBe(1);
  });

  it('minting a session never replays an expired session for the same Idempotency-Key, but mints a new one', async () => {
    const env = systemEnv('shared');
    const later = await startProcess('test/kit/chatapi.ts', env);
    try {
      const path = `/support/sessions/orgs/${org.orgId}/mint`;
      const body = { customer: { email: newEmail() }, ttlSeconds: 60 };
      const headers = { 'idempotency-key': randomUUID() };
      const again = () => apiAt(later.url).request('POST', path, { token: key, body, headers });
      const first = await again();
      // The first session is still valid.
      await moveClock(later, 40_000);
      expect((await again()).body.session_id).toBe(first.body.session_id);
      await moveClock(later, 62_000);
      const fresh = await until(async () => {
        const reply = await again();
        return reply.body.session_id !== first.body.session_id && reply;
      }, 'a fresh session');
      expect([fresh.status, fresh.headers.get('idempotent-replayed')]).toEqual([200, null]);
      expect(Date.parse(fresh.body.expires_at)).toBeGreaterThan(Date.parse(first.body.expires_at));
      expect(fresh.body.customer_id).toBe(first.body.customer_id);
      expect((await ask(fresh.body.token)).status).toBe(200);
      // A replay now returns the new session.
      const replayed = await again();
      expect([replayed.body, replayed.headers.get('idempotent-replayed')]).toEqual([fresh.body, 'true']);
      // The stored reply expires together with its session, and the Idempotency-Key is then free. A stored reply
      // that contains no session expires only after a day.
      await moveClock(later, 130_000);
      const other = { customer: { email: newEmail() } };
      const reused = await until(async () => {
        const reply = await apiAt(later.url).request('POST', path, { token: key, body: other, headers });
        return reply.status !== 409 && reply;
      }, 'the key to be free');
      expect(reused.body.customer_id).not.toBe(first.body.customer_id);
    } finally {
      await later.stop();
      await removeDataDir(env);
    }
  });

  it('a minted session keeps the mode of the key that minted the session', async () => {
    await api.goLive(org);
    const live = (await api.newKey(org, { mode: 'live' })).token;
    const [inTest, inLive] = [
      await mint({ customer: { email: 'ada@example.com' } }),
      await mint({ customer: { email: 'ada@example.com' } }, {}, live),
    ];
    expect([inTest.body.mode, inLive.body.mode]).toEqual(['test', 'live']);
    expect(inLive.body).not.toHaveProperty('warning');
    expect(inTest.body.customer_id).not.toBe(inLive.body.customer_id);
    await api.request('PUT', `/support/config/orgs/${org.orgId}`, {
      token: org.owner.token,
      body: { environment: 'sandbox' },
    });
    expect(decodeJwt(inLive.body.token)).toMatchObject({ mode: 'live' });
    expect((await ask(inLive.body.token)).status).toBe(200);
  });

  it('a live key mints a test session with a warning until the organization is live', async () => {
    const live = (await api.newKey(org, { mode: 'live' })).token;
    const { body } = await mint({ customer: { email: newEmail() } }, {}, live);
    expect(body).toMatchObject({ mode: 'test', warning: { code: 'LIVE_KEY_NOT_ACTIVE', message: expect.any(String) } });
    expect(decodeJwt(body.token)).toMatchObject({ mode: 'test' });
    expect(await sessionRecord(body.session_id)).toMatchObject({ mode: 'test' });
  });
});

describe('the customer of a session', () => {
  it('the customer of a session is recognized by the same e-mail in any spelling, and by the same external id', async () => {
    const email = newEmail();
    const byEmail = [
      await mint({ customer: { email } }),
      await mint({ customer: { email: ` ${email.toUpperCase()} ` } }),
    ];
    expect(customerIds(byEmail)).toHaveLength(1);
    const byId = [
      await mint({ customer: { externalCustomerId: 'u-7' } }),
      await mint({ customer: { externalCustomerId: 'u-7', email: newEmail() } }),
      await mint({ customer: { externalCustomerId: 'u-7' } }),
    ];
    expect(customerIds(byId)).toHaveLength(1);
    expect(customerIds([...byEmail, ...byId])).toHaveLength(2);
  });

  it('a customer known only by an e-mail stays the same customer when an external id is added', async () => {
    const email = newEmail();
    const replies = [
      await mint({ customer: { email, name: 'Ada' } }),
      await mint({ customer: { email, externalCustomerId: 'u-1' } }),
      await mint({ customer: { externalCustomerId: 'u-1', name: 'Ada Lovelace' } }),
      await mint({ customer: { email } }),
    ];
    expect(customerIds(replies)).toHaveLength(1);
    expect(await customerRecord(replies[0]!.body.customer_id)).toMatchObject({
      email,
      external_id: 'u-1',
      name: 'Ada Lovelace',
    });
  });

  it('when external id and e-mail belong to different customers, the customer with the external id gets the session and the e-mail', async () => {
    const email = newEmail();
    const byEmail = await mint({ customer: { email } });
    const byId = await mint({ customer: { externalCustomerId: 'u-1' } });
    const both = await mint({ customer: { email, externalCustomerId: 'u-1' } });
    const later = await mint({ customer: { email } });
    expect(both.body.customer_id).toBe(byId.body.customer_id);
    expect(later.body.customer_id).toBe(byId.body.customer_id);
    expect(byEmail.body.customer_id).not.toBe(byId.body.customer_id);
  });

  it('a customer who changes the e-mail is no longer found by the old one', async () => {
    const [old, next] = [newEmail(), newEmail()];
    const first = await mint({ customer: { email: old, externalCustomerId: 'u-1' } });
    const moved = await mint({ customer: { email: next, externalCustomerId: 'u-1' } });
    const stranger = await mint({ customer: { email: old } });
    expect(moved.body.customer_id).toBe(first.body.customer_id);
    expect(stranger.body.customer_id).not.toBe(first.body.customer_id);
  });

  it.each([
    ['an e-mail', () => ({ email: 'race@customer.example' })],
    ['an external id', () => ({ externalCustomerId: 'race' })],
    ['both', () => ({ email: 'race@customer.example', externalCustomerId: 'race' })],
  ])('the customer of a session is created once by concurrent mints with %s', async (_, customer) => {
    const replies = await Promise.all(Array.from({ length: 24 }, () => mint({ customer: customer() })));
    expect(replies.map(({ status }) => status)).toEqual(Array(24).fill(200));
    expect(customerIds(replies)).toHaveLength(1);
    expect(await db().collection('customers').countDocuments({ org_id: org.orgId })).toBe(1);
  });

  it('when concurrent sessions for two external ids claim the same e-mail, only one of the two customers has the e-mail', async () => {
    const email = newEmail();
    const claims = Array.from({ length: 24 }, (_, i) => ({ email, externalCustomerId: `u-${i % 2}` }));
    const replies = await Promise.all(claims.map((customer) => mint({ customer })));
    expect(replies.map(({ status }) => status)).toEqual(Array(24).fill(200));
    const [even, odd] = [0, 1].map((rest) => customerIds(replies.filter((_, i) => i % 2 === rest)));
    expect([even!.length, odd!.length]).toEqual([1, 1]);
    const byEmail = await mint({ customer: { email } });
    expect([...even!, ...odd!]).toContain(byEmail.body.customer_id);
    expect(await db().collection('customers').countDocuments({ org_id: org.orgId })).toBe(2);
  });

  it('sessions for the same e-mail address in two organizations belong to two different customers', async () => {
    const email = newEmail();
    const here = await mint({ customer: { email } });
    const there = await api.newSession(await api.newOrg(), { body: { customer: { email } } });
    expect(there.customerId).not.toBe(here.body.customer_id);
  });

  it('the customer of a minted session is never the anonymous visitor whose id the request names', async () => {
    const visitorId = randomUUID();
    await db()
      .collection<{ _id: string }>('customers')
      .insertOne({
        _id: `cus_${visitorId}`,
        org_id: org.orgId,
        mode: 'test',
        visitor_id: visitorId,
        verified: false,
        created_at: new Date(),
        last_seen_at: new Date(),
      } as never);
    const { body } = await mint({ customer: { email: newEmail() }, visitorId });
    expect(body.customer_id).not.toBe(`cus_${visitorId}`);
    const twice = await mint({ customer: { email: newEmail() }, visitorId });
    expect(twice.body.customer_id).not.toBe(body.customer_id);
  });
});

describe('POST …/revoke', () => {
  it('revoking a session ends the session, can be repeated, and answers 404 for another organization’s session', async () => {
    const { token, sessionId } = await api.newSession(org, { key });
    const first = await revoke(sessionId);
    const again = await revoke(sessionId);
    const expected = [200, { success: true, data: { session_id: sessionId, status: 'revoked' } }];
    expect([first.status, first.body]).toEqual(expected);
    expect([again.status, again.body]).toEqual(expected);
    const refused = await ask(token);
    expect([refused.status, refused.body.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect((await revoke('ssn_nothing')).status).toBe(404);
    const other = await api.newOrg();
    expect((await revoke(sessionId, other.owner.token, other.orgId)).status).toBe(404);
  });

  it('a request with an API key cannot revoke a session: 401', async () => {
    const { sessionId } = await api.newSession(org, { key });
    const { status, body } = await revoke(sessionId, key);
    expect([status, body.code]).toEqual([401, 'WRONG_CREDENTIAL_KIND']);
  });

  it('revoking a session keeps the time of the first revocation when repeated', async () => {
    const { sessionId } = await api.newSession(org, { key });
    await revoke(sessionId);
    const first = await sessionRecord(sessionId);
    await revoke(sessionId);
    expect(await sessionRecord(sessionId)).toEqual(first);
  });

  it('revoking a session ends one session of a customer, and not the others', async () => {
    const body = { customer: { email: newEmail() } };
    const [one, two] = [await api.newSession(org, { key, body }), await api.newSession(org, { key, body })];
    await revoke(one.sessionId);
    expect((await ask(two.token)).status).toBe(200);
  });

  it('revoking a session takes effect in a process that has the session in its cache', async () => {
    const env = systemEnv('shared');
    const second = await startProcess('api/server.ts', env);
    try {
      const at = apiAt(second.url);
      const { token, sessionId } = await api.newSession(org, { key });
      expect((await ask(token, org.orgId, at)).status).toBe(200);
      await revoke(sessionId);
      await until(async () => (await ask(token, org.orgId, at)).status === 401, 'the other process to refuse');
    } finally {
      await second.stop();
      await removeDataDir(env);
    }
  });
});

describe('a session token', () => {
  const env = systemEnv('shared');
  /** Tokens signed with the running system's own keys. */
  const ours = (at: Date) => {
    const config = readConfig(env);
    return createTokens({ config, clock: () => at, secrets: createSecretBox(config.secretKeys) });
  };
  beforeAll(async () => {
    await connectMongo(env['MONGODB_URI']!);
  });
  afterAll(async () => {
    await disconnectMongo();
    await removeDataDir(env);
  });

  it('a session token is accepted for its own organization only, and gets 404 for any other', async () => {
    const { token } = await api.newSession(org, { key });
    const other = await api.newOrg();
    const [there, nowhere] = [await ask(token, other.orgId), await ask(token, 'org_nothing')];
    expect([there.status, there.body.error]).toEqual([404, nowhere.body.error]);
  });

  it('a session token is refused once the token has expired, even while the session’s record exists', async () => {
    const { sessionId, customerId } = await api.newSession(org, { key });
    const claims = { sessionId, customerId, orgId: org.orgId, mode: 'test' as const, verified: true };
    const now = Date.now();
    const still = await ours(new Date(now)).signSession(claims, new Date(now + 60_000));
    const over = await ours(new Date(now - 120_000)).signSession(claims, new Date(now - 1000));
    expect((await ask(still)).status).toBe(200);
    expect((await ask(over)).status).toBe(401);
  });

  it('a session token is refused without a session record, and with another organization’s record', async () => {
    const other = await api.newSession(await api.newOrg());
    const claims = { customerId: 'cus_1', orgId: org.orgId, mode: 'test' as const, verified: true };
    const end = new Date(Date.now() + 60_000);
    for (const sessionId of ['ssn_nothing', other.sessionId]) {
      const token = await ours(new Date()).signSession({ ...claims, sessionId }, end);
      expect([sessionId, (await ask(token)).status]).toEqual([sessionId, 401]);
    }
  });

  it('a session token is not accepted as a login token, nor a login token as a session token', async () => {
    const { token } = await api.newSession(org, { key });
    expect((await api.request('GET', '/auth/me', { token })).status).toBe(401);
    expect((await ask(org.owner.token)).status).toBe(401);
    const key_ = await ask(key);
    expect([key_.status, key_.body.code]).toEqual([401, 'WRONG_CREDENTIAL_KIND']);
  });
});

describe('…/embed-secret', () => {
  const path = () => `/support/sessions/orgs/${org.orgId}/embed-secret`;
  const make = (body: Record<string, unknown> = {}, token = key) => api.request('POST', path(), { token, body });
  const look = (token = key) => api.request('GET', path(), { token });

  it('an embed secret is shown once and stored encrypted, and later reads tell only that a secret exists', async () => {
    expect((await look()).body).toEqual({ mode: 'test', exists: false, created_at: null, former_until: null });
    const { status, body } = await make();
    expect([status, body]).toEqual([
      201,
      { mode: 'test', embed_secret: expect.stringMatching(/^emb_test_[\w-]{43}$/), created_at: expect.any(String) },
    ]);
    expect((await look()).body).toEqual({
      mode: 'test',
      exists: true,
      created_at: body.created_at,
      former_until: null,
    });
    const rows = await db().collection('embed_secrets').find({ org_id: org.orgId }).toArray();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(body.embed_secret);
  });

  it('each mode has its own embed secret, and a member names the mode in the request', async () => {
    await api.goLive(org);
    const live = await api.request('POST', `${path()}?mode=live`, { token: org.owner.token, body: {} });
    expect([live.body.mode, (await look()).body.exists]).toEqual(['live', false]);
    const seen = await api.request('GET', `${path()}?mode=live`, { token: org.owner.token });
    expect(seen.body).toMatchObject({ mode: 'live', exists: true });
  });

  it('an embed secret can stay valid for up to 7 days after its successor is created', async () => {
    await make();
    const before = Date.now();
    await make({ overlap_seconds: 60 });
    const until60 = Date.parse((await look()).body.former_until);
    expect(until60).toBeGreaterThanOrEqual(before + 60_000);
    expect(until60).toBeLessThanOrEqual(Date.now() + 60_000);
    await make();
    expect((await look()).body.former_until).toBeNull();
    expect((await make({ overlap_seconds: 7 * 86_400 + 1 })).status).toBe(400);
  });

  it('concurrent requests for an embed secret get different secrets, of which only one is stored', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => make()));
    expect(made.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(new Set(made.map(({ body }) => body.embed_secret)).size).toBe(8);
    expect(await db().collection('embed_secrets').countDocuments({ org_id: org.orgId })).toBe(1);
  });
});
