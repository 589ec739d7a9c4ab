/**
 * Developer keys and publishable keys: shown once, stored as hashes, revoked in every process within a second, and
 * separated by mode.
 */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { apiAt, allScopes, system, until, type TestOrg } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv } from '../kit/processes.ts';
import { routeGroups } from '../../api/routes.ts';
import { hashToken, newToken, wellFormed } from '../../models/access/key.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
const db = sharedDatabase();

let org: TestOrg;
beforeEach(async () => {
  org = await api.newOrg();
});
const base = () => `/support/developer-keys/orgs/${org.orgId}`;
const as = (body?: unknown, headers: Record<string, string> = {}) => ({
  token: org.owner.token,
  headers,
  ...defined({ body }),
});
const create = (body: Record<string, unknown> = {}) =>
  api.request('POST', `${base()}/keys`, as({ name: 'server', ...body }));
const patch = (keyId: string, body: unknown) => api.request('PATCH', `${base()}/keys/${keyId}`, as(body));
const revoke = (keyId: string) => api.request('DELETE', `${base()}/keys/${keyId}`, as());
const rotate = (keyId: string, body: unknown = {}) => api.request('POST', `${base()}/keys/${keyId}/rotate`, as(body));
const self = (token: string, at = api) => at.request('GET', '/support/developer-keys/self', { token });
const inFuture = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

describe('POST …/keys', () => {
  it('a new key is a test key with default scopes unless the request says otherwise, and its token is shown once', async () => {
    const { status, body } = await create();
    const { key, token } = body.data;
    expect(status).toBe(201);
    expect(token).toMatch(/^svc_sk_test_[0-9A-Za-z]{38}$/);
    expect(key).toEqual({
      org_id: org.orgId,
      key_id: expect.stringMatching(/^key_/),
      name: 'server',
      scopes: ['mcp:read', 'mcp:write'],
      mode: 'test',
      environment: 'test',
      status: 'active',
      token_prefix: token.slice(0, 16),
      created_by_user_id: org.owner.userId,
      created_at: expect.any(String),
      updated_at: key.created_at,
      last_used_at: null,
      expires_at: null,
    });
    const list = await api.request('GET', `${base()}/keys`, as());
    expect(list.body.data).toEqual({ keys: [key], cursor: null });
  });

  it('creating a key stores only the hash of the token', async () => {
    const { key, token } = (await create({})).body.data;
    const stored = await db().collection<{ _id: string }>('keys').findOne({ _id: key.key_id });
    expect(stored).toMatchObject({ token_hash: createHash('sha256').update(token).digest('hex') });
    expect(JSON.stringify(stored)).not.toContain(token.slice(20));
  });

  it('creating a key returns the same token for a repeated request, and stores the response encrypted', async () => {
    const send = () =>
      api.request('POST', `${base()}/keys`, as({ name: 'server' }, { 'idempotency-key': 'create-key-1' }));
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((await api.request('GET', `${base()}/keys`, as())).body.data.keys).toHaveLength(1);
    const { token } = first.body.data;
    const kept = await db().collection('idempotency').find().toArray();
    expect(kept.length).toBeGreaterThan(0);
    expect(JSON.stringify(kept)).not.toContain(token.slice(12));
  });

  it('creating a key accepts scopes, mode and an expiry', async () => {
    const expires_at = inFuture(3600);
    const { body } = await create({
      scopes: ['support:read', 'support:read', 'sessions:mint'],
      mode: 'live',
      expires_at,
    });
    expect(body.data.key).toMatchObject({
      scopes: ['support:read', 'sessions:mint'],
      mode: 'live',
      environment: 'live',
      expires_at,
    });
    expect(body.data.token).toMatch(/^svc_sk_live_/);
  });

  it.each([
    [{ name: '' }, ['body', 'name']],
    [{ name: 'x'.repeat(101) }, ['body', 'name']],
    [{ name: 5 }, ['body', 'name']],
    [{ scopes: ['support:read', 'support:admin'] }, ['body', 'scopes', 1]],
    [{ scopes: [] }, ['body', 'scopes']],
    [{ scopes: '*' }, ['body', 'scopes']],
    [{ mode: 'legacy' }, ['body', 'mode']],
    [{ mode: 'production' }, ['body', 'mode']],
    [{ expires_at: new Date(Date.now() - 1000).toISOString() }, ['body', 'expires_at']],
    [{ expires_at: 'tomorrow' }, ['body', 'expires_at']],
    [{ expires_at: 4102444800 }, ['body', 'expires_at']],
    [{ expires_at: '9999-12-31T23:59:59-05:00' }, ['body', 'expires_at']],
    [{ token_hash: 'x' }, ['body', 'token_hash']],
  ])('creating a key refuses %j with 400 naming the field', async (body, where) => {
    const answer = await create(body);
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([400, 'VALIDATION', where]);
  });
});

