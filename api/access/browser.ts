/**
 * Binds a sign-in or connection at another service to the browser that began it, so that nobody else's browser can
 * complete it. The browser gets a cookie, of which only a hash is stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Cookies } from '../http/route.ts';

/** A cookie's name and value, and its lifetime in seconds. */
export type BrowserCookie = { name: string; value: string; seconds: number };
/** Each kind of redirect to another service has its own cookies. */
type Purpose = 'oidc' | 'connect';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Each redirect has its own cookie, so that two tabs do not overwrite each other's. */
const cookieName = (purpose: Purpose, state: string): string => `${purpose}_${sha256(state).slice(0, 16)}`;

/** The cookie to set in the browser, and the hash of its value to store with the `state` parameter. */
export function bindBrowser(
  purpose: Purpose,
  state: string,
  seconds: number,
): { cookie: BrowserCookie; browser: string } {
  const value = randomBytes(32).toString('base64url');
  return { cookie: { name: cookieName(purpose, state), value, seconds }, browser: sha256(value) };
}

/**
 * The hash of the cookie that the returning browser sends; undefined without a cookie. The cookie is deleted, so it
 * works once.
 */
export function returningBrowser(cookies: Cookies, purpose: Purpose, state: string): string | undefined {
  const name = cookieName(purpose, state);
  const value = cookies.get(name);
  cookies.set(name, '', 0);
  return value === undefined ? undefined : sha256(value);
}
