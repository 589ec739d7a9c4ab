/**
 * Which answers pages of other origins may read: those of routes that take a session's token, which a page holds anyway.
 * Routes that take an API key or a login never get these headers, so that nobody builds a page that carries a secret key.
 */
import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Route } from './route.ts';

/** What a page may send beside what every page may, and what it may read of an answer beside its body. */
const allowHeaders = ['authorization', 'content-type', 'idempotency-key', 'x-request-id'];
const exposeHeaders = ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'idempotent-replayed'];
/** How long a browser may remember what a preflight said, in seconds; Chromium remembers two hours at most. */
const preflightSeconds = 7_200;

/**
 * The middleware that a route's answers pass through, also its problems; undefined when no page may read them. Any origin
 * may ask: a browser adds nothing to a request that the page did not put there, for there are no cookies.
 */
export function readableBy(route: Pick<Route, 'auth'>): Middleware | undefined {
  return route.auth.kind === 'session' ? cors({ origin: '*', exposeHeaders, keepHeadersOnError: false }) : undefined;
}

/** What answers a browser's preflights, by path; a path that only takes API keys or logins has none. */
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