describe('GET …/keys', () => {
  it('the list of an organization’s keys is paged, newest first, and contains each key once', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await create()).body.data.key.key_id);
    await api.newKey(await api.newOrg());
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { data } = (await api.request('GET', `${base()}/keys?limit=2${cursor && `&cursor=${cursor}`}`, as())).body;
      seen.push(...data.keys.map((k: { key_id: string }) => k.key_id));
      cursor = data.cursor as string | null;
    }
    expect(seen).toEqual(ids);
  });
});

describe('PATCH …/keys/{keyId}', () => {
  it('a key’s name, scopes and expiry can be changed, and its token keeps working', async () => {
    const { key, token } = (await create()).body.data;
    const expires_at = inFuture(600);
    const { status, body } = await patch(key.key_id, { name: 'renamed', scopes: ['support:read'], expires_at });
    expect([status, body.data.key]).toMatchObject([
      200,
      { ...key, name: 'renamed', scopes: ['support:read'], expires_at, updated_at: expect.any(String) },
    ]);
    const seen = await until(async () => (await self(token)).body.name === 'renamed' && self(token), 'the new name');
    expect(seen.body.scopes).toEqual(['support:read']);
    expect((await patch(key.key_id, { expires_at: null })).body.data.key.expires_at).toBeNull();
  });

  it('editing a key accepts a time with a UTC offset, and answers in UTC', async () => {
    const { key } = (await create()).body.data;
    const { body } = await patch(key.key_id, { expires_at: '2099-01-01T01:00:00+01:00' });
    expect(body.data.key.expires_at).toBe('2099-01-01T00:00:00.000Z');
  });

  it('the list of keys shows a key that expires in the last second of the year 9999 in UTC', async () => {
    const { key } = (await create({ expires_at: '9999-12-31T18:59:59-05:00' })).body.data;
    expect(key.expires_at).toBe('9999-12-31T23:59:59.000Z');
    expect((await patch(key.key_id, { expires_at: '9999-12-31T23:59:59-05:00' })).status).toBe(400);
    const list = await api.request('GET', `${base()}/keys`, as());
    expect([list.status, list.body.data]).toEqual([200, { keys: [key], cursor: null }]);
  });

  it.each([
    { mode: 'live' },
    { environment: 'live' },
    { scopes: ['all'] },
    { expires_at: '2001-01-01T00:00:00Z' },
    { status: 'active' },
    { revoked_at: null },
  ])('editing a key refuses %j with 400', async (body) => {
    const { key } = (await create()).body.data;
    expect((await patch(key.key_id, body)).status).toBe(400);
  });

  it('a revoked key cannot be edited: 409', async () => {
    const { key } = (await create()).body.data;
    await revoke(key.key_id);
    for (const body of [{ name: 'x' }, { expires_at: null }, {}]) {
      const answer = await patch(key.key_id, body);
      expect([answer.status, answer.body.code]).toEqual([409, 'KEY_REVOKED']);
    }
  });

  it('editing a key reactivates an expired key by setting a new expiry', async () => {
    const { key, token } = (await create({ expires_at: inFuture(600) })).body.data;
    await db()
      .collection<{ _id: string }>('keys')
      .updateOne({ _id: key.key_id }, { $set: { expires_at: new Date() } });
    await until(async () => (await self(token)).status === 401, 'the key to expire');
    expect((await api.request('GET', `${base()}/keys`, as())).body.data.keys[0].status).toBe('expired');
    expect((await patch(key.key_id, { expires_at: null })).body.data.key.status).toBe('active');
    await until(async () => (await self(token)).status === 200, 'the key to work again');
  });

  it('editing a key answers 404 for a key of another organization', async () => {
    const other = await api.newKey(await api.newOrg());
    expect((await patch(other.keyId, { name: 'mine now' })).status).toBe(404);
    expect((await revoke(other.keyId)).status).toBe(404);
    expect((await rotate(other.keyId)).status).toBe(404);
    expect((await self(other.token)).status).toBe(200);
  });
});

