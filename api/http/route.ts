/**
 * A route is an operation of a contract with its guard and handler. serve.ts handles everything else in the same way
 * for every route.
 */
import { z } from 'zod';
import type { Guard, PrincipalOf } from '../access/auth.ts';
import { id, warning } from '../base/contract/common.ts';
import type { Head, Method, Operation, ParameterOf } from '../base/contract/operation.ts';
import { modeQuery, mode as modeSchema } from '../access/contract/mode.ts';
import type { Context } from '../context.ts';
import type { UploadedFile } from './upload.ts';
import type { ErrorCode } from '../../models/rules/base/errors.ts';
import type { RateName } from '../../models/rules/base/rates.ts';

/**
 * Access to the browser's cookies, which bind a sign-in, or the connection of an account at another service, to one
 * browser. Handlers get it on open routes and on routes that members may call.
 */
export type Cookies = {
  get(name: string): string | undefined;
  /** A browser does not send a `strict` cookie with a request that another site began. The default is `lax`. */
  set(name: string, value: string, maxAgeSeconds: number, sameSite?: 'lax' | 'strict'): void;
  /** Whether a page of this server sent the request, as the browser states in `Sec-Fetch-Site`. */
  ownPage: boolean;
};

/**
 * A `key` route takes API keys and the logins of members. An API key comes from a backend, which has no cookies, so
 * cookies are optional on such a route.
 */
type CookiesOf<G extends Guard> = G extends { kind: 'open' | 'member' }
  ? Cookies
  : G extends { kind: 'key' }
    ? Cookies | undefined
    : undefined;

type Input<S> = S extends z.ZodType ? z.infer<S> : undefined;

/** The path parameters: ids, unless the operation states their schema. */
type ParamsOf<H extends string, P> = P extends undefined ? Record<ParameterOf<H>, string> : Input<P>;

type Definition<
  G extends Guard,
  H extends Head,
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends z.ZodType | undefined,
  U extends boolean,
  W extends boolean,
  R extends z.ZodObject,
> = {
  summary: string;
  auth: G;
  /**
   * With `ignored`, parameters that `query` does not list are ignored instead of refused. Other services call such a
   * URL, and add parameters of their own.
   */
  otherParameters?: 'ignored';
  /**
   * The largest body, or largest file of a form, in bytes. Default: 1 MiB; 16 KiB for an `open` route or a route
   * without a body; `config.maxUploadBytes` for a file.
   */
  maxBytes?: number;
  /** The status of a successful reply; 200 by default. */
  status?: number;
  /** Other statuses that the handler may return by `withStatus`. */
  otherStatuses?: number[];
  /**
   * The rate limit in `config.rates`; requests count per credential (per address for open routes). The default is
   * `writes`, and `none` for GET and for signed requests.
   */
  limit?: RateName | 'none';
  /** When the content of a reply becomes invalid; an `Idempotency-Key` does not return the reply after that. */
  endOf?(reply: z.input<R>): Date;
  /**
   * The route changes nothing, so a retry under an `Idempotency-Key` runs again instead of getting the stored reply.
   */
  asksOnly?: boolean;
  /** The error codes of the handler, for the OpenAPI document. `errorsOf` adds those of guard, body and rate limit. */
  errors?: ErrorCode[];
  handle(
    input: {
      params: ParamsOf<H, P>;
      query: Input<Q>;
      body: Input<B>;
      file: U extends true ? UploadedFile : undefined;
      raw: W extends true ? Buffer : undefined;
      principal: PrincipalOf<G>;
      /**
       * Ids of the request, one computed with each secret key, newest first; empty without an `Idempotency-Key`. A
       * retry has at least one id in common with the first attempt, even if the first reply was not stored (503). So a
       * handler can recognize a change that an earlier attempt has made: it stores the first id with the change, and
       * looks for a change with any of the ids.
       */
      commandIds: readonly string[];
      /** The browser's cookies; undefined for callers that are not browsers. Most handlers need none. */
      cookies: CookiesOf<G>;
    },
    ctx: Context,
  ): Promise<z.input<R> | WithStatus<z.input<R>> | Redirect>;
};

/** A route without its type parameters, for lists of routes. */
export type Route = Omit<
  Definition<
    Guard,
    Head,
    z.ZodObject | undefined,
    z.ZodObject | undefined,
    z.ZodType | undefined,
    boolean,
    boolean,
    z.ZodObject
  >,
  'handle' | 'limit'
> &
  Omit<Operation, 'head' | 'query'> & {
    method: Method;
    /** The path below `/v1`. */
    path: string;
    query: z.ZodObject;
    status: number;
    /** Whether replies are wrapped as `{ success, data }`: on open routes and on routes that take a dashboard login. */
    envelope: boolean;
    limit: RateName | undefined;
    handle(input: never, ctx: Context): Promise<unknown>;
  };

export class WithStatus<T> {
  readonly status: number;
  readonly value: T;
  readonly headers: Record<string, string>;
  constructor(status: number, value: T, headers: Record<string, string> = {}) {
    this.status = status;
    this.value = value;
    this.headers = headers;
  }
}
/**
 * A reply with another status than the route's own (the status must be in `otherStatuses`), or with headers. The
 * headers are not stored for an `Idempotency-Key`.
 */
export const withStatus = <T>(status: number, value: T, headers?: Record<string, string>) =>
  new WithStatus(status, value, headers);

export class Redirect {
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
}
/**
 * A redirect (302) of the browser. The URL must not come from the caller, because a link to this server could then lead
 * to any site.
 */
export const redirect = (url: string) => new Redirect(url);

/** Infers a handler's types from the operation's path and schemas. */
export function route<
  const H extends Head,
  const G extends Guard,
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends z.ZodType | undefined,
  U extends boolean,
  W extends boolean,
  R extends z.ZodObject,
>({ head, ...operation }: Operation<H, P, Q, B, U, W, R>, definition: Definition<G, H, P, Q, B, U, W, R>): Route {
  const { auth } = definition;
  const { reply } = operation;
  const [method, path] = head.split(' ') as [Method, string];
  const names = [...path.matchAll(/\{(\w+)\}/gu)].map((match) => [match[1], id]);
  const byKey = auth.kind === 'key' || auth.kind === 'self';
  const own: z.ZodObject = operation.query ?? z.object({});
  const query = auth.kind === 'key' ? own.extend(modeQuery.shape) : own;
  const { limit = method === 'GET' || auth.kind === 'signature' ? 'none' : 'writes' } = definition;
  return {
    ...operation,
    ...definition,
    method,
    path,
    params: operation.params ?? (names.length > 0 ? z.object(Object.fromEntries(names)) : undefined),
    envelope: auth.kind === 'open' || auth.kind === 'jwt' || auth.kind === 'member',
    limit: limit === 'none' ? undefined : limit,
    status: definition.status ?? 200,
    // While an organization is not live, its live key acts in test mode, and every reply to the key contains the mode
    // and a warning. A member chooses the mode by query (spec 4.8).
    reply: byKey
      ? reply.extend({ mode: reply.shape['mode'] ?? modeSchema.optional(), warning: warning.optional() })
      : reply,
    query: definition.otherParameters === 'ignored' ? query : query.strict(),
  };
}

/** Whether a reply is stored for the request's `Idempotency-Key`. */
export const keepsReply = ({ method, asksOnly }: Pick<Route, 'method' | 'asksOnly'>): boolean =>
  method === 'POST' && asksOnly !== true;
