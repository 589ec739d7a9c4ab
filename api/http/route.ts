/**
 * A route is one literal: contract, guard and handler together. `serve` does the rest for every route alike:
 * authenticate, authorize, limit, parse, handle once per Idempotency-Key, strip the reply to its schema, envelope.
 */
import type { RouterContext, RouterMiddleware } from '@koa/router';
import { z } from 'zod';
import { addressOf } from './address.ts';
import {
  type Authenticator,
  credentialId,
  type Guard,
  type Principal,
  type PrincipalOf,
  type TenantPrincipal,
} from '../access/auth.ts';
import { parseInput, type ParsedInput, type UploadedFile } from './body.ts';
import { modeQuery, mode as modeSchema, warning } from '../contract/common.ts';
import type { Context } from '../context.ts';
import { toDetails } from './errors.ts';
import { once } from './idempotency.ts';
import type { Limiter, RateName } from './limits.ts';
import { Problem, type ErrorCode } from '../../models/rules/base/errors.ts';

/** A browser's cookies, for sign-in: open routes only. */
export type Cookies = {
  get(name: string): string | undefined;
  set(name: string, value: string, maxAgeSeconds: number): void;
};

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Input<S> = S extends z.ZodType ? z.infer<S> : undefined;

type Definition<
  G extends Guard,
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends z.ZodType | undefined,
  U extends boolean,
  R extends z.ZodObject,
> = {
  /** Also the OpenAPI operationId: a verb and its noun. */
  name: string;
  method: Method;
  /** As in the specification, below `/v1`: `/orgs/{orgId}/documents`. */
  path: string;
  summary: string;
  auth: G;
  params?: P;
  query?: Q;
  /** JSON, or the form's text fields when `upload` is true. */
  body?: B;
  /** Whether the body is a multipart form with one file in the field `file`. */
  upload?: U;
  /** 200 unless told. */
  status?: number;
  /** Other statuses that `withStatus` may give. */
  otherStatuses?: number[];
  reply: R;
  /** Counted per credential (per address for open routes) against `config.rates`. */
  limit?: RateName;
  /** When what a reply holds has ended: an `Idempotency-Key` does not give it again after that. */
  endOf?(reply: z.input<R>): Date;
  /** Changes nothing, so that a request repeated under an `Idempotency-Key` is simply answered anew. */
  asksOnly?: boolean;
  /** Problems of this route's own, for the OpenAPI document. */
  errors?: ErrorCode[];
  handle(
    input: {
      params: Input<P>;
      query: Input<Q>;
      body: Input<B>;
      file: U extends true ? UploadedFile : undefined;
      principal: PrincipalOf<G>;
      /** What a handler may need of the raw request; most need nothing. */
      cookies: G extends { kind: 'open' } ? Cookies : undefined;
    },
    ctx: Context,
  ): Promise<z.input<R> | WithStatus<z.input<R>> | Redirect>;
};

/** A route with its types folded away, as the lists hold it. */
export type Route = Omit<
  Definition<Guard, z.ZodObject | undefined, z.ZodObject | undefined, z.ZodType | undefined, boolean, z.ZodObject>,
  'handle'
> & {
  status: number;
  /** Whether answers are `{ success, data }`: the dashboard's routes, not those a key or a session may call. */
  envelope: boolean;
  handle(input: never, ctx: Context): Promise<unknown>;
};

class WithStatus<T> {
  readonly status: number;
  readonly value: T;
  constructor(status: number, value: T) {
    this.status = status;
    this.value = value;
  }
}
/** A reply with another status than the route's own; list it in `otherStatuses`. */
export const withStatus = <T>(status: number, value: T) => new WithStatus(status, value);

class Redirect {
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
}
/** A reply that sends the browser on, for a route whose `status` is 302. The address must not come from the caller. */
export const redirect = (url: string) => new Redirect(url);

/** Types a handler by its schemas. */
export function route<
  const G extends Guard,
  R extends z.ZodObject,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  U extends boolean = false,
