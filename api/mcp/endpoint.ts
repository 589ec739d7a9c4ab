/**
 * An MCP server with the organization's knowledge, for the organization's other agents (`/v1/mcp`). It speaks MCP
 * revision 2026-07-28 and, without sessions, older revisions. Callers authenticate with a secret key, which determines
 * the organization.
 */
import { Readable } from 'node:stream';
import type { Router, RouterContext } from '@koa/router';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { credentialId, ownKey, type SelfPrincipal } from '../access/auth.ts';
import type { Authenticator } from '../access/authenticator.ts';
import type { Context } from '../context.ts';
import { addressOf } from '../http/address.ts';
import { jsonReader } from '../http/body.ts';
import type { Limiter } from '../http/limits.ts';
import { takeNoParameters } from '../http/validate.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { knowledgePath, resourceChallenge } from '../../models/rules/mcp/oauth.ts';

/**
 * The largest body. It has room for a question of 2,000 characters with fifty earlier messages, the largest request
 * there is.
 */
const maxBodyBytes = 1024 * 1024;
/** The most messages in one request. Older MCP revisions let a client send several at once. */
const maxMessages = 50;
const guard = ownKey('support:read');

export function mountMcp(
  router: Router,
  ctx: Context,
  shared: { authenticate: Authenticator; limit: Limiter },
  version: string,
): void {
  const readBody = jsonReader(maxBodyBytes);
  let serving: Promise<McpHttpHandler> | undefined;
  // The MCP library is loaded at the first request, because it takes 100 ms and 13 MB. A process without MCP requests
  // saves this time and memory.
  const handler = () =>
    (serving ??= import('./knowledge.ts').then(({ createKnowledgeServer }) => createKnowledgeServer(ctx, version)));

  router.post(knowledgePath, async (koa) => {
    refuseForeignPages(koa, ctx.config.publicUrl);
    koa.state['challenge'] = resourceChallenge(ctx.config.publicUrl);
    const principal = (await shared.authenticate({
      guard,
      authorization: koa.get('authorization') || undefined,
      orgId: undefined,
      mode: undefined,
      address: addressOf(koa.req, ctx.config.trustProxy),
      signed: undefined,
    })) as SelfPrincipal;
    koa.state['orgId'] = principal.orgId;
    takeNoParameters(koa.query);
    const body = await readBody(koa);
    const messages = Array.isArray(body) ? (body as unknown[]) : [body];
    if (messages.length > maxMessages)
      throw new Problem('VALIDATION', { message: `Send ${maxMessages} messages at once, not more.` });
    // For the rate limit, each call in a request counts as a question.
    for (const message of messages)
      if (isCall(message)) koa.set(await shared.limit('queries', credentialId(principal)));
    if (isListening(body)) return notFound(koa, body);
    const gone = new AbortController();
    koa.res.once('close', () => gone.abort());
    const { headers } = koa.req;
    const request = new Request(new URL(koa.path, ctx.config.publicUrl), {
      method: 'POST',
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      signal: gone.signal,
    });
    // The secret key itself is not passed to the MCP library.
    const authInfo = { token: '', clientId: principal.actor, scopes: [guard.scope], extra: { principal } };
    await send(koa, await (await handler()).fetch(request, { parsedBody: body, authInfo }));
  });
}

/**
 * Whether the client subscribes to changes. Such a request gets 404, because the tools never change. The library would
 * refuse it with a wrong reason: that other clients already subscribed.
 */
const isListening = (body: unknown): body is { id?: unknown } =>
  (body as { method?: unknown } | null)?.method === 'subscriptions/listen';

function notFound(koa: RouterContext, { id }: { id?: unknown }): void {
  const named = typeof id === 'string' || typeof id === 'number' ? id : null;
  koa.status = 404;
  koa.body = { jsonrpc: '2.0', id: named, error: { code: -32_601, message: 'Method not found' } };
}

const isCall = (message: unknown): boolean => (message as { method?: unknown } | null)?.method === 'tools/call';

/** Refuses pages of other origins, as MCP requires: DNS rebinding can lead a page to this server. */
function refuseForeignPages(koa: RouterContext, publicUrl: string): void {
  const origin = koa.get('origin');
  if (origin !== '' && origin !== new URL(publicUrl).origin)
    throw new Problem('ORIGIN_NOT_ALLOWED', { message: 'Pages may not use this address; agents send no Origin.' });
}

async function send(koa: RouterContext, reply: Response): Promise<void> {
  koa.status = reply.status;
  for (const name of ['content-type', 'allow', 'x-accel-buffering', 'mcp-protocol-version']) {
    const value = reply.headers.get(name);
    if (value !== null) koa.set(name, value);
  }
  koa.set('cache-control', 'no-store');
  if (!reply.body) koa.body = null;
  else if (reply.headers.get('content-type')?.startsWith('application/json')) koa.body = await reply.text();
  else koa.body = Readable.fromWeb(reply.body);
  // Koa would turn an empty body into status 204, so the status is set again.
  koa.status = reply.status;
}
