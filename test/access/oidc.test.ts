/**
 * Federated sign-in against a real identity provider: who may sign in to which account, and every attempt that must
 * fail.
 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import { startIdentityProvider, type IdentityProvider, type Person } from '../kit/oidc-server.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { box } from '../kit/inbound.ts';

const callback = (provider: string) => `http://127.0.0.1:3000/v1/auth/oidc/${provider}/callback`;

let main: IdentityProvider;
let second: IdentityProvider;
let dying: IdentityProvider;
let env: SystemEnv;
let running: Running;
let api: Api;
let client: MongoClient;
let db: Db;
beforeAll(async () => {
  // The provider logs long warnings that its configuration is not for production.
  for (const method of ['info', 'warn'] as const) jest.spyOn(console, method).mockImplementation(() => undefined);
  main = await startIdentityProvider([callback('main'), callback('bad-secret')]);
  second = await startIdentityProvider([callback('second')], { idTokenClaims: true });
  dying = await startIdentityProvider([callback('dying')]);
  const of = (idp: IdentityProvider) => ({
    issuer: idp.issuer,
    client_id: idp.clientId,
    client_secret: idp.clientSecret,
  });
  env = systemEnv('oidc', {
    OIDC_PROVIDERS: JSON.stringify({
      main: of(main),
      second: of(second),
      dying: of(dying),
      'bad-secret': { ...of(main), client_secret: 'not the secret' },
      // `gone` has no listener; `plain` uses http to another machine, which is refused before anything is sent.
      gone: { ...of(main), issuer: 'http://127.0.0.1:9' },
      plain: { ...of(main), issuer: 'http://idp.example' },
    }),
  });
  running = await startProcess('api/server.ts', env);
  api = apiAt(running.url);
  client = await openClient(process.env['TEST_MONGODB_URI']!);
  db = client.db('oidc');
});
afterAll(async () => {
  await Promise.all([running.stop(), main.close(), second.close(), client.close()]);
  await removeDataDir(env);
});

const newPerson = (more: Partial<Person> = {}): Person => ({
  sub: randomUUID(),
  email: `${randomUUID()}@example.com`,
  email_verified: true,
  name: 'Grace',
  ...more,
});

/** The first half of a sign-in: our redirect, and the browser's way through the provider to the callback URL. */
async function begin(person: Person | undefined, provider = 'main', query = '') {
  const idp = { second, dying }[provider] ?? main;
  idp.person = person;
  const start = await api.request('GET', `/auth/oidc/${provider}/start${query}`);
  expect(start.status).toBe(302);
  const cookie = start.headers.getSetCookie()[0]!;
  const jar = new Map<string, string>();
  let location = start.headers.get('location')!;
  const way: string[] = [];
  while (!location.startsWith('http://127.0.0.1:3000/')) {
    if (way.push(location) > 10) throw new Error(`The provider sends the browser round in circles:\n${way.join('\n')}`);
    const response = await fetch(location, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      jar.set(name!, value!);
    }
    const next = response.headers.get('location');
    if (!next) throw new Error(`The provider stopped at ${location}: ${response.status} ${await response.text()}`);
    location = new URL(next, location).href;
  }
  const back = new URL(location);
  return {
    start: new URL(start.headers.get('location')!),
    setCookie: cookie,
    cookie: cookie.split(';')[0]!,
    path: back.pathname + back.search,
    params: back.searchParams,
  };
}
const finish = (path: string, cookie?: string) => api.request('GET', path, cookie ? { headers: { cookie } } : {});
async function signIn(person: Person | undefined, provider = 'main') {
  const { path, cookie } = await begin(person, provider);
  return finish(path, cookie);
}
const me = (token: string) => api.request('GET', '/auth/me', { token });
const password = 'a password from before';
async function registered(email: string) {
  const { body } = await api.request('POST', '/auth/register', { body: { email, password, name: 'Registered' } });
  return body.data as { token: string; user: { userId: string } };
}

it('requests to OAuth callback routes have a rate limit separate from that of registrations', async () => {
  for (const path of ['/auth/oidc/main/callback', '/integrations/slack/callback', '/support/mcp/oauth/callback'])
    expect((await api.request('GET', path)).headers.get('ratelimit-policy')).toMatch(/^"callbacks";/);
});

