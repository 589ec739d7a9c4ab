/**
 * The middleware of a route: authenticate, authorize, rate limit, parse, handle once per Idempotency-Key, strip the
 * reply to its schema, wrap it in the envelope.
 */
import { rm } from 'node:fs/promises';
import type { RouterContext, RouterMiddleware } from '@koa/router';
import { z } from 'zod';
import { credentialId, type Principal, type TenantPrincipal } from '../access/auth.ts';
import type { Authenticator } from '../access/authenticator.ts';
import { tokenInBrowser } from '../access/browserlogin.ts';
import { addressOf } from './address.ts';
import { bytesReader, jsonOf, jsonReader, refuseNested } from './body.ts';
import { modeQuery } from '../access/contract/mode.ts';
import type { Context } from '../context.ts';
import { commandIdsOf, once, type KeyedRequest, type Reply } from './idempotency.ts';
import type { Limiter } from './limits.ts';
import { type Cookies, keepsReply, Redirect, type Route, WithStatus } from './route.ts';
import { readForm, type UploadedFile } from './upload.ts';
import { parse } from './validate.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Mode } from '../../models/rules/access/keys.ts';

const maxBodyBytes = 1024 * 1024;
/**
 * The largest body of open routes, and of routes that take no body. It has room for an e-mail, a password and a name.
 */
const maxOpenBodyBytes = 16 * 1024;
/**
 * The schema of routes that take no body. Such a route reads the body nevertheless, and refuses any body except an
 * empty object.
 */
const noBody = z.strictObject({});

type Body = { fields?: unknown; file?: UploadedFile | undefined; raw?: Buffer | undefined };
type Input = Omit<Body, 'fields'> & { params: unknown; query: unknown; body: unknown };
type Handle = (
  input: Input & { principal: Principal; cookies: Cookies | undefined; commandIds: readonly string[] },
  ctx: Context,
) => Promise<unknown>;

export function serve(
  route: Route,
  ctx: Context,
  shared: { authenticate: Authenticator; limit: Limiter },
): RouterMiddleware {
  const handle = route.handle as Handle;
  const readBody = bodyReader(route, ctx);
  const readSigned = bytesReader(limitOf(route));
  return async (koa) => {
    koa.state['guard'] = route.auth.kind;
    const signed =
      route.auth.kind === 'signature'
        ? { headers: koa.headers, body: await readSigned(koa), now: ctx.clock() }
        : undefined;
    const principal = await shared.authenticate({
      guard: route.auth,
      authorization: koa.get('authorization') || loginInBrowser(route, koa, ctx),
      orgId: koa.params['orgId'],
      mode: modeAskedFor(route, koa),
      address: addressOf(koa.req, ctx.config.trustProxy),
      signed,
    });
    koa.state['orgId'] = 'orgId' in principal ? principal.orgId : undefined;
    if (route.limit) koa.set(await shared.limit(route.limit, credentialId(principal)));
    const params = route.params ? parse(route.params, koa.params, 'params') : undefined;
    const query = parse(route.query, koa.query, 'query');
    const { fields, file, raw } = signed ? readAgain(route, signed.body) : await readBody(koa);
    try {
      const input = { params, query, body: parseBody(route, fields), file, raw };
      const cookies = fromBrowser(route, principal) ? cookiesOf(koa, ctx) : undefined;
      const keyed = keyedRequest(ctx, route, { koa, principal, input });
      const commandIds = keyed ? commandIdsOf(keyed) : [];
      const answer = () => answerOf(route, principal, () => handle({ ...input, principal, cookies, commandIds }, ctx));
      // A retry under an Idempotency-Key gets the first reply.
      send(koa, keyed ? await once(ctx, keyed, answer) : await answer());
    } finally {
      if (file) await rm(file.path, { force: true });
    }
  };
}

function modeAskedFor(route: Route, koa: RouterContext): Mode | undefined {
  if (route.auth.kind !== 'key' || !koa.querystring) return undefined;
  const { mode, environment } = parse(modeQuery, koa.query, 'query');
  return mode ?? environment;
}

function limitOf({ maxBytes, body, raw, auth }: Route): number {
  return maxBytes ?? ((body || raw) && auth.kind !== 'open' ? maxBodyBytes : maxOpenBodyBytes);
}

function bodyReader(route: Route, { config }: Context): (koa: RouterContext) => Promise<Body> {
  if (route.method === 'GET') return () => Promise.resolve({});
  if (route.upload) return (koa) => readForm(koa, route.maxBytes ?? config.maxUploadBytes);
  if (route.raw) {
    const readBytes = bytesReader(limitOf(route));
    return async (koa) => ({ raw: await readBytes(koa) });
  }
  const readJson = jsonReader(limitOf(route));
  return async (koa) => ({ fields: await readJson(koa) });
}

