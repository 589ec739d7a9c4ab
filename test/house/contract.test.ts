import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { endpoints } from './endpoints.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import type { Operation } from '../../api/base/contract/operation.ts';
import { examples } from '../../api/examples.ts';
import type { Context } from '../../api/context.ts';
import { readiness } from '../../api/http/health.ts';
import { errorsOf } from '../../api/http/openapi.ts';
import { routeGroups } from '../../api/routes.ts';
import { errorTable } from '../../models/rules/base/errors.ts';

const routes = Object.values(routeGroups).flat();
const built = new Set(routes.map((route) => `${route.method} ${route.path}`));

describe('the 71 endpoints of the specification', () => {
  it('the list of specified endpoints has 71 different entries', () => {
    expect(endpoints).toHaveLength(71);
    expect(new Set(endpoints).size).toBe(71);
  });

  it.each(endpoints)('the specified endpoint %s exists as a route', (endpoint) => {
    expect([...built]).toContain(endpoint);
  });
});

describe('the operations of the contracts', () => {
  const isOperation = (value: unknown): value is Operation =>
    typeof value === 'object' && value !== null && 'head' in value;

  it('every exported operation has a route with its name, method and path, and every route has an operation', async () => {
    const api = fileURLToPath(new URL('../../api', import.meta.url));
    const files = (await readdir(api, { recursive: true })).filter((file) => /^\w+\/contract\/\w+\.ts$/.test(file));
    const exported: string[] = [];
    for (const file of files) {
      const contract = (await import(join(api, file))) as Record<string, unknown>;
      for (const [name, value] of Object.entries(contract))
        if (isOperation(value)) exported.push(`${name}: ${value.name} ${value.head}`);
    }
    expect(exported.toSorted()).toEqual(
      routes.map(({ name, method, path }) => `${name}: ${name} ${method} ${path}`).toSorted(),
    );
  });
});

describe('GET /v1/openapi.json', () => {
  it('GET /v1/openapi.json is a valid OpenAPI 3.1 document', async () => {
    const { status, body } = await system().request('GET', '/openapi.json');
    expect(status).toBe(200);
    const result = await new Validator().validate(body);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(body.openapi).toBe('3.1.0');
  });

  it('the OpenAPI document describes the statuses, problems and unique operationId of every route', async () => {
    const { body } = await system().request('GET', '/openapi.json');
    const ids = new Set<string>();
    for (const route of routes) {
      const operation = body.paths[route.path]?.[route.method.toLowerCase()];
      const statuses = [
        route.status,
        ...(route.otherStatuses ?? []),
        ...[...errorsOf(route)].map((code) => errorTable[code].status),
      ];
      expect([route.name, Object.keys(operation?.responses ?? {}).toSorted()]).toEqual([
        route.name,
        [...new Set(statuses.map(String))].toSorted(),
      ]);
      ids.add(operation.operationId);
    }
    expect(ids.size).toBe(routes.length);
  });
});

/**
 * Routes whose examples are refused for reasons that no example can avoid, such as a service that is missing or not set
 * up here.
 */
const needsMore = {
  400: ['connectSlack', 'connectEmail'],
  403: ['loginBrowser'],
  503: ['connectLinear', 'connectGithub', 'connectEmail'],
};

describe('the example of a body', () => {
  const writing = routes.filter(({ body, upload }) => body !== undefined || upload);
  let org: TestOrg;
  let key: string;
  let session: string;
  beforeAll(async () => {
    org = await system().newOrg();
    key = (await system().newKey(org)).token;
    session = (await system().newSession(org, { key })).token;
  });

  it('every example of a body belongs to a route', () => {
    expect(Object.keys(examples).filter((name) => !writing.some((route) => route.name === name))).toEqual([]);
  });

  it.each(writing.map((route) => [route.name, route] as const))(
    'the route %s accepts the example of its body',
    async (name, route) => {
      expect(examples).toHaveProperty(name);
      const { file: _file, ...given } = examples[name] as Record<string, unknown>;
      expect((route.body ?? z.strictObject({})).safeParse(given).error).toBeUndefined();
      const path = route.path.replace('{orgId}', org.orgId).replaceAll(/\{\w+\}/g, 'nothing');
      const tokens: Record<string, string> = { session, self: key, open: '' };
      const token =
        route.auth.kind === 'key' && route.auth.keyOnly ? key : (tokens[route.auth.kind] ?? org.owner.token);
      const { file, ...fields } = examples[name] as Record<string, string>;
      const form = new FormData();
      for (const [field, value] of Object.entries(fields)) form.append(field, value);
      if (file !== undefined) form.append('file', new Blob([file]), 'hours.md');
      const sent = route.upload ? { form } : { body: fields };
      const { status, body } = await system().request(route.method, path, { ...sent, ...(token ? { token } : {}) });
      const isKnown = Object.entries(needsMore).some(
        ([code, names]) => status === Number(code) && names.includes(name),
      );
      // `BAD_LOGIN` means that the example has another password. 404 and 409 mean that there is no such record, or that
      // it is in another state.
      const isTaken = status < 300 || isKnown || [404, 409, 429].includes(status) || body.code === 'BAD_LOGIN';
      expect([name, isTaken, status, body]).toEqual([name, true, status, body]);
    },
  );
});

const json = { 'content-type': 'application/json' };