describe('GET /auth/oidc/{provider}/start', () => {
  it('starting a sign-in redirects with state, nonce and PKCE, and binds the sign-in to the browser by a cookie', async () => {
    const { start, setCookie } = await begin(newPerson());
    expect(start.origin).toBe(main.issuer);
    const params = Object.fromEntries(start.searchParams);
    expect(params).toMatchObject({
      response_type: 'code',
      client_id: main.clientId,
      redirect_uri: callback('main'),
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect([name, params[name]!.length]).toEqual([name, 43]);
    expect(setCookie).toMatch(/^oidc_[0-9a-f]{16}=[\w-]{43};/);
    expect(setCookie.toLowerCase()).toMatch(/; httponly/);
    expect(setCookie.toLowerCase()).toMatch(/; samesite=lax/);
    const kept = JSON.stringify(await db.collection('one_time_states').find().toArray());
    for (const secret of [params['state']!, params['nonce']!, setCookie.slice(22, 65)])
      expect(kept).not.toContain(secret);
  });

  it.each(['nobody', '__proto__', 'constructor', 'toString', '%2e%2e'])(
    'starting a sign-in answers 404 for the unknown provider %s',
    async (provider) => {
      expect((await api.request('GET', `/auth/oidc/${provider}/start`)).status).toBe(404);
      expect((await api.request('GET', `/auth/oidc/${provider}/callback?state=a&code=b`)).status).toBe(404);
    },
  );

  it.each(['gone', 'plain'])(
    'starting a sign-in answers 503 when the provider %s cannot be reached',
    async (provider) => {
      const { status, body } = await api.request('GET', `/auth/oidc/${provider}/start`);
      expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
    },
  );
});

describe('GET /auth/oidc/{provider}/callback', () => {
  it.each(['main', 'second'])(
    'a federated sign-in creates an account for a new person (%s), and finds it at the next sign-in',
    async (provider) => {
      const person = newPerson({ picture: 'https://example.com/grace.png' });
      const { status, headers, body } = await signIn(person, provider);
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(body.data).toMatchObject({
        user: { email: person.email, name: 'Grace', picture: person.picture },
        organizations: [],
      });
      expect((await me(body.data.token)).body.data.user).toEqual(body.data.user);
      const again = await signIn({ ...person, email: `${randomUUID()}@example.com` }, provider);
      expect(again.body.data.user).toEqual(body.data.user);
    },
  );

  it('a sign-in that the page /app began returns to that page with a login cookie, and no token is in the reply', async () => {
    const person = newPerson();
    const { path, cookie } = await begin(person, 'main', '?page=app');
    const { status, headers, body } = await finish(path, cookie);
    expect([status, headers.get('location'), body]).toEqual([302, 'http://127.0.0.1:3000/app', '']);
    const login = headers.getSetCookie().find((set) => set.startsWith('login='))!;
    expect(login).toMatch(/samesite=strict; httponly/i);
    const own = { cookie: login.split(';')[0]!, 'sec-fetch-site': 'same-origin' };
    const who = await api.request('GET', '/auth/me', { headers: own });
    expect(who.body.data.user.email).toBe(person.email);
  });

  it('a federated sign-in removes its own cookie when the sign-in is completed', async () => {
    const { path, cookie } = await begin(newPerson());
    const { headers } = await finish(path, cookie);
    expect(headers.getSetCookie()[0]).toMatch(/^oidc_[0-9a-f]{16}=; .*expires=Thu, 01 Jan 1970/i);
  });

  it('a federated sign-in creates one account for a person who finishes in several tabs at the same time', async () => {
    const person = newPerson();
    const tabs = [await begin(person), await begin(person), await begin(person)];
    const answers = await Promise.all(tabs.map(({ path, cookie }) => finish(path, cookie)));
    expect(answers.map((a) => a.status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map((a) => a.body.data.user.userId)).size).toBe(1);
  });

  it('a federated sign-in takes over an account with the same, but unproven, address, and ends that account’s password and tokens', async () => {
    const person = newPerson();
    const squatter = await registered(person.email!);
    expect((await me(squatter.token)).status).toBe(200);
    const { body } = await signIn({ ...person, email: person.email!.toUpperCase() });
    expect(body.data.user).toMatchObject({ userId: squatter.user.userId, name: 'Registered' });
    expect((await me(squatter.token)).status).toBe(401);
    const login = await api.request('POST', '/auth/login', { body: { email: person.email, password } });
    expect([login.status, login.body.code]).toEqual([401, 'BAD_LOGIN']);
    expect((await me(body.data.token)).status).toBe(200);
  });

  it('a federated sign-in adds a second identity to an account with a verified address, and the account’s logins stay valid', async () => {
    const person = newPerson();
    const first = await signIn(person);
    const other = await signIn(newPerson({ email: person.email! }), 'second');
    expect(other.body.data.user.userId).toBe(first.body.data.user.userId);
    expect((await me(first.body.data.token)).status).toBe(200);
    expect((await signIn(person)).body.data.user.userId).toBe(first.body.data.user.userId);
  });

  it('a federated sign-in gives an account created by an unverified identity to the verified owner, and removes the unverified identity', async () => {
    const email = `${randomUUID()}@example.com`;
    const squatter = newPerson({ email, email_verified: false });
    const first = await signIn(squatter);
    expect(first.status).toBe(200);
    const owner = await signIn(newPerson({ email }), 'second');
    expect(owner.body.data.user.userId).toBe(first.body.data.user.userId);
    expect((await me(first.body.data.token)).status).toBe(401);
    expect((await signIn(squatter)).body.code).toBe('FEDERATED_LOGIN_FAILED');
  });

  it('a federated sign-in marks the account’s address as proven only when the provider has verified that same address', async () => {
    const org = await api.newOrg();
    const person = newPerson({ email_verified: false });
    const added = (email: string) =>
      api.request('POST', `/orgs/${org.orgId}/members`, { token: org.owner.token, body: { email, role: 'member' } });
    const first = await signIn(person);
    expect((await added(person.email!)).status).toBe(202);
    await signIn({ ...person, email_verified: true, email: `${randomUUID()}@example.com` });
    expect((await added(person.email!)).status).toBe(202);
    const proven = await signIn({ ...person, email_verified: true });
    expect(proven.body.data.user).toEqual(first.body.data.user);
    const { status, body } = await added(person.email!);
    expect([status, body.data?.member]).toMatchObject([201, { email: person.email, email_verified: true }]);
  });

  it('an organization cannot go live (403) while none of its owners has a proven address', async () => {
    const person = newPerson();
    const owner = await registered(person.email!);
    const made = await api.request('POST', '/orgs', { token: owner.token, body: { name: 'Fresh' } });
    const live = (token: string) =>
      api.request('PUT', `/support/config/orgs/${made.body.data.org_id}`, {
        token,
        body: { environment: 'production' },
      });
    const refused = await live(owner.token);
    expect([refused.status, refused.body.code]).toEqual([403, 'EMAIL_UNVERIFIED']);
    const { token } = (await signIn(person)).body.data;
    expect((await live(token)).body.environment).toBe('production');
  });

  it('a federated sign-in proves the address of an account with a password, so that the account can be added to an organization', async () => {
    const org = await api.newOrg();
    const person = newPerson();
    await registered(person.email!);
    const add = () =>
      api.request('POST', `/orgs/${org.orgId}/members`, {
        token: org.owner.token,
        body: { email: person.email, role: 'member' },
      });
    expect((await add()).status).toBe(202);
    await signIn(person);
    expect((await add()).status).toBe(201);
  });

  it.each([false, undefined, 'true', 1])(
    'a person whose provider says email_verified %j is not signed in to the existing account with the same address: 401',
    async (email_verified) => {
      const person = newPerson();
      const owner = await registered(person.email!);
      if (email_verified === undefined) delete person.email_verified;
      else person.email_verified = email_verified as boolean;
      const { status, body } = await signIn(person);
      expect([status, body.code]).toEqual([401, 'FEDERATED_LOGIN_FAILED']);
      expect((await me(owner.token)).status).toBe(200);
    },
  );

  it.each([undefined, '', 'not an address', 'a@b.example, c@d.example'])(
    'a person without a valid address (%j) is not signed in: 401',
    async (email) => {
      const person = newPerson();
      if (email === undefined) delete person.email;
      else person.email = email;
      expect((await signIn(person)).body.code).toBe('FEDERATED_LOGIN_FAILED');
    },
  );

  it('a federated sign-in drops line breaks from the name, and a picture that is not https', async () => {
    const { body } = await signIn(newPerson({ name: ' Grace\r\nHopper\u0000 ', picture: 'javascript:alert(1)' }));
    expect(body.data.user.name).toBe('Grace Hopper');
    expect(body.data.user).not.toHaveProperty('picture');
  });
});

describe('a callback is refused (401)', () => {
  const refused = async (path: string, cookie?: string) => {
    const { status, body } = await finish(path, cookie);
    expect([status, body.code]).toEqual([401, 'FEDERATED_LOGIN_FAILED']);
    expect(body).not.toHaveProperty('data');
  };
  const edited = (path: string, change: (params: URLSearchParams) => void) => {
    const url = new URL(path, 'http://x');
    change(url.searchParams);
    return url.pathname + url.search;
  };

  it('a repeated sign-in callback is refused', async () => {
    const { path, cookie } = await begin(newPerson());
    expect((await finish(path, cookie)).status).toBe(200);
    await refused(path, cookie);
  });

  it('the log of a refused callback has the reason, but not the values that the browser sent', async () => {
    const { path, cookie, params } = await begin(newPerson());
    const { body } = await finish(
      edited(path, (p) => p.set('iss', second.issuer)),
      cookie,
    );
    const logged = () =>
      running
        .output()
        .split('\n')
        .find((text) => text.includes(body.request_id));
    await until(() => Promise.resolve(logged() !== undefined), 'the line in the log');
    expect(JSON.parse(logged()!)).toMatchObject({
      level: 40,
      status: 401,
      code: 'FEDERATED_LOGIN_FAILED',
      err: { message: expect.stringMatching(/iss/) },
    });
    for (const secret of [cookie.split('=')[1]!, params.get('code')!, params.get('state')!])
      expect(logged()).not.toContain(secret);
  });

  it('one of several concurrent repetitions of a callback succeeds, and the others are refused', async () => {
    const { path, cookie } = await begin(newPerson());
    const answers = await Promise.all([finish(path, cookie), finish(path, cookie), finish(path, cookie)]);
    expect(answers.map((a) => a.status).sort()).toEqual([200, 401, 401]);
  });

  it('a callback in another browser is refused, while the right browser can still finish', async () => {
    const mine = await begin(newPerson());
    const theirs = await begin(newPerson());
    await refused(mine.path);
    await refused(mine.path, theirs.cookie);
    await refused(mine.path, `${mine.cookie.split('=')[0]}=${theirs.cookie.split('=')[1]}`);
    expect((await finish(mine.path, mine.cookie)).status).toBe(200);
  });

  it('a callback to another provider’s URL is refused', async () => {
    const { path, cookie } = await begin(newPerson());
    await refused(path.replace('/oidc/main/', '/oidc/second/'), cookie);
  });

  it('a callback with the code of another sign-in is refused', async () => {
    const mine = await begin(newPerson());
    const theirs = await begin(newPerson());
    await refused(
      edited(mine.path, (p) => p.set('code', theirs.params.get('code')!)),
      mine.cookie,
    );
  });

  it.each(['state', 'code', 'iss'])('a callback with a changed %s is refused', async (name) => {
    const { path, cookie } = await begin(newPerson());
    await refused(
      edited(path, (p) => p.set(name, name === 'iss' ? second.issuer : 'changed')),
      cookie,
    );
  });

  it.each(['state', 'code', 'iss'])('a callback without %s is refused', async (name) => {
    const { path, cookie } = await begin(newPerson());
    await refused(
      edited(path, (p) => p.delete(name)),
      cookie,
    );
  });

  it('a callback after ten minutes is refused', async () => {
    const before = Date.now();
    const { path, cookie } = await begin(newPerson());
    const { expires_at } = (
      await db
        .collection('one_time_states')
        .find({ purpose: /^oidc:/ })
        .sort({ expires_at: -1 })
        .limit(1)
        .toArray()
    )[0]!;
    const end = (expires_at as Date).getTime();
    expect(end).toBeGreaterThanOrEqual(before + 600_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 600_000);
    await db.collection('one_time_states').updateMany({}, { $set: { expires_at: new Date(Date.now() - 1) } });
    await refused(path, cookie);
  });

  it('a callback is refused when the person denied access', async () => {
    const { path, cookie, params } = await begin(undefined);
    expect(params.get('error')).toBe('access_denied');
    await refused(path, cookie);
  });

  it('a callback is refused when the provider rejects our client secret', async () => {
    const { path, cookie } = await begin(newPerson(), 'bad-secret');
    await refused(path, cookie);
  });

  it.each([
    ['whose ID token was made for another sign-in (nonce)', (kept: object) => ({ ...kept, nonce: 'another nonce' })],
    ['whose code was asked for by somebody else (PKCE)', (kept: object) => ({ ...kept, verifier: 'v'.repeat(43) })],
  ])('a callback %s is refused', async (_, change) => {
    const { path, cookie, params } = await begin(newPerson());
    const id = createHash('sha256').update(params.get('state')!).digest('hex');
    const states = db.collection<{ _id: string; sealed: string }>('one_time_states');
    const place = { field: 'one_time_states.sealed', record: id };
    const { sealed } = (await states.findOne({ _id: id }))!;
    await states.updateOne(
      { _id: id },
      { $set: { sealed: box.seal(JSON.stringify(change(JSON.parse(box.open(sealed, place)) as object)), place) } },
    );
    await refused(path, cookie);
  });
});

describe('a provider that is unreachable after the redirect', () => {
  it('a sign-in gets 503 and not a refusal when the provider is unreachable after the redirect', async () => {
    const { path, cookie } = await begin(newPerson(), 'dying');
    await dying.close();
    const { status, body } = await finish(path, cookie);
    expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
  });
});