describe('DELETE …/keys/{keyId}', () => {
  it('a key is revoked by DELETE, and a repetition changes nothing', async () => {
    const { key } = (await create()).body.data;
    const first = await revoke(key.key_id);
    expect([first.status, first.body.data.key.status]).toEqual([200, 'revoked']);
    const second = await revoke(key.key_id);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect((await api.request('GET', `${base()}/keys`, as())).body.data.keys[0].status).toBe('revoked');
  });

  it('revoking a key takes effect in every process, even where the key was just used', async () => {
    const env = systemEnv('shared');
    const second = await startProcess('api/server.ts', env);
    try {
      const other = apiAt(second.url);
      const { key, token } = (await create()).body.data;
      for (const at of [api, other]) expect((await self(token, at)).status).toBe(200);
      await revoke(key.key_id);
      // Keeps using the key in every process, so that no cache entry expires for lack of requests.
      for (const at of [api, other])
        await until(async () => (await self(token, at)).status === 401, 'the revocation to arrive');
      const { body } = await self(token, other);
      expect([body.code, body.error]).toEqual(['UNAUTHENTICATED', expect.stringContaining('revoked')]);
    } finally {
      await second.stop();
      await removeDataDir(env);
    }
  });
});

describe('POST …/keys/{keyId}/rotate', () => {
  it('rotating a key returns a new token with the same name, scopes, mode and expiry, and ends the old one at once', async () => {
    const old = (await create({ scopes: ['support:read'], mode: 'live', expires_at: inFuture(3600) })).body.data;
    const { status, body } = await rotate(old.key.key_id);
    const { key, token } = body.data;
    expect([status, token]).toEqual([201, expect.stringMatching(/^svc_sk_live_/)]);
    const { name, scopes, mode, expires_at } = old.key;
    expect(key).toMatchObject({ name, scopes, mode, expires_at, status: 'active' });
    expect(token).not.toBe(old.token);
    expect((await self(token)).status).toBe(200);
    await until(async () => (await self(old.token)).status === 401, 'the old key to end');
    expect(
      (await api.request('GET', `${base()}/keys`, as())).body.data.keys.map((k: { status: string }) => k.status),
    ).toEqual(['active', 'expired']);
  });

  it('both tokens of a rotated key are accepted during the overlap, but not beyond the old key’s expiry', async () => {
    const old = (await create()).body.data;
    const next = (await rotate(old.key.key_id, { overlap_seconds: 600 })).body.data;
    for (const token of [old.token, next.token]) expect((await self(token)).status).toBe(200);
    const ends = async (id: string) =>
      (await api.request('GET', `${base()}/keys`, as())).body.data.keys.find((k: { key_id: string }) => k.key_id === id)
        .expires_at;
    expect(Date.parse(await ends(old.key.key_id)) - Date.parse(next.key.created_at)).toBe(600_000);
    expect(next.key.expires_at).toBeNull();
    const short = (await create({ expires_at: inFuture(60) })).body.data;
    await rotate(short.key.key_id, { overlap_seconds: 600 });
    expect(await ends(short.key.key_id)).toBe(short.key.expires_at);
  });

  it('of several concurrent requests to rotate a key, one creates its successor, and the others get 409', async () => {
    const { key } = (await create()).body.data;
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(key.key_id, { overlap_seconds: 60 })));
    expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect((await api.request('GET', `${base()}/keys`, as())).body.data.keys).toHaveLength(2);
  });

  it('after a rotation the old key’s expiry can no longer be changed (409), but its name can', async () => {
    const { key } = (await create({})).body.data;
    await rotate(key.key_id);
    const { status, body } = await patch(key.key_id, { expires_at: null });
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    expect((await patch(key.key_id, { name: 'The former one' })).status).toBe(200);
  });

  it('a revoked key cannot be rotated: 409', async () => {
    const { key } = (await create()).body.data;
    await revoke(key.key_id);
    expect((await rotate(key.key_id)).body.code).toBe('KEY_REVOKED');
  });

  it.each([-1, 604_801, 1.5, '60', null])(
    'rotating a key refuses an overlap of %j seconds with 400',
    async (overlap_seconds) => {
      const { key } = (await create()).body.data;
      expect((await rotate(key.key_id, { overlap_seconds })).status).toBe(400);
    },
  );
});