>(definition: Definition<G, P, Q, B, U, R>): Route {
  const { auth, reply, query } = definition;
  const byKey = auth.kind === 'key' || auth.kind === 'self';
  return {
    ...definition,
    status: definition.status ?? 200,
    envelope: !byKey && auth.kind !== 'session',
    // A downgraded live key is told so on every object answer; a member chooses the mode by query (spec 4.8).
    reply: byKey
      ? reply.extend({ mode: reply.shape['mode'] ?? modeSchema.optional(), warning: warning.optional() })
      : reply,
    ...(auth.kind === 'key' ? { query: (query ?? z.object({})).extend(modeQuery.shape) } : {}),
  };
}

/** Whether a reply is kept for the request's `Idempotency-Key`. */
export const keepsReply = ({ method, asksOnly }: Pick<Route, 'method' | 'asksOnly'>): boolean =>
  method === 'POST' && asksOnly !== true;

/** The middleware of one route. */
export function serve(
  route: Route,
  ctx: Context,
  shared: { authenticate: Authenticator; limit: Limiter },
): RouterMiddleware {
  const handle = route.handle as (
    input: ParsedInput & { principal: Principal; cookies: unknown },
    ctx: Context,
  ) => Promise<unknown>;
  return async (koa) => {
    const chosen = route.auth.kind === 'key' && koa.querystring ? parse(modeQuery, koa.query, 'query') : {};
    const principal = await shared.authenticate({
      guard: route.auth,
      authorization: koa.get('authorization') || undefined,
      orgId: koa.params['orgId'],
      mode: chosen.mode ?? chosen.environment,
      address: addressOf(koa.req, ctx.config.trustProxy),
    });
    koa.state['orgId'] = 'orgId' in principal ? principal.orgId : undefined;
    if (route.limit) koa.set(await shared.limit(route.limit, credentialId(principal)));
    await using input = await parseInput(route, koa, ctx.config);
    const cookies = route.auth.kind === 'open' ? cookiesOf(koa, ctx) : undefined;
    const answer = async () => {
      const result = await handle({ ...input, principal, cookies }, ctx);
      if (result instanceof Redirect) {
        koa.set('location', result.url);
        return { status: route.status, body: '' };
      }
      const { status, value } = result instanceof WithStatus ? result : { status: route.status, value: result };
      const until = route.endOf?.(value as Record<string, unknown>);
      return { status, body: present(route, principal, value), ...(until ? { until } : {}) };
    };
    const idempotencyKey = keepsReply(route) ? koa.headers['idempotency-key'] : undefined;
    const reply =
      idempotencyKey === undefined
        ? await answer()
        : await once(
            ctx,
            {
              credential: credentialId(principal),
              // As routed: a path may be written in several ways.
              route: `${route.method} ${route.path} ${JSON.stringify(input.params)}`,
              key: String(idempotencyKey),
              fingerprint: input.fingerprint(),
            },
            answer,
          );
    if ('replayed' in reply && reply.replayed) koa.set('Idempotent-Replayed', 'true');
    koa.status = reply.status;
    // Answers belong to one caller; some hold a secret, and a GET would else be stored.
    koa.set('cache-control', 'no-store');
    if (reply.body) koa.type = 'application/json';
    koa.body = reply.body;
  };
}

/** Sign-in through a browser is bound to it by a cookie. Secure is how browsers reach us, not the last hop of a proxy. */
function cookiesOf(koa: RouterContext, ctx: Context): Cookies {
  const secure = (koa.cookies.secure = ctx.config.publicUrl.startsWith('https:'));
  return {
    get: (name) => koa.cookies.get(name),
    set: (name, value, maxAgeSeconds) =>
      void koa.cookies.set(name, value, { httpOnly: true, sameSite: 'lax', secure, maxAge: maxAgeSeconds * 1000 }),
  };
}

/** Strips the reply to its schema, adds the downgraded key's warning, and wraps it as its route does. */
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

/** Parses or throws `VALIDATION` with every offending field. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, place: 'body' | 'query' | 'params'): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Problem('VALIDATION', { details: toDetails(parsed.error, place) });
  return parsed.data;
}
