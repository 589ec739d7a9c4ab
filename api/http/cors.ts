/**
 * Which answers pages of other origins may read: those of routes that take a session token, which a page holds anyway.
 * Routes that take an API key or a login never get these headers, so that no page is built that carries a secret key.
 */
import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Route } from './route.ts';

/** Headers that a page may send, and headers of an answer that it may read, beyond the defaults. */
const allowHeaders = ['authorization', 'content-type', 'idempotency-key', 'x-request-id'];
const exposeHeaders = ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'idempotent-replayed'];
/**
 * How long a browser may remember the answer to a preflight, in seconds; Chromium remembers it for two hours at most.
 */
const preflightSeconds = 7_200;

/**
 * The middleware that a route's answers, errors included, pass through; undefined when no page may read them. Any
 * origin may ask, because there are no cookies: a browser adds no credential that the page did not set.
 */
export function readableBy(route: Pick<Route, 'auth'>): Middleware | undefined {
  return route.auth.kind === 'session' ? cors({ origin: '*', exposeHeaders, keepHeadersOnError: false }) : undefined;
}

/** The middleware that answers preflights, by path. A path that takes only API keys or logins has none. */
export function preflights(routes: readonly Route[]): Map<string, Middleware> {
  const readable = Map.groupBy(
    routes.filter((route) => readableBy(route)),
    ({ path }) => path,
  );
  return new Map(
    [...readable].map(([path, found]) => {
      const allowMethods = found.map(({ method }) => method);
      return [path, cors({ origin: '*', allowMethods, allowHeaders, maxAge: preflightSeconds })];
    }),
  );
}
