/** Routes of an organization's tool server: connect it, discover and approve its tools, and list its calls. */
import { randomUUID } from 'node:crypto';
import { key, open, type TenantPrincipal } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/mcp.ts';
import { ask, startSaved } from '../../../workflows/start.ts';
import { afterPlace, defaultLimit, placedListPage } from '../../http/cursor.ts';
import { perConfig } from '../../http/perconfig.ts';
import { redirect, route, withStatus } from '../../http/route.ts';
import { connectServer, finishSignIn } from '../connecting.ts';
import { toolOutcomePath } from '../outcome.ts';
import { viewServer } from '../server.ts';
import { intentFor } from '../../../models/base/pending.ts';
import { createSecretBox } from '../../../models/base/secretbox.ts';
import { auditWriter, listAudit, verifyAudit, type AuditEntry } from '../../../models/mcp/audit.ts';
import { nudgeCalls, ToolCallModel } from '../../../models/mcp/call.ts';
import { forgetDiscovery, lastDiscovery } from '../../../models/mcp/discovery.ts';
import { pinOf } from '../../../models/mcp/hash.ts';
import { takeCall } from '../../../models/mcp/limit.ts';
import { findToolServer, removeToolServer, type ToolServer } from '../../../models/mcp/server.ts';
import { Problem } from '../../../models/rules/base/errors.ts';
import { discovered } from '../../../models/rules/mcp/discovery.ts';
import { failureReasons, type FailureReason } from '../../../models/rules/mcp/failure.ts';
import { discoverToolsWork, toolCallWork } from '../../../models/rules/mcp/work.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** One audit writer per process, so that a process writes the events of an organization one after the other. */
const writers = perConfig(({ secretKeys }) =>
  auditWriter({ clock: () => new Date(), secrets: createSecretBox(secretKeys) }),
);
const audit = (
  ctx: Context,
  principal: Pick<TenantPrincipal, 'orgId' | 'mode' | 'actor'>,
  entry: Pick<AuditEntry, 'kind' | 'action'> & Partial<AuditEntry>,
) => writers(ctx.config)({ org_id: principal.orgId, mode: principal.mode, actor: principal.actor, ...entry });

const failed = (reason: FailureReason) => new Problem('TOOL_SERVER_FAILED', { message: failureReasons[reason] });
const noServer = () => new Problem('NO_TOOL_SERVER');

/**
 * Counts a discovery against the rate limit of tool calls, and returns the rate limit headers. @throws Problem
 * RATE_LIMITED.
 */
async function countDiscovery(ctx: Context, { _id: orgId, rate_limit_per_min: most }: ToolServer) {
  const { left, endMs, waitMs } = await takeCall(orgId, most, ctx.clock());
  const seconds = Math.ceil(endMs / 1000);
  const headers = { 'RateLimit-Policy': `"mcp";q=${most};w=60`, RateLimit: `"mcp";r=${left};t=${seconds}` };
  if (waitMs === undefined) return headers;
  throw new Problem('RATE_LIMITED', {
    message: `The tool server takes ${most} calls a minute; try again in ${seconds} s.`,
    headers: { 'Retry-After': String(seconds), ...headers },
  });
}

