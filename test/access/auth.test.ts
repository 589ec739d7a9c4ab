/**
 * Sign-in with e-mail and password: accounts, refusals that reveal nothing, and rate limits that hold against parallel
 * guesses.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { sharedDatabase } from '../kit/database.ts';
import { system } from '../kit/harness.ts';
import { createGate, createPasswords } from '../../api/access/passwords.ts';

const api = system();
const password = 'a long enough password';
const newEmail = () => `${randomUUID()}@example.com`;
const register = (body: Record<string, unknown>) =>
  api.request('POST', '/auth/register', { body: { email: newEmail(), password, name: 'Ada', ...body } });
const login = (email: string, given = password) =>
  api.request('POST', '/auth/login', { body: { email, password: given } });

const db = sharedDatabase();

describe('POST /auth/register', () => {
  it('registration creates an account without an organization, and logs the user in', async () => {
    const email = newEmail();
    const { status, headers, body } = await register({ email });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      success: true,
      data: {
        token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        user: { userId: expect.stringMatching(/^usr_/), email, name: 'Ada' },
        organizations: [],
      },
    });
  });

  it('a registration with `company` makes the user the owner of a sandbox organization', async () => {
    const { body } = await register({ company: 'Analytical Engines' });
    const [membership] = body.data.organizations;
    expect(membership).toEqual({ org_id: expect.stringMatching(/^org_/), name: 'Analytical Engines', role: 'owner' });
    const org = await api.request('GET', `/orgs/${membership.org_id}`, { token: body.data.token });
    expect(org.body.data).toMatchObject({ name: 'Analytical Engines', role: 'owner', environment: 'sandbox' });
  });

  it('a second registration of an address in any spelling gets 409 and creates no organization', async () => {
    const email = newEmail();
    expect((await register({ email: ` ${email.toUpperCase()} ` })).body.data.user.email).toBe(email);
    const company = `Company ${randomUUID()}`;
    const second = await register({ email, company });
    expect([second.status, second.body.code]).toEqual([409, 'EMAIL_TAKEN']);
    expect(await db().collection('organizations').countDocuments({ name: company })).toBe(0);
  });

  it('exactly one of several concurrent registrations of an address succeeds', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => register({ email, company: `Racer ${i}` })));
    expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    const winner = answers.find((a) => a.status === 201)!.body.data;
    expect(await db().collection('organizations').countDocuments({ 'members.user_id': winner.user.userId })).toBe(1);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['no address', { email: 'nobody' }, 'email'],
    ['two addresses', { email: 'a@b.example, c@d.example' }, 'email'],
    ['a line break in the address', { email: 'a@b.example\nBcc: c@d.example' }, 'email'],
    ['an endless address', { email: `${'a'.repeat(250)}@b.example` }, 'email'],
    ['a short password', { password: 'elevenchars' }, 'password'],
    ['an endless password', { password: 'x'.repeat(129) }, 'password'],
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: '   ' }, 'name'],
    ['a name of two lines', { name: 'Ada\nLovelace' }, 'name'],
    ['an endless company name', { company: 'x'.repeat(101) }, 'company'],
    ['a missing name', { name: undefined }, 'name'],
  ])('registration refuses %s with 400 naming the field', async (_, body, field) => {
    const answer = await register(body);
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([
      400,
      'VALIDATION',
      ['body', field],
    ]);
  });

  it('registration stores the password as argon2id with OWASP’s parameters, and nowhere in plain text', async () => {
    const secret = `pass-${randomUUID()}`;
    const email = newEmail();
    await api.request('POST', '/auth/register', {
      body: { email, password: secret, name: 'Ada' },
      headers: { 'idempotency-key': randomUUID() },
    });
    const stored = await db().collection('users').findOne({ email });
    expect(stored!['password_hash']).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    for (const { name } of await db().listCollections({}, { nameOnly: true }).toArray()) {
      if (/^(system|files)/.test(name)) continue;
      const rows = await db().collection(name).find().toArray();
      expect([name, JSON.stringify(rows).includes(secret)]).toEqual([name, false]);
    }
  });
});

describe('POST /auth/login', () => {
  it('login returns a token that verifies with the published keys and is valid for 7 days', async () => {
    const { email, password: right } = await api.newUser();
    const { status, body } = await login(` ${email.toUpperCase()}`, right);
    expect(status).toBe(200);
    const jwks = await (await fetch(`${api.url}/.well-known/jwks.json`)).json();
    expect(JSON.stringify(jwks)).not.toContain('"d"');
    const { payload, protectedHeader } = await jwtVerify(body.data.token, createLocalJWKSet(jwks as never), {
      issuer: 'http://127.0.0.1:3000',
      audience: 'dashboard',
    });
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: expect.any(String) });
    expect(payload.exp! - payload.iat!).toBe(7 * 86_400);
    expect(body.data.expires_at).toBe(new Date(payload.exp! * 1000).toISOString());
  });

  it('login answers a wrong password and an unknown address identically', async () => {
    const { email } = await api.newUser();
    const wrong = await login(email, 'not the password');
    const unknown = await login(newEmail(), 'not the password');
    const { request_id: _, ...said } = wrong.body;
    expect([wrong.status, said]).toEqual([401, { code: 'BAD_LOGIN', error: expect.any(String) }]);
    expect(unknown).toMatchObject({ status: wrong.status, body: said });
    const names = (headers: Headers) => [...headers.keys()].sort();
    expect(names(unknown.headers)).toEqual(names(wrong.headers));
  });

  it('after five failed logins, even a login with the right password gets 429 with Retry-After', async () => {
    const { email, password: right } = await api.newUser();
    for (let i = 0; i < 5; i++) expect((await login(email, 'not the password')).status).toBe(401);
    const closed = await login(email, right);
    expect([closed.status, closed.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(closed.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const other = await api.newUser();
    expect((await login(other.email, other.password)).status).toBe(200);
  });

  it('after five failed logins with an unknown address, the next login with that address gets 429', async () => {
    const email = newEmail();
    for (let i = 0; i < 5; i++) expect((await login(email)).status).toBe(401);
    expect((await login(email)).status).toBe(429);
  });

  it('of twenty concurrent logins with wrong passwords, five are checked, and fifteen get 429', async () => {
    const { email } = await api.newUser();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => login(email, `guess number ${i}`)));
    const count = (status: number) => answers.filter((a) => a.status === status).length;
    expect([count(401), count(429)]).toEqual([5, 15]);
  });

  it('successful logins do not count towards the limit of failed logins', async () => {
    const { email, password: right } = await api.newUser();
    for (let i = 0; i < 4; i++) await login(email, 'not the password');
    for (let i = 0; i < 8; i++) expect((await login(email, right)).status).toBe(200);
    expect((await login(email, 'not the password')).status).toBe(401);
    expect((await login(email, right)).status).toBe(429);
  });

  it('login treats composed and decomposed letters in a password as equal', async () => {
    const email = newEmail();
    await register({ email, password: 'pässwörter sind lang'.normalize('NFC') });
    expect((await login(email, 'pässwörter sind lang'.normalize('NFD'))).status).toBe(200);
  });
});

describe('GET /auth/me', () => {
  it('GET /auth/me returns the user and their organizations', async () => {
    const { owner, orgId } = await api.newOrg();
    const { status, body } = await api.request('GET', '/auth/me', { token: owner.token });
    expect([status, body.data]).toEqual([
      200,
      {
        user: { userId: owner.userId, email: owner.email, name: 'Test Person' },
        organizations: [{ org_id: orgId, name: 'Test Organization', role: 'owner' }],
      },
    ]);
  });

  it('GET /auth/me refuses every token issued before the account was signed out everywhere', async () => {
    const user = await api.newUser();
    await db()
      .collection<{ _id: string }>('users')
      .updateOne({ _id: user.userId }, { $inc: { epoch: 1 } });
    const { status, body } = await api.request('GET', '/auth/me', { token: user.token });
    expect([status, body.code]).toEqual([401, 'UNAUTHENTICATED']);
    const again = await login(user.email, user.password);
    expect((await api.request('GET', '/auth/me', { token: again.body.data.token })).status).toBe(200);
  });

  it('GET /auth/me refuses the token of a deleted account', async () => {
    const user = await api.newUser();
    await db().collection<{ _id: string }>('users').deleteOne({ _id: user.userId });
    expect((await api.request('GET', '/auth/me', { token: user.token })).status).toBe(401);
  });
});

describe('passwords', () => {
  it('passwords are checked at the same cost for an account that does not exist', async () => {
    const checked: string[] = [];
    const passwords = createPasswords({
      hash: (text, cost) => Promise.resolve(`${JSON.stringify(cost)}:${text as string}`),
      verify: (stored, text) => {
        checked.push(stored as string);
        return Promise.resolve((stored as string).endsWith(`:${text as string}`));
      },
    });
    const stored = await passwords.hash(password);
    expect(await passwords.verify(stored, password)).toBe(true);
    expect(await passwords.verify(undefined, password)).toBe(false);
    expect(await passwords.verify(undefined, 'nobody has this password')).toBe(false);
    const costs = checked.map((text) => text.slice(0, text.lastIndexOf(':')));
    expect(costs).toEqual(Array(3).fill('{"memoryCost":19456,"timeCost":2,"parallelism":1}'));
  });

  it('a request that needs a password hash gets 503 while the queue of passwords to hash is full', async () => {
    const gate = createGate(2, 1);
    let running = 0;
    let most = 0;
    const releases: (() => void)[] = [];
    const work = async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => releases.push(resolve));
      running--;
    };
    const three = [gate(work), gate(work), gate(work)];
    await expect(gate(work)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    for (let done = 0; done < 3; done++) {
      releases.shift()!();
      await three[done];
    }
    expect(most).toBe(2);
    await expect(gate(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(gate(() => Promise.resolve('free again'))).resolves.toBe('free again');
  });
});
