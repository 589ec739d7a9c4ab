/**
 * Cross-origin access over HTTP for every route and in a real Chromium. Pages of other origins may use the chat with a
 * session token and read its answers. They may not read answers of routes that take an API key or a login.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import pino from 'pino';
import type { Browser, Page } from 'puppeteer';
import { startChromium, visit } from '../kit/chromium.ts';
import { system, type TestOrg, type TestSession } from '../kit/harness.ts';
import { listening, type Listening } from '../kit/listening.ts';
import { createApp } from '../../api/http/app.ts';
import type { Context } from '../../api/context.ts';
import { createMetrics } from '../../api/http/metrics.ts';
import type { Route } from '../../api/http/route.ts';
import { routeGroups } from '../../api/routes.ts';
import { readConfig } from '../../config.ts';

const api = system();
const routes: readonly Route[] = Object.values(routeGroups).flat();
const label = ({ method, path }: Route) => `${method} ${path}`;
const takesSession = ({ auth }: Route) => auth.kind === 'session';
const origin = 'https://shop.example';

let org: TestOrg;
let key: string;
let session: TestSession;
beforeAll(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
  session = await api.newSession(org, { key });
});

const pathOf = (route: Route) => route.path.replace('{orgId}', org.orgId).replaceAll(/\{\w+\}/g, 'nothing');
const preflight = (route: Route) =>
  api.request('OPTIONS', pathOf(route), {
    headers: {
      origin,
      'access-control-request-method': route.method,
      'access-control-request-headers': 'authorization,content-type',
    },
  });
/** The names of the CORS response headers. */
const permissions = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe('a preflight', () => {
  it.each(routes.filter(takesSession).map((route) => [label(route), route] as const))(
    'the preflight of %s allows pages of every origin',
    async (_, route) => {
      const { status, headers, body } = await preflight(route);
      expect([status, body]).toEqual([204, '']);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-methods')?.split(',')).toContain(route.method);
      expect(headers.get('access-control-allow-headers')?.split(',')).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
      );
      expect(headers.has('access-control-allow-credentials')).toBe(false);
    },
  );

  const others = routes.filter((route) => !takesSession(route));
  it.each(others.map((route) => [label(route), route] as const))(
    'the preflight of %s allows no page of another origin',
    async (_, route) => {
      const { status, headers } = await preflight(route);
      expect([status, permissions(headers)]).toEqual([405, []]);
    },
  );

  it.each(routes.filter(takesSession).map((route) => [label(route), route] as const))(
    'an OPTIONS request to %s that is not a preflight is refused with 405',
    async (_, route) => {
      const { status, headers } = await api.request('OPTIONS', pathOf(route), { headers: { origin } });
      expect(status).toBe(405);
      expect(headers.get('allow')?.split(', ')).not.toContain('OPTIONS');
    },
  );
});

describe('the answer to a page of another origin', () => {
  it.each(routes.map((route) => [label(route), route] as const))(
    'a page of another origin may read the refusal of %s only when the route takes a session',
    async (_, route) => {
      const headers = { origin };
      const { status, headers: given } = await api.request(route.method, pathOf(route), { headers });
      expect([status, given.get('access-control-allow-origin')]).toEqual([
        route.auth.kind === 'open' ? status : 401,
        takesSession(route) ? '*' : null,
      ]);
      expect(permissions(given)).toHaveLength(takesSession(route) ? 2 : 0);
    },
  );

  it('a page of another origin may read a server error only of a route that takes a session', async () => {
    const config = readConfig({ MONGODB_URI: 'mongodb://127.0.0.1:1/none', SECRET_KEY: 'a1'.repeat(32) });
    const tokens = {
      verifySession: () => Promise.reject(new Error('broken')),
      verify: () => Promise.reject(new Error('broken')),
    };
    const ctx = { config, tokens, log: pino({ level: 'silent' }), clock: () => new Date() } as unknown as Context;
    const { url, close } = await listening(createServer(createApp(ctx, createMetrics()).callback()));
    const asked = async (path: string) => {
      const { status, headers } = await fetch(`${url}/v1${path}`, {
        headers: { origin, authorization: 'Bearer a.b.c' },
      });
      return [status, headers.get('access-control-allow-origin')];
    };
    expect(await asked(`/support/chat/history/${org.orgId}`)).toEqual([500, '*']);
    expect(await asked(`/support/inbox/orgs/${org.orgId}`)).toEqual([500, null]);
    await close();
  });
});