describe('GET …/developer-keys/self', () => {
  it('GET …/developer-keys/self describes the calling key without secrets', async () => {
    const { key, token } = (await create({ scopes: allScopes })).body.data;
    const { status, body } = await self(token);
    expect([status, body]).toEqual([
      200,
      {
        organization: { org_id: org.orgId, name: 'Test Organization' },
        key_id: key.key_id,
        name: 'server',
        scopes: allScopes,
        environment: 'test',
        status: 'active',
        expires_at: null,
        mode: 'test',
      },
    ]);
  });

  it('GET …/developer-keys/self records when the calling key was used', async () => {
    const { token } = (await create()).body.data;
    await self(token);
    const used = async () =>
      (await api.request('GET', `${base()}/keys`, as())).body.data.keys[0].last_used_at as string | null;
    expect(Date.parse(await until(async () => (await used()) ?? undefined, 'the use to be noted'))).toBeLessThanOrEqual(
      Date.now(),
    );
  });

  it('an old key whose token names no mode is accepted, and acts in the mode of its organization', async () => {
    const token = newToken('secret', 'legacy');
    expect(token).toMatch(/^svc_sk_[0-9A-Za-z]{38}$/);
    const now = new Date();
    await db()
      .collection<{ _id: string }>('keys')
      .insertOne({
        _id: 'key_00000000000000000000000000'.slice(0, 4) + org.orgId.slice(4),
        org_id: org.orgId,
        name: 'from before modes',
        scopes: ['support:read'],
        mode: 'legacy',
        token_hash: hashToken(token),
        token_prefix: token.slice(0, 11),
        created_by_user_id: org.owner.userId,
        created_at: now,
        updated_at: now,
      } as { _id: string });
    expect((await self(token)).body).toMatchObject({ mode: 'test', environment: 'test', name: 'from before modes' });
    const listed = await api.request('GET', `${base()}/keys`, as());
    expect(listed.body.data.keys[0]).toMatchObject({ mode: null, environment: 'test' });
    await api.goLive(org);
    const live = await until(
      async () => (await self(token)).body.mode === 'live' && self(token),
      'the legacy key to follow',
    );
    expect(live.body).toMatchObject({ mode: 'live', environment: 'live' });
    expect(live.body).not.toHaveProperty('warning');
  });
});

