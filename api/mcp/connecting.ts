/**
 * Connects a tool server. If the server requires OAuth, the sign-in is prepared first. The server is stored only if
 * this preparation works, so that broken settings never replace working ones. `finishSignIn` handles the callback of
 * the browser.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { patched } from './server.ts';
import type { TenantPrincipal } from '../access/auth.ts';
import { beginRedirect, endRedirect } from '../access/browser.ts';
import type { Context } from '../context.ts';
import type * as contract from './contract/mcp.ts';
import { ask } from '../../workflows/start.ts';
import type { Cookies } from '../http/route.ts';
import { findKey } from '../../models/access/key.ts';
import { roleOf } from '../../models/access/organization.ts';
import { createErrand, takeErrand } from '../../models/base/errand.ts';
import type { GrantContent, ReturnedGrant } from '../../models/mcp/grant.ts';
import { findToolServer, forgetScopes, saveToolServer, type ToolServer } from '../../models/mcp/server.ts';
import { keyStatus } from '../../models/rules/access/keys.ts';
import { invalid, Problem } from '../../models/rules/base/errors.ts';
import { failureReasons, type FailureReason } from '../../models/rules/mcp/failure.ts';
import { beginToolGrantWork, finishToolGrantWork } from '../../models/rules/mcp/work.ts';
import { defined } from '../../models/rules/base/defined.ts';

type Body = z.infer<typeof contract.serverBody>;
type Who = Pick<TenantPrincipal, 'actor' | 'mode'>;
/** `cookies`: the cookies of a member's browser; undefined for a key. */
type Asker = Who & { cookies: Cookies | undefined };
/** `address`: the URL at which a person must consent before tools can be called. */
export type Connected = { server: ToolServer; address?: string | undefined };

const purpose = 'connect:tools';

const serverFailed = (reason: FailureReason) => new Problem('TOOL_SERVER_FAILED', { message: failureReasons[reason] });

/**
 * Applies a patch to the stored server with optimistic locking: it retries after a concurrent change. `announce` is
 * called before each attempt to store the server. @throws Problem TOOL_SERVER_FAILED.
 */
export async function connectServer(
  ctx: Context,
  orgId: string,
  body: Body,
  who: Asker,
  announce: (before: ToolServer | null, server: ToolServer) => Promise<void>,
): Promise<Connected> {
  for (;;) {
    const before = await findToolServer(orgId);
    const server = await patched(ctx, orgId, before, body);
    const signIn = asksSignIn(server, before, body) ? await prepareSignIn(ctx, server, who) : {};
    if (signIn.signed_in !== undefined) server.oauth_state = signIn.signed_in;
    await announce(before, server);
    if (await saveToolServer(server, before?.version ?? 0))
      return { server: { ...server, version: server.version + 1 }, address: signIn.address };
  }
}

/**
 * Whether this patch begins a sign-in: the connection is new, or it is not signed in yet and the patch contains one of
 * its settings.
 */
const asksSignIn = (server: ToolServer, before: ToolServer | null, { endpoint_url, auth_type, oauth }: Body): boolean =>
  server.auth_type === 'oauth2' &&
  server.oauth_state === undefined &&
  (server.connection !== before?.connection || [endpoint_url, auth_type, oauth].some((given) => given !== undefined));

async function prepareSignIn(
  ctx: Context,
  server: ToolServer,
  { actor, mode, cookies }: Asker,
): Promise<Partial<GrantContent>> {
  const { _id: orgId, connection, endpoint_url, auth_type, oauth, scopes_wanted } = server;
  if (oauth?.grant_type === 'client_credentials' && oauth.client_secret === undefined)
    throw invalid(['body', 'oauth', 'client_secret'], 'is required for client credentials');
  const state = randomBytes(32).toString('base64url');
  const content: GrantContent = {
    server: {
      _id: orgId,
      connection,
      endpoint_url,
      auth_type,
      ...defined({ oauth, scopes_wanted }),
    },
    state,
    actor,
    mode,
  };
  const grantId = await createErrand(orgId, content, { secrets: ctx.secrets, now: ctx.clock() });
  const prepared = await ask(ctx, beginToolGrantWork(orgId, grantId, randomUUID()), orgId);
  const kept = await takeErrand<GrantContent>(orgId, grantId, ctx.secrets);
  if (prepared.kind === 'failed') throw serverFailed(prepared.reason);
  if (!kept) throw serverFailed('cancelled');
  if (prepared.kind === 'person_needed') await beginRedirect(ctx, cookies, { state, purpose, kept });
  return kept;
}

/** The query with which the authorization server redirects the browser back. */
export type Returned = z.infer<typeof contract.callbackQuery>;
/** `outcome`: the word by which the page finds the sentence to show. */
export type Finished = { outcome: string; by?: Who & { orgId: string } };

/** Whether the key or the member that began a sign-in still may begin one. */
async function mayStillConnect(ctx: Context, orgId: string, actor: string): Promise<boolean> {
  const key = await findKey(orgId, actor);
  if (!key) return (await roleOf(orgId, actor)) !== undefined;
  return keyStatus(key, ctx.clock()) === 'active' && key.scopes.includes('mcp:write');
}

/**
 * Completes a sign-in from the browser's callback, once. If a member began the sign-in, the callback must come from the
 * same browser.
 */
export async function finishSignIn(
  ctx: Context,
  { state, code, iss, error }: Returned,
  cookies: Cookies,
): Promise<Finished> {
  const kept = await endRedirect<GrantContent>(ctx, cookies, { state, purpose });
  if (!kept) return { outcome: 'unknown_state' };
  const { server, actor, mode } = kept;
  const { _id: orgId } = server;
  if (error === 'invalid_scope') await forgetScopes(orgId, server.connection);
  if (error !== undefined) return { outcome: /^[a-z_]{1,60}$/.test(error) ? error : 'access_denied' };
  if (code === undefined) return { outcome: 'no_code' };
  if (!(await mayStillConnect(ctx, orgId, actor))) return { outcome: 'no_longer_allowed' };
  const returned: ReturnedGrant = { ...kept, code, ...defined({ iss }) };
  const grantId = await createErrand(orgId, returned, { secrets: ctx.secrets, now: ctx.clock() });
  try {
    const asked = await ask(ctx, finishToolGrantWork(orgId, grantId), orgId);
    if (asked.kind === 'failed') return { outcome: asked.reason };
    if (asked.kind === 'gone') return { outcome: 'changed' };
  } catch (problem) {
    if (problem instanceof Problem && problem.code === 'UNAVAILABLE') return { outcome: 'unavailable' };
    throw problem;
  }
  return { outcome: 'connected', by: { orgId, actor, mode } };
}
