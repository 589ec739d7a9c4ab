/**
 * Redirects of a browser to another service and back, for a sign-in or a connection there. The data to finish the flow
 * is stored under the `state` parameter (models/base/onetimestate.ts). The browser gets a cookie, of which only a hash
 * is stored, so that no other browser can finish the flow.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Cookies } from '../http/route.ts';
import { keepState, stateSeconds, takeState } from '../../models/base/onetimestate.ts';
import { defined } from '../../models/rules/base/defined.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Each redirect has its own cookie, so that two tabs do not overwrite each other's. */
const cookieName = (purpose: string, state: string): string =>
  `${purpose.split(':', 1)[0]!}_${sha256(state).slice(0, 16)}`;

/**
 * Stores the data to finish the flow (`kept`) for this browser alone. `cookies`: undefined when a key begins the flow;
 * then any browser may finish it.
 */
export async function beginRedirect(
  { secrets, clock }: Context,
  cookies: Cookies | undefined,
  { state, purpose, kept }: { state: string; purpose: string; kept: object },
): Promise<void> {
  const cookie = cookies && randomBytes(32).toString('base64url');
  const browser = cookie && sha256(cookie);
  await keepState({ state, purpose, ...defined({ browser }) }, kept, { secrets, now: clock() });
  if (cookie !== undefined) cookies?.set(cookieName(purpose, state), cookie, stateSeconds);
}

/**
 * Removes and returns the data that `beginRedirect` stored for this browser; null when there is none, or when another
 * browser began the flow. Deletes the browser's cookie.
 */
export async function endRedirect<Kept>(
  { secrets, clock }: Context,
  cookies: Cookies,
  { state, purpose }: { state: string | undefined; purpose: string },
): Promise<Kept | null> {
  if (state === undefined) return null;
  const name = cookieName(purpose, state);
  const cookie = cookies.get(name);
  cookies.set(name, '', 0);
  const browser = cookie === undefined ? undefined : sha256(cookie);
  return (await takeState({ state, purpose, ...defined({ browser }) }, { secrets, now: clock() })) as Kept | null;
}
