/**
 * Ties what goes on at another service's page to the browser that began it, so that nobody finishes in somebody else's name:
 * the browser gets a cookie, of which only a hash is stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Cookies } from '../http/route.ts';

/** `name` and `value` of a cookie, and how long it lasts. */
export type BrowserCookie = { name: string; value: string; seconds: number };
/** What it is for: each way of going to another service has cookies of its own. */
type Purpose = 'oidc' | 'connect';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Each journey has a cookie of its own, so that two tabs do not overwrite each other's. */
const cookieName = (purpose: Purpose, state: string): string => `${purpose}_${sha256(state).slice(0, 16)}`;

/** A cookie for the browser that begins, and the hash to store with the `state` parameter. */
export function bindBrowser(
  purpose: Purpose,
  state: string,
  seconds: number,
): { cookie: BrowserCookie; browser: string } {
  const value = randomBytes(32).toString('base64url');
  return { cookie: { name: cookieName(purpose, state), value, seconds }, browser: sha256(value) };
}

/** The hash of the cookie that the browser comes back with, which serves once; undefined when it has none. */
export function returningBrowser(cookies: Cookies, purpose: Purpose, state: string): string | undefined {
  const name = cookieName(purpose, state);
  const value = cookies.get(name);
  cookies.set(name, '', 0);
  return value === undefined ? undefined : sha256(value);
}
