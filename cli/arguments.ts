/** Parses and formats values of the command line: URLs, ids, lists, commands. */
import { usageError } from './errors.ts';

export const defaultUrl = 'http://127.0.0.1:3000/v1';

/** Parses the URL of an API as people type it; `/v1` may be missing. Throws a usage error. */
export function apiUrl(given: string): string {
  const url = URL.parse(given);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw usageError(`“${given}” is not an address; write it like ${defaultUrl}.`);
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    throw usageError('The address of the server may not hold a user name, ? or #.');
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/v1' : path}`;
}

/**
 * Parses an id of the API. Other text is refused, because it could change the path of the URL. Throws a usage error.
 */
export function identifier(given: string): string {
  if (!/^[\w-]{1,100}$/.test(given)) throw usageError(`“${given}” is not an identifier; list commands show them.`);
  return given;
}

/** Splits a list: `a, b,` becomes `['a', 'b']`. */
export const list = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** The command that logs in at `url`, typed in the project's folder. Later commands then use the same server. */
export function loginCommand(url: string, email: string): string {
  const api = apiUrl(url);
  const server = api === defaultUrl ? '' : `export SUPPORT_URL=${api} && `;
  return `${server}npm run -s cli -- login --email ${email}`;
}