export const mcpRoutes = [
  route(contract.getToolServer, {
    summary: 'The connected tool server and the approved tools; `server` is null while none is connected.',
    auth: key('mcp:read'),
    async handle({ params: { orgId } }) {
      const server = await findToolServer(orgId);
      return { server: server && viewServer(server) };
    },
  }),
  route(contract.putToolServer, {
    summary: 'Connect a tool server, or change the fields named; `approved_tools` replaces the list and approves it.',
    auth: key('mcp:write'),
    errors: ['TOOL_SERVER_FAILED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, body, principal, cookies }, ctx) {
      // The events are appended before the change is stored, so that a process that dies in between leaves no change
      // without its events. Each attempt to store the change appends its own events, because a concurrent request
      // may have connected or removed the server since the attempt before.
      const audited = async (before: ToolServer | null, { tools }: ToolServer) => {
        const action = before ? 'server_updated' : 'server_connected';
        await audit(ctx, principal, { kind: 'config', action });
        for (const tool of body.approved_tools ? tools : []) {
          if (tool.suspended) continue;
          const { tool_name, risk_tier, auth_scope } = tool;
          await audit(ctx, principal, {
            kind: 'config',
            action: 'tool_approved',
            tool: tool_name,
            risk_tier,
            auth_scope,
          });
        }
      };
      const { server, address } = await connectServer(ctx, orgId, body, { ...principal, cookies }, audited);
      return { server: viewServer(server), ...defined({ authorization_url: address }) };
    },
  }),
  route(contract.deleteToolServer, {
    summary:
      'Disconnect the tool server: all its tools are off at once, and running calls are cancelled. The audit stays.',
    auth: key('mcp:write'),
    async handle({ params: { orgId }, principal }, ctx) {
      const server = await findToolServer(orgId);
      if (server) {
        // The event is appended before the removal, so that a process that dies in between leaves no removal without
        // its event. Two concurrent requests may both find the server. Each appends its own event, because they may
        // come from different actors.
        await audit(ctx, principal, { kind: 'config', action: 'server_disconnected' });
      }
      const removed = server !== null && (await removeToolServer(orgId));
      // These steps also run when there was no server to remove, because the process that removed the server may have
      // died before them.
      await forgetDiscovery(orgId);
      const left = await nudgeCalls(orgId, ({ _id }) =>
        intentFor(toolCallWork(orgId, _id, { decided: true }), ctx.clock()),
      );
      await Promise.all(left.map(([call, intent]) => startSaved(ctx, ToolCallModel, call, [intent])));
      if (!removed) throw new Problem('NOT_FOUND', { message: 'No tool server is connected.' });
      return { server: null };
    },
  }),
  route(contract.discoverTools, {
    summary: 'What the tool server offers now, beside what was approved, with every difference; it approves nothing.',
    auth: key('mcp:read'),
    asksOnly: true,
    limit: 'none',
    errors: ['CONFLICT', 'NO_TOOL_SERVER', 'TOOL_SERVER_FAILED', 'RATE_LIMITED', 'UNAVAILABLE'],
    async handle({ params: { orgId }, principal }, ctx) {
      const server = await findToolServer(orgId);
      if (!server) throw noServer();
      const headers = await countDiscovery(ctx, server);
      const asked = await ask(ctx, discoverToolsWork(orgId, randomUUID()), orgId);
      const outcome =
        asked.kind === 'done' ? 'ok' : asked.kind === 'failed' && asked.reason === 'timeout' ? 'timeout' : 'error';
      await audit(ctx, principal, { kind: 'discovery', action: 'discover', outcome });
      if (asked.kind === 'failed') throw failed(asked.reason);
      const found = await lastDiscovery(orgId, server.connection);
      if (!found) throw noServer();
      const tools = discovered(server.tools, found.tools, pinOf);
      return withStatus(200, { tools, discovered_at: found.at }, headers);
    },
  }),
  route(contract.listToolAudit, {
    summary: 'What happened with the tools, the newest first: configuration, discoveries, approvals and calls.',
    auth: key('mcp:read'),
    async handle({ params: { orgId }, query, principal }) {
      const { tool, outcome, conversation_id, from, to, limit = defaultLimit } = query;
      const place = afterPlace(query.cursor, /^\d{1,15}$/);
      const found = await listAudit(
        orgId,
        {
          modes: principal.modes,
          tool,
          outcome,
          conversation_id,
          from: from === undefined ? undefined : new Date(from),
          to: to === undefined ? undefined : new Date(to),
        },
        { limit: limit + 1, after: place === undefined ? undefined : Number(place) },
      );
      const { entries, cursor } = placedListPage(found, limit, ({ seq }) => String(seq));
      return { events: entries.map((event) => ({ ...event, id: event._id })), next_cursor: cursor };
    },
  }),
  route(contract.verifyToolAudit, {
    summary:
      'Whether the chain of audit events is as it was written, and which link is the first that is not. A check begins where the last one ended; `whole` reads all of it again.',
    auth: key('mcp:read'),
    limit: 'audit_checks',
    async handle({ params: { orgId }, query }, ctx) {
      return verifyAudit(orgId, ctx.secrets, { whole: query.whole === 'true' });
    },
  }),
  route(contract.finishToolGrant, {
    summary:
      'Where a tool server’s authorization server sends the browser back to; leads to a page that says how it ended.',
    auth: open,
    otherParameters: 'ignored',
    status: 302,
    limit: 'callbacks',
    async handle({ query, cookies }, ctx) {
      const { outcome, by } = await finishSignIn(ctx, query, cookies);
      if (by) await audit(ctx, by, { kind: 'config', action: 'signed_in' });
      return redirect(toolOutcomePath(outcome));
    },
  }),
];