/** The body of a signed request. Its bytes were read already to verify the signature. */
function readAgain(route: Route, bytes: Buffer): Body {
  if (!route.raw) return { fields: jsonOf(bytes) };
  refuseNested(bytes);
  return { raw: bytes };
}

function parseBody(route: Route, fields: unknown): unknown {
  if (route.body) return parse(route.body, fields, 'body');
  if (fields !== undefined) parse(noBody, fields, 'body');
  return undefined;
}

/** A handler's result, serialized for sending. */
type Answer = Reply & { location?: string; headers?: Record<string, string> };

async function answerOf(route: Route, principal: Principal, handle: () => Promise<unknown>): Promise<Answer> {
  const result = await handle();
  if (result instanceof Redirect) return { status: 302, body: '', location: result.url };
  const { status, value, headers } = result instanceof WithStatus ? result : new WithStatus(route.status, result);
  const until = route.endOf?.(value as Record<string, unknown>);
  return { status, body: present(route, principal, value), headers, ...(until ? { until } : {}) };
}

/** The data for idempotency, if the request has an Idempotency-Key and the route stores its replies. */
function keyedRequest(
  ctx: Context,
  route: Route,
  { koa, principal, input }: { koa: RouterContext; principal: Principal; input: Input },
): KeyedRequest | undefined {
  const key = keepsReply(route) ? koa.headers['idempotency-key'] : undefined;
  if (key === undefined) return undefined;
  return {
    credential: credentialId(principal),
    // The path pattern and the parsed parameters identify the route, because the same URL path can be written in
    // several ways.
    route: `${route.method} ${route.path} ${JSON.stringify(input.params)}`,
    key: String(key),
    fingerprints: fingerprintsOf(input, ctx.secrets),
  };
}

/**
 * The request's fingerprint with each secret key, newest first. A fingerprint is an HMAC because a body may contain a
 * password, which could be guessed from a plain hash in a stolen database.
 */
function fingerprintsOf({ body, query, file, raw }: Input, { macs }: SecretBox): string[] {
  const said = JSON.stringify([body, query, file && [file.filename, file.sha256], raw?.toString('base64')]);
  return macs('idempotency', said).map((mac) => mac.toString('hex'));
}

function send(
  koa: RouterContext,
  { status, body, location, headers = {}, replayed }: Answer & { replayed?: boolean },
): void {
  koa.set(headers);
  if (location !== undefined) koa.set('location', location);
  if (replayed) koa.set('Idempotent-Replayed', 'true');
  koa.status = status;
  // A reply is for one caller and may contain a secret. Without this header, a cache could store the reply to a GET.
  koa.set('cache-control', 'no-store');
  if (body) koa.type = 'application/json';
  koa.body = body;
}

const fromBrowser = ({ auth }: Route, { kind }: Principal): boolean =>
  auth.kind === 'open' || auth.kind === 'member' || (auth.kind === 'key' && kind === 'member');

/**
 * Reads and sets cookies that bind a sign-in to a browser. `secure` depends on the public URL, because a proxy may
 * connect to this process without TLS.
 */
function cookiesOf(koa: RouterContext, ctx: Context): Cookies {
  const secure = (koa.cookies.secure = ctx.config.publicUrl.startsWith('https:'));
  return {
    get: (name) => koa.cookies.get(name),
    set: (name, value, maxAgeSeconds, sameSite = 'lax') =>
      void koa.cookies.set(name, value, { httpOnly: true, sameSite, secure, maxAge: maxAgeSeconds * 1000 }),
    ownPage: koa.get('sec-fetch-site') === 'same-origin',
  };
}

/**
 * The `Authorization` value for a request of the page `/app`: the login token from its cookie. Undefined without a
 * login, and on routes that do not accept a member's login.
 */
function loginInBrowser({ auth }: Route, koa: RouterContext, ctx: Context): string | undefined {
  if (auth.kind !== 'jwt' && auth.kind !== 'member' && auth.kind !== 'key') return undefined;
  const token = tokenInBrowser(cookiesOf(koa, ctx), ctx.config);
  return token && `Bearer ${token}`;
}

/**
 * Strips the reply to its schema, adds the warning for a downgraded key, and wraps it in the envelope if the route has
 * one.
 */
function present(route: Route, principal: Principal, value: unknown): string {
  const noted =
    'downgraded' in principal && principal.downgraded
      ? { mode: principal.mode, ...(value as object), warning: downgradeWarning(principal) }
      : value;
  const reply = route.reply.parse(noted);
  return JSON.stringify(route.envelope ? { success: true, data: reply } : reply);
}

function downgradeWarning(principal: TenantPrincipal) {
  const message = `This organization is not live yet, so the live key acted in ${principal.mode} mode. Take the organization live to use it.`;
  return { code: 'LIVE_KEY_NOT_ACTIVE' as const, message };
}
