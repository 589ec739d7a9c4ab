/**
 * Decides which replies pages of other origins may read: only those of routes that take a session token, which a page
 * holds anyway. Routes that take an API key or a login never get CORS headers, so that nobody builds a page that
 * contains a secret key.
 */
import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Route } from './route.ts';

/** Request headers that a page may send, and reply headers that it may read, beyond the CORS defaults. */
const allowHeaders = ['authorization', 'content-type', 'idempotency-key', 'traceparent', 'x-request-id'];
const exposeHeaders = [
  'x-request-id',
  'x-trace-id',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'idempotent-replayed',
];
/** How long a browser may cache the reply to a preflight, in seconds; Chromium's maximum is two hours. */
const preflightSeconds = 7_200;

/**
 * The CORS middleware for a route's replies, errors included; undefined when no page of another origin may read them.
 * Any origin is allowed, because these routes take no cookie: a browser adds no credential that the page did not set.
 */
export function readableBy(route: Pick<Route, 'auth'>): Middleware | undefined {
  return route.auth.kind === 'session' ? cors({ origin: '*', exposeHeaders, keepHeadersOnError: false }) : undefined;
}

/**
 * The middleware that answers preflight requests (OPTIONS), by path. Only paths with a route that takes a session token
 * have one.
 */
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