describe('every request', () => {
  const api = system();

  it('every response has a request id: that of the caller when it is harmless, otherwise a new one', async () => {
    const given = await api.request('GET', '/auth/me', { headers: { 'x-request-id': 'trace-1' } });
    expect(given.headers.get('x-request-id')).toBe('trace-1');
    expect(given.body.request_id).toBe('trace-1');
    const hostile = await api.request('GET', '/auth/me', { headers: { 'x-request-id': 'a"b{}' } });
    expect(hostile.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('an unknown path is answered with 404, and an unknown method with 405 and Allow', async () => {
    const nothing = await api.request('GET', '/nothing/here');
    expect([nothing.status, nothing.body.code]).toEqual([404, 'NOT_FOUND']);
    const method = await api.request('DELETE', '/auth/login');
    expect([method.status, method.body.code, method.headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST']);
  });

  it('malformed JSON is refused with 400, other media types with 415, and a body over the limit with 413', async () => {
    const malformed = await api.request('POST', '/auth/login', { raw: '{"email":', headers: json });
    expect([malformed.status, malformed.body.code]).toEqual([400, 'MALFORMED_JSON']);
    const text = await api.request('POST', '/auth/login', {
      raw: 'email=a',
      headers: { 'content-type': 'text/plain' },
    });
    expect([text.status, text.body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const large = await api.request('POST', '/auth/login', { raw: `"${'x'.repeat(16 * 1024)}"`, headers: json });
    expect([large.status, large.body.code]).toEqual([413, 'TOO_LARGE']);
  });

  it('a route without fields refuses malformed JSON and unknown fields, and accepts an empty object', async () => {
    const org = await api.newOrg();
    const rotate = (raw: string, headers: Record<string, string> = json) =>
      api.request('POST', `/support/developer-keys/orgs/${org.orgId}/publishable-keys/test/rotate`, {
        token: org.owner.token,
        raw,
        headers,
      });
    expect((await rotate('{"nope":')).body.code).toBe('MALFORMED_JSON');
    const unknown = await rotate('{"foo":1}');
    expect([unknown.status, unknown.body.details]).toMatchObject([400, [{ path: ['body', 'foo'] }]]);
    expect((await rotate('{}')).status).toBe(200);
  });

  it('with thousands of unknown fields, the error names the first and counts the others', async () => {
    const org = await api.newOrg();
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i}-${'x'.repeat(150)}`, 0]));
    const { status, body } = await api.request('POST', '/orgs', {
      token: org.owner.token,
      body: { name: 'A', ...fields },
    });
    expect([status, body.details.length]).toEqual([400, 21]);
    expect(body.details[0].path[1]).toHaveLength(100);
    expect(body.details.at(-1)).toEqual({ path: ['body'], message: 'has 4980 more faults' });
  });

  it('a request with unknown fields is refused with 400 that names each of them', async () => {
    const { status, body } = await api.request('POST', '/auth/login', {
      body: { email: 'a@b.example', password: 'x', role: 'owner', $where: '1' },
    });
    expect(status).toBe(400);
    expect(body.details.map((d: { path: string[] }) => d.path.join('.'))).toEqual(
      expect.arrayContaining(['body.role', 'body.$where']),
    );
  });
});

describe('pages outside of /v1', () => {
  const get = (path: string) => fetch(`${process.env['TEST_API_URL']}${path}`);

  it('the start page links to all pages and shows the first calls of a new user', async () => {
    const page = await get('/');
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; style-src 'sha256-");
    expect(html).not.toMatch(/<script|style="/);
    for (const [, href] of html.matchAll(/href="(\/[^"]*)"/g))
      expect([href, (await get(href!)).status]).toEqual([href, 200]);
    expect(html).toContain('/v1/auth/register');
  });

  it('/health redirects to the readiness check', async () => {
    const reply = await fetch(`${process.env['TEST_API_URL']}/health`, { redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/health/ready']);
  });

  it('the health check shows the state of MongoDB, Temporal and the embedding models', async () => {
    expect(await (await get('/health/live')).json()).toEqual({ status: 'ok' });
    // On a busy machine MongoDB or Temporal may answer later than the check waits. The check then reports them as down.
    let last: unknown;
    await until(
      async () => {
        const reply = await get('/health/ready');
        last = [reply.status, await reply.json()];
        return reply.status === 200;
      },
      () => `the API to be ready; its last answer was ${JSON.stringify(last)}`,
    );
    expect(last).toEqual([200, { status: 'ok', mongo: 'ok', temporal: 'ok', embedding: { state: 'off' } }]);
  });

  it('the health check answers even when MongoDB and Temporal hang', async () => {
    const never = () => new Promise<never>(() => undefined);
    const temporal = { withDeadline: never } as unknown as Context['temporal'];
    expect(await readiness({ temporal }, never)).toEqual({ ready: false, mongo: 'down', temporal: 'down' });
  });

  it('metrics are Prometheus text with a histogram of requests by route', async () => {
    await system().request('GET', '/auth/me');
    const text = await (await get('/metrics')).text();
    expect(text).toMatch(/http_request_duration_seconds_count\{method="GET",route="\/v1\/auth\/me",status="401"\} \d+/);
  });

  it('the API reference and its assets are served by this server only', async () => {
    const page = await get('/docs');
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(html).not.toMatch(/https?:\/\//);
    for (const [, asset] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g))
      expect([asset, (await get(asset!)).status]).toEqual([asset, 200]);
  });
});
