/**
 * Everything that a route definition can declare, tested on a served app with its own routes: signatures, raw bodies,
 * limits and envelopes.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import pino from 'pino';
import { z } from 'zod';
import { open, signature, type SignatureProvider } from '../../api/access/auth.ts';
import { pageQuery } from '../../api/base/contract/common.ts';
import { createApp } from '../../api/http/app.ts';
import type { Context } from '../../api/context.ts';
import { createMetrics } from '../../api/http/metrics.ts';
import { operation } from '../../api/base/contract/operation.ts';
import { route } from '../../api/http/route.ts';
import { routeGroups } from '../../api/routes.ts';
import { readConfig } from '../../config.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { listening } from '../kit/listening.ts';

const now = new Date('2026-01-02T03:04:05Z');
const secret = 'shared';
const hmac = (body: string | Uint8Array) => createHmac('sha256', secret).update(body).digest('hex');

/** Signs the bytes of the body in `x-acme-signature`, together with the time in `x-acme-time`. */
const acme: SignatureProvider<{ id: string; workspace: string }> = {
  name: 'acme',
  header: 'x-acme-signature',
  verify({ headers, body, now: moment }, { config }) {
    const given = Buffer.from(String(headers['x-acme-signature'] ?? ''), 'hex');
    const right = Buffer.from(hmac(body), 'hex');
    const signed = given.length === right.length && timingSafeEqual(given, right);
    const fresh = headers['x-acme-time'] === moment.toISOString();
    if (!signed || !fresh) throw new Problem('UNAUTHENTICATED', { message: 'This was not signed by acme.' });
    return Promise.resolve({ id: 'sender-1', workspace: config.host });
  },
};

const handled = jest.fn();
const reply = z.object({ sender: z.string().optional(), seen: z.string() });
const groups = {
  Test: [
    route(operation('receiveEvent', 'POST /hooks/event', { body: z.looseObject({ action: z.string() }), reply }), {
      summary: 'A signed body that is parsed.',
      auth: signature(acme),
      otherParameters: 'ignored',
      handle({ body, principal }) {
        handled(principal);
        return Promise.resolve({ sender: principal.sender.workspace, seen: body.action });
      },
    }),
    route(operation('receiveBytes', 'POST /hooks/bytes', { raw: true, reply }), {
      summary: 'A signed body as it was sent.',
      auth: signature(acme),
      maxBytes: 300,
      handle: ({ raw, principal }) => Promise.resolve({ sender: principal.sender.id, seen: raw.toString('hex') }),
    }),
    route(operation('takeBytes', 'POST /bytes', { raw: true, reply }), {
      summary: 'Bytes of anybody.',
      auth: open,
      limit: 'none',
      handle: ({ raw }) => Promise.resolve({ seen: raw.toString('hex') }),
    }),
    route(operation('takeText', 'POST /text', { body: z.strictObject({ text: z.string() }), reply }), {
      summary: 'A short JSON body.',
      auth: open,
      maxBytes: 100,
      limit: 'none',
      handle: ({ body }) => Promise.resolve({ seen: body.text }),
    }),
    route(operation('listThings', 'GET /things', { query: pageQuery, reply }), {
      summary: 'A page of a list.',
      auth: open,
      handle: ({ query }) => Promise.resolve({ seen: String(query.limit) }),
    }),
    route(operation('openLink', 'GET /links/{token}', { params: z.object({ token: z.string() }), reply }), {
      summary: 'A link whose handler fails.',
      auth: open,
      limit: 'none',
      handle: () => Promise.reject(new Error('The handler failed.')),
    }),
  ],
};

