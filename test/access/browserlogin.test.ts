/** The login of the page `/app`: a cookie that no script can read, and that only the page's own requests may use. */
import { describe, expect, it } from '@jest/globals';
import { system } from '../kit/harness.ts';

const api = system();
const ownPage = { 'sec-fetch-site': 'same-origin' };

async function signedIn() {
  const org = await api.newOrg();
  const { email, password } = org.owner;
  const reply = await api.request('POST', '/auth/browser', { body: { email, password }, headers: ownPage });
  const setCookie = reply.headers.getSetCookie()[0] ?? '';
  return { org, reply, setCookie, cookie: setCookie.split(';')[0]! };
}

describe('POST and DELETE /auth/browser', () => {
  it('signing in sets a cookie that scripts and other sites do not get, and the reply has no token', async () => {
    const { org, reply, setCookie } = await signedIn();
    expect(reply.status).toBe(200);
    expect(reply.body.data).toMatchObject({ user: { email: org.owner.email }, organizations: [{ org_id: org.orgId }] });
    expect(reply.body.data).not.toHaveProperty('token');
    expect(setCookie).toMatch(/^login=[^;]+; path=\/; expires=[^;]+; samesite=strict; httponly$/i);
  });

  it('the login cookie is accepted only in requests of the page itself, and only on routes for members', async () => {
    const { org, cookie } = await signedIn();
    const get = async (path: string, headers: Record<string, string>) =>
      (await api.request('GET', path, { headers: { cookie, ...headers } })).status;
    for (const path of ['/auth/me', `/orgs/${org.orgId}/members`, `/support/inbox/orgs/${org.orgId}`]) {
      expect(await get(path, ownPage)).toBe(200);
      for (const site of ['same-site', 'cross-site', 'none'])
        expect(await get(path, { 'sec-fetch-site': site })).toBe(401);
      expect(await get(path, {})).toBe(401);
    }
    expect(await get(`/support/chat/history/${org.orgId}`, ownPage)).toBe(401);
    const stranger = await api.newOrg();
    expect(await get(`/orgs/${stranger.orgId}/members`, ownPage)).toBe(404);
  });

  it('a credential in the Authorization header is used instead of the login cookie, even when it is invalid', async () => {
    const { cookie } = await signedIn();
    const headers = { cookie, ...ownPage };
    const other = await api.newUser();
    const { body } = await api.request('GET', '/auth/me', { token: other.token, headers });
    expect(body.data.user.userId).toBe(other.userId);
    expect((await api.request('GET', '/auth/me', { token: 'nonsense', headers })).status).toBe(401);
  });

  it('a page of another origin can sign a browser neither in nor out', async () => {
    const { email, password } = await api.newUser();
    for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }])
      for (const [method, body] of [
        ['POST', { email, password }],
        ['DELETE', undefined],
      ] as const) {
        const refused = await api.request(method, '/auth/browser', { headers, ...(body ? { body } : {}) });
        expect([refused.status, refused.body.code, refused.headers.getSetCookie()]).toEqual([
          403,
          'ORIGIN_NOT_ALLOWED',
          [],
        ]);
      }
  });

  it('a wrong password sets no cookie, and signing out removes the cookie', async () => {
    const { org } = await signedIn();
    const wrong = await api.request('POST', '/auth/browser', {
      body: { email: org.owner.email, password: 'not it' },
      headers: ownPage,
    });
    expect([wrong.status, wrong.body.code, wrong.headers.getSetCookie()]).toEqual([401, 'BAD_LOGIN', []]);
    const left = await api.request('DELETE', '/auth/browser', { headers: ownPage });
    expect(left.body.data).toEqual({ signed_out: true });
    expect(left.headers.getSetCookie()[0]).toMatch(/^login=; .*expires=Thu, 01 Jan 1970/i);
  });

  it('after signing out everywhere, the login cookie is refused', async () => {
    const { cookie } = await signedIn();
    const headers = { cookie, ...ownPage };
    expect((await api.request('POST', '/auth/logout-everywhere', { headers })).status).toBe(200);
    expect((await api.request('GET', '/auth/me', { headers })).status).toBe(401);
  });

  it('the headers of the page /app forbid showing the page in a frame, running foreign scripts, and turning text into HTML', async () => {
    const { status, headers } = await fetch(`${api.url}/app/inbox/conv_1?box=all`);
    expect([status, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      200,
      'no-store',
      'no-referrer',
    ]);
    const policy = headers.get('content-security-policy')!.split('; ');
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"])
      expect(policy).toContain(rule);
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect((await fetch(`${api.url}/app/files/nothing.js`)).status).toBe(404);
  });
});
