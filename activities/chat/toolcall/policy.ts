/**
 * Decides whether a call may be sent now. The tool must be unchanged since its approval, the customer must be allowed
 * to call it, and the rate limits must have room.
 */
import type { CallDeps } from './deps.ts';
import { endCall } from './telling.ts';
import { checkOf } from '../../../clients/schema/schema.ts';
import { ServerFailure } from '../../../clients/mcp/mcp.ts';
import { notifyMembers } from '../../../models/access/notification.ts';
import { findSession } from '../../../models/access/session.ts';
import { countHeldBack, type ToolCall } from '../../../models/mcp/call.ts';
import { pinOf } from '../../../models/mcp/hash.ts';
import { takeCall } from '../../../models/mcp/limit.ts';
import { findToolServer, suspendTool, type ToolServer } from '../../../models/mcp/server.ts';
import { identityOf, type Identity } from '../../../models/rules/mcp/policy.ts';
import { isUsable, servesMode, titleOf, type ApprovedTool, type Outcome } from '../../../models/rules/mcp/tool.ts';

/**
 * A call waits for the rate limit at most this many times, each time until the next minute. After that, the call ends.
 */
const maxHeldBack = 3;

/** The approved tool that a call uses, if it is unchanged since the agent chose it. */
export function approvedFor(call: ToolCall, server: ToolServer | null): ApprovedTool | undefined {
  const tool =
    server && servesMode(server, call.mode)
      ? server.tools.find(({ tool_name }) => tool_name === call.tool_name)
      : undefined;
  if (!tool || !isUsable(tool) || tool.pin !== call.pin) return undefined;
  return tool.risk_tier === call.risk_tier && tool.auth_scope === call.auth_scope ? tool : undefined;
}

/** The identity of the customer in the session that the call belongs to. */
export async function identityIn(call: ToolCall): Promise<Identity | 'revoked'> {
  if (call.session_id === undefined) return 'anonymous';
  const session = await findSession(call.org_id, call.session_id);
  if (!session || session.revoked_at) return 'revoked';
  return session.customer_id === call.customer_id ? identityOf(session) : 'anonymous';
}

export const fits = (tool: ApprovedTool, given: Record<string, unknown>): boolean =>
  checkOf(tool.input_schema)?.(given).fits ?? false;

/**
 * Returns how long the rate limits of the server and of the tool hold a call back, in ms; undefined when they do not.
 * Ends a call that was held back too often, and returns `over`.
 */
export async function limit(
  deps: CallDeps,
  call: ToolCall,
  server: ToolServer,
  tool: ApprovedTool,
): Promise<number | 'over' | undefined> {
  const now = deps.clock();
  const limits: [string, number][] = [[call.org_id, server.rate_limit_per_min]];
  // The tool's own limit is counted first, so that a call that it holds back does not count towards the server's limit.
  // A call that the server's limit holds back stays counted towards the tool's limit. That does no harm, because no
  // other call passes the server's limit in the same minute.
  if (tool.rate_limit_per_min !== undefined)
    limits.unshift([`${call.org_id}:${tool.tool_name}`, tool.rate_limit_per_min]);
  for (const [name, most] of limits) {
    const { waitMs: wait } = await takeCall(name, most, now);
    if (wait === undefined) continue;
    if (call.held_back >= maxHeldBack) {
      await endCall(deps, call, 'drop', 'rate_limited');
      return 'over';
    }
    await countHeldBack(call.org_id, call._id);
    // The random delay spreads the calls that waited for the same minute, and spreads them further with each wait.
    return wait + Math.floor(Math.random() * 5_000) * (call.held_back + 1);
  }
  return undefined;
}

/**
 * Compares the approved definition of the tool with the server's current one, and returns undefined when they are
 * equal. Otherwise members are notified, the tool is suspended, and the call's outcome is returned. A server that is
 * not reached gives the outcome `timeout` or `error`.
 */
export async function checkPin(
  deps: CallDeps,
  call: ToolCall,
  server: ToolServer,
  tool: ApprovedTool,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  let listed;
  try {
    listed = await deps.mcp.listTools(deps.addressOf(server), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServerFailure)) throw error;
    deps.log.warn({ org_id: call.org_id, tool: call.tool_name, reason: error.reason }, 'a tool server was not reached');
    return error.reason === 'timeout' ? 'timeout' : 'error';
  }
  const live = listed.find(({ name }) => name === tool.source_name);
  if (live && pinOf(live) === tool.pin) return undefined;
  const { org_id: orgId, mode } = call;
  const standing = await findToolServer(orgId);
  // If another call has suspended the tool meanwhile, or a member has approved its new definition, nothing is reported.
  if (!standing || !approvedFor(call, standing)) return 'suspended';
  const { tool_name, pin, risk_tier, auth_scope } = tool;
  const kind = 'tool_suspended';
  // The suspension is stored last. If this process dies before that, the next attempt reports the tool again. The
  // report is stored once, because its id and key are the same.
  await deps.audit({
    _id: `aud_${kind}_${orgId}_${pin.slice(0, 16)}_${standing.version}`,
    org_id: orgId,
    mode,
    kind: 'config',
    actor: 'agent',
    action: kind,
    tool: tool_name,
    risk_tier,
    auth_scope,
  });
  const body = `${titleOf(tool_name)} is not what was approved any more. Look at what changed, and approve it again.`;
  await notifyMembers(
    orgId,
    { key: `${kind}:${pin}:${standing.version}`, kind, title: 'A tool was suspended', body, about: [] },
    deps.clock(),
  );
  await suspendTool(orgId, tool_name, pin, deps.clock());
  return 'suspended';
}