/** The lines of the log of failed requests. */
const logged: string[] = [];
let folder: string;
let url: string;
let close: () => Promise<void>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'route-'));
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) });
  const ctx = { config: readConfig({ DATA_DIR: folder }), log, clock: () => now } as Context;
  const served = await listening(createServer(createApp(ctx, createMetrics(), undefined, groups).callback()));
  url = `${served.url}/v1`;
  ({ close } = served);
});
afterAll(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

async function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}${path}`, { method: 'POST', body, headers });
  // oxlint-disable-next-line typescript/no-explicit-any -- what a reply holds is what its test finds out
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}
const signed = (body: string | Uint8Array, more: Record<string, string> = {}) => ({
  'x-acme-signature': hmac(body),
  'x-acme-time': now.toISOString(),
  ...more,
});

const event = '{"action":"opened","more":1}';

describe('signature(provider)', () => {
  it('a signed route gives its handler the verified sender and the parsed body', async () => {
    expect(await post('/hooks/event', event, signed(event))).toMatchObject({
      status: 200,
      body: { sender: '127.0.0.1', seen: 'opened' },
    });
    expect(handled).toHaveBeenLastCalledWith(
      expect.objectContaining({
        kind: 'signature',
        provider: 'acme',
        sender: { id: 'sender-1', workspace: '127.0.0.1' },
      }),
    );
  });

  it('a signature is verified over the raw bytes, whatever content type they have', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const { status, body } = await post('/hooks/bytes', bytes, signed(bytes, { 'content-type': 'application/json' }));
    expect([status, body]).toEqual([200, { sender: 'sender-1', seen: Buffer.from(bytes).toString('hex') }]);
  });

  it.each<[string, string, Record<string, string>]>([
    ['no signature', event, {}],
    ['the signature of another body', event, signed('{}')],
    ['a signature of another time', event, signed(event, { 'x-acme-time': '2026-01-01T00:00:00.000Z' })],
    ['a body that is not JSON, unsigned', '{"action":', {}],
    ['a body that the schema refuses, unsigned', '{}', {}],
    ['nothing at all', '', {}],
    ['an API key in its place', event, { authorization: 'Bearer svc_sk_test_a' }],
  ])(
    'a request with an invalid signature is refused with 401, and is not parsed or handled: %s',
    async (_, body, headers) => {
      handled.mockClear();
      const answer = await post('/hooks/event', body, headers);
      expect([answer.status, answer.body.code, answer.body.error]).toEqual([
        401,
        'UNAUTHENTICATED',
        'This was not signed by acme.',
      ]);
      // A bearer token would not be accepted, so the answer does not ask for one.
      expect(answer.headers.get('www-authenticate')).toBeNull();
      expect(handled).not.toHaveBeenCalled();
    },
  );

  it('a correctly signed body that is not JSON or lacks a required field is refused', async () => {
    expect((await post('/hooks/event', '{"action":', signed('{"action":'))).body.code).toBe('MALFORMED_JSON');
    expect((await post('/hooks/event', '{}', signed('{}'))).body.details[0].path).toEqual(['body', 'action']);
  });

  it('a correctly signed body over the size limit is refused with 413', async () => {
    const long = 'x'.repeat(301);
    expect((await post('/hooks/bytes', long, signed(long))).status).toBe(413);
  });
});

describe('raw', () => {
  it('a route with a raw body gives its handler the bytes exactly as they were sent', async () => {
    const { status, body } = await post('/bytes', Uint8Array.of(0, 255, 10));
    expect([status, body]).toEqual([200, { success: true, data: { seen: '00ff0a' } }]);
  });

  it('the raw body of a public route is limited to 16 KiB', async () => {
    expect((await post('/bytes', 'x'.repeat(16_384))).status).toBe(200);
    expect((await post('/bytes', 'x'.repeat(16_385))).status).toBe(413);
  });
});

describe('maxBytes', () => {
  it('maxBytes limits a JSON body, and the error names the limit', async () => {
    const json = { 'content-type': 'application/json' };
    const bodyOf = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes - 11) });
    expect((await post('/text', bodyOf(100), json)).body).toEqual({ success: true, data: { seen: 'x'.repeat(89) } });
    const { status, body } = await post('/text', bodyOf(101), json);
    expect([status, body.error]).toEqual([413, expect.stringContaining('100 bytes')]);
  });
});

describe('the log of a failed request', () => {
  it.each(['/links/secret-token', '/links/secret-token/'])(
    'the log of a failed request to %s names its route, and not the token in its path',
    async (path) => {
      logged.length = 0;
      const { status } = await fetch(`${url}${path}`);
      expect([status, logged.length, logged[0]]).toEqual([500, 1, expect.stringContaining('/v1/links/:token')]);
      expect(logged[0]).not.toContain('secret-token');
    },
  );
});

describe('the limit parameter of a list', () => {
  it.each([
    ['1', 200, '1'],
    ['100', 200, '100'],
    ['101', 200, '100'],
    ['1000000', 200, '100'],
    ['0', 400, undefined],
    ['-1', 400, undefined],
    ['1.5', 400, undefined],
    ['many', 400, undefined],
  ])(
    'a request for a list with the limit %s gets the status %i, and a list never has more than 100 entries',
    async (limit, status, seen) => {
      const answer = await fetch(`${url}/things?limit=${limit}`);
      expect([answer.status, ((await answer.json()) as { data?: { seen: string } }).data?.seen]).toEqual([
        status,
        seen,
      ]);
    },
  );
});

describe('query parameters', () => {
  const ask = async (path: string) => {
    const answer = await fetch(`${url}${path}`);
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    return { status: answer.status, body: (await answer.json()) as any };
  };

  it('unknown query parameters are refused by name, and the answer lists the known ones', async () => {
    const { status, body } = await ask('/things?search=card&limit=1&__proto__=x');
    const message = 'is not a parameter here; this route takes limit, cursor';
    expect([status, body.code, body.error]).toEqual([400, 'VALIDATION', `search: ${message}, and 1 more; see details`]);
    expect(body.details).toEqual([
      { path: ['query', 'search'], message },
      { path: ['query', '__proto__'], message },
    ]);
  });

  it('query parameters are refused where a route takes none, whatever the method', async () => {
    const { status, body } = await post('/text?text=a', '{"text":"a"}', { 'content-type': 'application/json' });
    expect([status, body.error]).toEqual([400, 'text: is not a parameter here; this route takes none']);
    expect((await ask('/openapi.json?pretty=1')).status).toBe(400);
  });

  it.each([
    ['limit=1&limit=2', 'limit: is given more than once; give it once'],
    ['cursor=a&cursor=a', 'cursor: is given more than once; give it once'],
    ['limit[]=1', 'limit[]: is not a parameter here; this route takes limit, cursor'],
    ['limit=', 'limit: must be a whole number of at least 1'],
    ['=1', ': is not a parameter here; this route takes limit, cursor'],
  ])('the query %s is refused with 400', async (query, message) => {
    const { status, body } = await ask(`/things?${query}`);
    expect([status, body.error]).toEqual([400, message]);
  });

  it('unknown query parameters are ignored where the route allows them', async () => {
    expect((await post('/hooks/event?tenant=7&tenant=8', event, signed(event))).status).toBe(200);
    expect((await post('/hooks/bytes?tenant=7', event, signed(event))).status).toBe(400);
  });

  it('unknown query parameters are ignored only by routes that providers call, or to which providers redirect browsers', () => {
    const lax = Object.values(routeGroups).flatMap((routes) =>
      routes.filter((each) => each.otherParameters === 'ignored'),
    );
    expect(lax.map(({ name }) => name).toSorted()).toEqual(
      [
        ...Object.values(routeGroups).flatMap((routes) => routes.filter(({ auth }) => auth.kind === 'signature')),
        ...Object.values(routeGroups).flatMap((routes) => routes.filter(({ path }) => path.endsWith('/callback'))),
      ]
        .map(({ name }) => name)
        .toSorted(),
    );
  });
});

describe('the OpenAPI document', () => {
  it('the OpenAPI document of signed and raw routes is valid, names the signature header and describes raw bodies', async () => {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- as above
    expect((await new Validator().validate(document)).errors ?? []).toEqual([]);
    const event = document['paths']['/hooks/event'].post;
    expect(event.security).toEqual([{ acmeSignature: [] }]);
    expect(document['components'].securitySchemes.acmeSignature).toMatchObject({
      type: 'apiKey',
      in: 'header',
      name: 'x-acme-signature',
    });
    expect(Object.keys(event.responses)).toContain('401');
    expect(Object.keys(event.responses['401'].headers)).not.toContain('WWW-Authenticate');
    const bytes = document['paths']['/hooks/bytes'].post;
    expect(bytes.requestBody.content).toEqual({ '*/*': { schema: { type: 'string', format: 'binary' } } });
  });
});
