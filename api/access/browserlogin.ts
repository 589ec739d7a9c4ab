/**
 * The login of the page `/app`: a login token in a cookie that no script can read. The cookie is accepted only with
 * requests that the page itself sends, so no other page can use the login. The browser states in the header
 * `Sec-Fetch-Site` which page sends a request. Browsers send that header over https, and over http to this machine
 * only.
 */
import type { Cookies } from '../http/route.ts';
import type { Config } from '../../config.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * The prefix `__Host-` keeps other hosts of the same domain from setting the cookie; browsers accept it over TLS only.
 */
const nameOf = ({ publicUrl }: Config): string => (publicUrl.startsWith('https:') ? '__Host-login' : 'login');

/** The token of the login in this browser; undefined without one, and for requests of other pages. */
export const tokenInBrowser = (cookies: Cookies, config: Config): string | undefined =>
  cookies.ownPage ? cookies.get(nameOf(config)) : undefined;

export function keepLogin(cookies: Cookies, config: Config, login: { token: string; expires_at: Date }, now: Date) {
  const seconds = Math.floor((login.expires_at.getTime() - now.getTime()) / 1000);
  cookies.set(nameOf(config), login.token, seconds, 'strict');
}

export const dropLogin = (cookies: Cookies, config: Config): void => cookies.set(nameOf(config), '', 0, 'strict');

/** @throws Problem ORIGIN_NOT_ALLOWED for a request that the page did not send */
export function onlyOwnPage({ ownPage }: Cookies): void {
  if (ownPage) return;
  const message = 'Only the page /app of this server signs a browser in, over https; programs use POST /auth/login.';
  throw new Problem('ORIGIN_NOT_ALLOWED', { message });
}
