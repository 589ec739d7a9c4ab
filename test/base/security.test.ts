/**
 * Every route is called with every kind of credential that it must refuse. The tests are generated from the list of
 * routes.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { SignJWT, generateKeyPair } from 'jose';
import { allScopes, system, until, type TestOrg } from '../kit/harness.ts';
import type { Route } from '../../api/http/route.ts';
import { routeGroups } from '../../api/routes.ts';
import type { Scope } from '../../models/rules/access/keys.ts';

const api = system();
const routes = Object.values(routeGroups).flat();
const guarded = routes.filter((route) => route.auth.kind !== 'open');
const label = (route: Route) => `${route.method} ${route.path}`;
const keyOnly = (route: Route) => route.auth.kind === 'key' && route.auth.keyOnly;
const of = (...kinds: string[]) => guarded.filter((route) => kinds.includes(route.auth.kind));

/** Sends a request whose content does not matter, because the caller is authenticated before the body is read. */
function call(route: Route, orgId: string, token: string | undefined) {
  const path = route.path.replace('{orgId}', orgId).replaceAll(/\{\w+\}/g, 'nothing');
  return api.request(route.method, path, { token, ...(route.body ? { body: {} } : {}) });
}

let mine: TestOrg;
let other: TestOrg;
let key: string;
let otherKey: string;
let revoked: string;
let outsider: string;
let publishable: string;
let session: string;
let otherSession: string;
let endedSession: string;
const withScopes = new Map<string, string>();

beforeAll(async () => {
  [mine, other] = await Promise.all([api.newOrg(), api.newOrg()]);
  key = (await api.newKey(mine)).token;
  otherKey = (await api.newKey(other)).token;
  outsider = (await api.newUser()).token;
  const doomed = await api.newKey(mine);
  revoked = doomed.token;
  await api.request('DELETE', `/support/developer-keys/orgs/${mine.orgId}/keys/${doomed.keyId}`, {
    token: mine.owner.token,
  });
  await until(
    async () => (await api.request('GET', '/support/developer-keys/self', { token: revoked })).status === 401,
    'the revocation',
  );
  session = (await api.newSession(mine, { key })).token;
  otherSession = (await api.newSession(other, { key: otherKey })).token;
  const ended = await api.newSession(mine, { key });
  endedSession = ended.token;
  await api.request('POST', `/support/sessions/orgs/${mine.orgId}/${ended.sessionId}/revoke`, {
    token: mine.owner.token,
  });
  const keys = await api.request('GET', `/support/developer-keys/orgs/${mine.orgId}/publishable-keys`, {
    token: mine.owner.token,
  });
  publishable = keys.body.data.test.key;
  for (const missing of allScopes) {
    const scopes = allScopes.filter((scope) => scope !== missing);
    withScopes.set(missing, (await api.newKey(mine, { scopes })).token);
  }
});

