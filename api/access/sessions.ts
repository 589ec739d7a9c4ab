/** Turns a session token into a principal, which says whom the token authenticates. */
import type { SessionPrincipal } from './auth.ts';
import type { Context } from '../context.ts';
import { recentSession } from '../../models/access/session.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * @throws Problem UNAUTHENTICATED when this deployment did not sign the token, or when the session has expired or was
 * revoked.
 */
export async function readSession(
  ctx: Pick<Context, 'tokens'>,
  token: string,
  address: string,
): Promise<SessionPrincipal> {
  const claims = await ctx.tokens.verifySession(token);
  if (!claims) throw unauthenticated('This session has expired or is not one of ours; mint another one.');
  const session = await recentSession(claims.orgId, claims.sessionId);
  if (!session || session.revoked_at) throw revokedSession();
  const { context } = session;
  return {
    kind: 'session',
    address,
    ...claims,
    modes: [claims.mode],
    ...(Object.keys(context).length === 0 ? {} : { context }),
  };
}

const unauthenticated = (message: string) => new Problem('UNAUTHENTICATED', { message });
export const revokedSession = () => unauthenticated('This session was revoked.');