describe('a live key before the organization is live', () => {
  const readable = Object.values(routeGroups)
    .flat()
    .filter(
      (route) => ['key', 'self'].includes(route.auth.kind) && route.method === 'GET' && !/\{(?!orgId)/.test(route.path),
    );

  it('at least three routes that read are tested with a live key', () => expect(readable.length).toBeGreaterThan(2));

  it.each(readable.map((route) => [route.path, route] as const))(
    'the reply of GET %s to a live key has the mode and a warning while the organization is not live',
    async (_, route) => {
      const live = (await api.newKey(org, { mode: 'live' })).token;
      const query = route.path.startsWith('/support/search') ? '?q=card' : '';
      const path = route.path.replace('{orgId}', org.orgId) + query;
      const { status, body } = await api.request('GET', path, { token: live });
      expect([status, body]).toMatchObject([
        200,
        { mode: 'test', warning: { code: 'LIVE_KEY_NOT_ACTIVE', message: expect.any(String) } },
      ]);
    },
  );

  it('a request for live data gets 400, with the reason that the organization is not live yet', async () => {
    const live = (await api.newKey(org, { mode: 'live' })).token;
    const { status, body } = await api.request('GET', `/orgs/${org.orgId}/documents?mode=live`, { token: live });
    expect([status, body.details]).toEqual([
      400,
      [{ path: ['query', 'mode'], message: expect.stringMatching(/^The organization is not live yet/) }],
    ]);
  });

  it('a test key gets no warning from a route that warns a live key', async () => {
    const test = (await api.newKey(org)).token;
    const { body } = await api.request('GET', `/support/config/orgs/${org.orgId}`, { token: test });
    expect(body).not.toHaveProperty('warning');
  });

  it('until the organization is live, a live key writes in test mode, and the reply has a warning', async () => {
    const live = (await api.newKey(org, { mode: 'live' })).token;
    const { body } = await api.request('PUT', `/support/config/orgs/${org.orgId}`, {
      token: live,
      body: { kb_segment_strict: true },
    });
    expect(body).toMatchObject({
      mode: 'test',
      warning: { code: 'LIVE_KEY_NOT_ACTIVE' },
      config: { kb_segment_strict: true },
    });
  });
});

describe('publishable keys', () => {
  const read = async () => (await api.request('GET', `${base()}/publishable-keys`, as())).body.data;

  it('each mode has a publishable key from the first read on, and later reads return the same keys', async () => {
    const first = await read();
    expect(first).toEqual({
      test: { key: expect.stringMatching(/^svc_pk_test_[0-9A-Za-z]{38}$/), created_at: expect.any(String) },
      live: { key: expect.stringMatching(/^svc_pk_live_[0-9A-Za-z]{38}$/), created_at: expect.any(String) },
    });
    expect(await read()).toEqual(first);
  });

  it('concurrent first reads of the publishable keys return the same keys', async () => {
    for (let round = 0; round < 5; round++) {
      org = await api.newOrg();
      const answers = await Promise.all(Array.from({ length: 8 }, read));
      expect(new Set(answers.map((a) => JSON.stringify(a))).size).toBe(1);
    }
  });

  it('publishable keys are rotated per mode, without affecting the other mode', async () => {
    const before = await read();
    const { status, body } = await api.request('POST', `${base()}/publishable-keys/live/rotate`, as());
    expect([status, body.data]).toEqual([200, { mode: 'live', key: expect.stringMatching(/^svc_pk_live_/) }]);
    const after = await read();
    expect(after.test).toEqual(before.test);
    expect([after.live.key, after.live.key === before.live.key]).toEqual([body.data.key, false]);
  });

  it('a request for the publishable key of an unknown mode gets 400', async () => {
    expect((await api.request('POST', `${base()}/publishable-keys/staging/rotate`, as())).status).toBe(400);
  });
});

describe('tokens of keys', () => {
  it('the token of a key fails the check of its checksum when a character is changed', () => {
    for (const token of [newToken('secret', 'test'), newToken('publishable', 'live'), newToken('secret', 'legacy')]) {
      expect(wellFormed(token)).toBe(true);
      for (const at of [token.length - 1, token.length - 10, token.length - 30]) {
        const changed = token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1);
        expect([changed, wellFormed(changed)]).toEqual([changed, false]);
      }
    }
  });

  it('no two keys have the same token', () => {
    expect(new Set(Array.from({ length: 1000 }, () => newToken('secret', 'test'))).size).toBe(1000);
  });
});