/** Tokens with a correct checksum that were never issued, and other texts that look like credentials. */
async function forgeries(): Promise<Record<string, string>> {
  const { privateKey } = await generateKeyPair('EdDSA');
  const forged = await new SignJWT({ epoch: 0 })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'ours' })
    .setSubject(mine.owner.userId)
    .setIssuer('http://127.0.0.1:3000')
    .setAudience('dashboard')
    .setExpirationTime('1h')
    .sign(privateKey);
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ sub: mine.owner.userId, exp: 4e9 })).toString('base64url')}.`;
  return {
    'a cut key': key.slice(0, -1),
    'a key with a changed character': `${key.slice(0, 20)}${key[20] === 'A' ? 'B' : 'A'}${key.slice(21)}`,
    'the hash of a key': createHash('sha256').update(key).digest('hex'),
    'a JWT signed by somebody else': forged,
    'an unsigned JWT': none,
    'a login with a changed signature': `${mine.owner.token.slice(0, -4)}AAAA`,
    'a session with a changed signature': `${session.slice(0, -4)}AAAA`,
    nonsense: 'undefined',
  };
}

/**
 * The routes that are called with every malformed credential: the first of each kind, because routes of a kind share
 * the code that reads credentials, and all signed routes, because each provider reads the header by its own code. The
 * other routes take turns.
 */
const kindOf = ({ auth }: Route): string =>
  `${auth.kind} ${'keyOnly' in auth && auth.keyOnly} ${auth.kind === 'self' && auth.scope !== undefined}`;
const completely = new Set([...Map.groupBy(guarded, kindOf).values()].map(([first]) => first));
for (const route of of('signature')) completely.add(route);

describe('missing and malformed credentials', () => {
  it.each(guarded.map((route, at) => [label(route), route, at] as const))(
    '%s refuses missing and malformed credentials with 401',
    async (_, route, at) => {
      const chosen = <T>(all: readonly T[]): readonly T[] => (completely.has(route) ? all : [all[at % all.length]!]);
      const { status, headers } = await call(route, mine.orgId, undefined);
      // A signed route requires the signature of its provider, which is not a scheme of this header.
      const scheme = route.auth.kind === 'signature' ? null : 'Bearer';
      expect([status, headers.get('www-authenticate')]).toEqual([401, scheme]);
      for (const authorization of chosen(['Bearer', 'Bearer  ', `Basic ${key}`, `Bearer ${key} ${key}`, key])) {
        const path = route.path.replace('{orgId}', mine.orgId).replaceAll(/\{\w+\}/g, 'nothing');
        const { status, body } = await api.request(route.method, path, { headers: { authorization } });
        expect([authorization.slice(0, 8), status, body.code]).toEqual([
          authorization.slice(0, 8),
          401,
          'UNAUTHENTICATED',
        ]);
      }
      for (const [name, token] of chosen(Object.entries(await forgeries()))) {
        expect([name, (await call(route, mine.orgId, token)).status]).toEqual([name, 401]);
      }
    },
  );
});

describe('the wrong kind of credential', () => {
  it.each(of('jwt', 'member', 'session').map((route) => [label(route), route] as const))(
    '%s refuses an API key with 401',
    async (_, route) => {
      expect((await call(route, mine.orgId, key)).body.code).toBe('WRONG_CREDENTIAL_KIND');
    },
  );
  it.each([...of('self'), ...guarded.filter(keyOnly)].map((route) => [label(route), route] as const))(
    '%s refuses the token of a login with 401 WRONG_CREDENTIAL_KIND',
    async (_, route) => {
      expect((await call(route, mine.orgId, mine.owner.token)).body.code).toBe('WRONG_CREDENTIAL_KIND');
    },
  );
  it.each(of('session').map((route) => [label(route), route] as const))(
    '%s refuses the token of a login with 401',
    async (_, route) => {
      expect((await call(route, mine.orgId, mine.owner.token)).status).toBe(401);
    },
  );
  it.each(of('jwt', 'member', 'key', 'self').map((route) => [label(route), route] as const))(
    '%s refuses a session token with 401',
    async (_, route) => {
      expect((await call(route, mine.orgId, session)).status).toBe(401);
    },
  );
  it.each(routes.filter(({ auth }) => auth.kind === 'open').map((route) => [label(route), route] as const))(
    'the open route %s gives the same answer with a session token as without one',
    async (_, route) => {
      const [without, withToken] = [await call(route, mine.orgId, undefined), await call(route, mine.orgId, session)];
      expect([withToken.status, withToken.body.code]).toEqual([without.status, without.body.code]);
    },
  );
  it.each(guarded.map((route) => [label(route), route] as const))(
    '%s refuses a publishable key with 401',
    async (_, route) => {
      expect((await call(route, mine.orgId, publishable)).status).toBe(401);
    },
  );
});

describe('a signed route', () => {
  it('a signed route refuses a key, a login and a session token in place of a signature with 401', async () => {
    for (const route of of('signature'))
      for (const token of [key, mine.owner.token, session])
        expect([label(route), (await call(route, mine.orgId, token)).status]).toEqual([label(route), 401]);
  });
});

describe('a key without the scope', () => {
  it.each(of('key').map((route) => [label(route), route] as const))(
    '%s refuses a key without its scope with 403 and names the scope',
    async (_, route) => {
      const scope = (route.auth as { scope: Scope }).scope;
      const { status, body } = await call(route, mine.orgId, withScopes.get(scope));
      expect([status, body.code]).toEqual([403, 'MISSING_SCOPE']);
      expect(body.error).toContain(scope);
    },
  );
});

describe('a revoked key', () => {
  it.each(of('key', 'self').map((route) => [label(route), route] as const))(
    '%s refuses a revoked key with 401',
    async (_, route) => {
      expect((await call(route, mine.orgId, revoked)).status).toBe(401);
    },
  );
});

describe('a session', () => {
  const taken = of('session').map((route) => [label(route), route] as const);

  it('these tests check at least three routes that accept a session', () => expect(taken.length).toBeGreaterThan(2));

  it.each(taken)('%s accepts the token of a session that is not revoked', async (_, route) => {
    expect([401, 403]).not.toContain((await call(route, mine.orgId, session)).status);
  });

  it.each(taken)('%s refuses the token of a revoked session with 401', async (_, route) => {
    expect((await call(route, mine.orgId, endedSession)).status).toBe(401);
  });
});

describe('credentials of another organization', () => {
  const withOrg = guarded.filter((route) => route.path.includes('{orgId}'));
  it.each(withOrg.map((route) => [label(route), route] as const))(
    '%s answers a credential of another organization with 404, as for a missing organization',
    async (_, route) => {
      const logins = [outsider, other.owner.token];
      const credentials = { key: keyOnly(route) ? [otherKey] : [otherKey, ...logins], session: [otherSession] }[
        route.auth.kind as string
      ];
      for (const token of credentials ?? logins) {
        const theirs = await call(route, mine.orgId, token);
        const nowhere = await call(route, 'org_00000000000000000000000000', token);
        expect([theirs.status, theirs.body.error, theirs.body.code]).toEqual([
          404,
          nowhere.body.error,
          nowhere.body.code,
        ]);
      }
    },
  );
});