describe('a page of another origin, in Chromium', () => {
  let browser: Browser;
  let shop: Listening;
  let page: Page;
  beforeAll(async () => {
    const server = createServer((_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A shop</title>');
    });
    shop = await listening(server);
    browser = await startChromium(process.env['TEST_CHROMIUM']!);
    ({ page } = await visit(browser, shop.url));
  });
  afterAll(async () => {
    await browser.close();
    await shop.close();
  });

  type Seen = { status: number; body: Record<string, unknown>; headers: Record<string, string> };
  /** What a script of the page receives, or the name of the error when the browser hides the answer. */
  const ask = (path: string, init: { method?: string; token?: string; body?: unknown } = {}): Promise<Seen | string> =>
    page.evaluate(
      async (url, { method = 'GET', token, body }) => {
        try {
          const reply = await fetch(url, {
            method,
            headers: {
              ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
              ...(body === undefined
                ? {}
                : { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          const text = await reply.text();
          return {
            status: reply.status,
            body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
            headers: Object.fromEntries(reply.headers),
          };
        } catch (error) {
          return (error as Error).name;
        }
      },
      `${api.url}/v1${path}`,
      init,
    );

  it('a page of another origin can chat over REST and read every answer, errors included', async () => {
    const { token } = session;
    const say = (body: string) => ask(`/support/chat/messages/${org.orgId}`, { method: 'POST', token, body: { body } });
    const said = (await say('Hello!')) as Seen;
    expect(said).toMatchObject({
      status: 202,
      body: { conv_id: expect.stringMatching(/^conv_/), message_id: expect.stringMatching(/^msg_/) },
      headers: { 'x-request-id': expect.any(String), ratelimit: expect.any(String) },
    });
    const { conv_id: convId } = said.body as { conv_id: string };
    for (const path of [`history/${org.orgId}`, `conversation/${org.orgId}/${convId}`]) {
      const { status, body } = (await ask(`/support/chat/${path}`, { token })) as Seen;
      expect([status, (body['messages'] as { body: string }[])[0]?.body]).toEqual([200, 'Hello!']);
    }
    expect(await ask(`/support/chat/conversations/${org.orgId}`, { token })).toMatchObject({ status: 200 });
    expect(await ask(`/support/chat/conversation/${org.orgId}/nothing`, { token })).toMatchObject({ status: 404 });
    expect(await ask(`/support/chat/history/${org.orgId}`, { token: `${token}x` })).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHENTICATED' },
    });
    // The limit is twenty messages a minute, and a new minute may start while the test sends them.
    let last = said;
    for (let count = 0; count < 50 && last.status === 202; count += 1) last = (await say('Thanks!')) as Seen;
    expect(last).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
  });

  it('a page of another origin can read no answer of a route that takes an API key or a login', async () => {
    const keyed = [`/support/inbox/orgs/${org.orgId}`, '/support/developer-keys/self', '/auth/me'];
    for (const path of keyed) {
      for (const init of [{ token: key }, { token: org.owner.token }, { token: session.token }, {}]) {
        expect([path, await ask(path, init)]).toEqual([path, 'TypeError']);
      }
    }
    const mint = { method: 'POST', token: key, body: { customer: { email: 'ada@customer.example' } } };
    expect(await ask(`/support/sessions/orgs/${org.orgId}/mint`, mint)).toBe('TypeError');
  });
});
