/**
 * Advances a tool call as far as possible. Every step is idempotent. The folder toolcall/ has the parts: whether a call
 * may be sent (policy), approval (asking), sending, and reporting (telling).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context, cancellationSignal } from '@temporalio/activity';
import type { CallDeps, Run, ToolCallDeps, Ref } from './toolcall/deps.ts';
import { approvedFor, identityIn } from './toolcall/policy.ts';
import { ask, recordReplies, askToAgree } from './toolcall/asking.ts';
import { send, takeOver } from './toolcall/sending.ts';
import { conclude, endCall } from './toolcall/telling.ts';
import { createConnections } from '../mcp/connection.ts';
import { findToolCall, isBeingSent, type ToolCall } from '../../models/mcp/call.ts';
import { findToolServer, type ToolServer } from '../../models/mcp/server.ts';
import { awaitedBy, type Awaited } from '../../models/rules/mcp/call.ts';
import { outcomeOf, verdictOn } from '../../models/rules/mcp/policy.ts';
import type { Outcome, RiskTier } from '../../models/rules/mcp/tool.ts';

/** The fields of a call that operators see. */
type About = { orgId: string; tool: string; tier: RiskTier };
/**
 * The state of a call after a step. `withinMs`: when to check again if no decision arrives. `held_back`: the rate limit
 * is reached. `calling`: the tool has not answered yet; the call continues in the background, and another step waits
 * for its outcome.
 */
export type CallStep = { about: About } & (
  | { kind: 'ended'; outcome: Outcome | 'gone' }
  | { kind: 'waiting'; awaited: Awaited; withinMs: number }
  | { kind: 'held_back'; withinMs: number }
  | { kind: 'calling' }
);
export type ToolCallActivities = ReturnType<typeof createToolCallActivities>;

/** How often a step checks the outcome of a call that another step makes. */
const lookEveryMs = 250;
/** A workflow task waits this long for a tool's answer. Most tools answer sooner. */
const taskPatienceMs = 2_000;

export function createToolCallActivities(given: ToolCallDeps) {
  const deps: CallDeps = { ...given, addressOf: createConnections(given).addressOf };
  return {
    /** Advances a call as far as possible without waiting for a person. */
    advanceCall: (ref: Ref): Promise<CallStep> => {
      const patienceMs = Context.current().info.isLocal ? taskPatienceMs : undefined;
      return advance(deps, ref, { signal: cancellationSignal(), patienceMs });
    },
  };
}

async function advance(deps: CallDeps, { orgId, callId }: Ref, run: Run): Promise<CallStep> {
  for (;;) {
    run.signal.throwIfAborted();
    const [call, server] = await Promise.all([findToolCall(orgId, callId), findToolServer(orgId)]);
    // The call was removed with its customer or its test conversation.
    if (!call) return { kind: 'ended', outcome: 'gone', about: { orgId, tool: '', tier: 'human_only' } };
    const about = { orgId, tool: call.tool_name, tier: call.risk_tier };
    if (call.state === 'ended') {
      await conclude(deps, call);
      return { kind: 'ended', outcome: call.outcome!, about };
    }
    if (call.state === 'new' || call.state === 'agreed') {
      const heldMs = await goOn(deps, call, server, run);
      if (heldMs !== undefined) return { kind: 'held_back', withinMs: heldMs, about };
    } else if (call.state === 'waiting') {
      const withinMs = call.ask_until!.getTime() - deps.clock().getTime();
      const tool = approvedFor(call, server);
      if (withinMs > 0 && tool) {
        await ask(deps, call, tool);
        return { kind: 'waiting', awaited: call.awaited!, withinMs, about };
      }
      if (withinMs > 0) await endCall(deps, call, 'drop', 'suspended');
      else await endCall(deps, call, 'expire', 'expired');
    } else if (isBeingSent(call, deps.clock())) {
      if (run.patienceMs !== undefined) return { kind: 'calling', about };
      await sleep(lookEveryMs, undefined, { signal: run.signal });
    } else await takeOver(deps, call, server, run);
  }
}

/**
 * Asks for approval of a new call that needs it. Sends a call that needs no approval or has it, and ends a call that
 * may not be made. Returns how long the rate limit holds the call back, in ms; undefined when it does not.
 */
async function goOn(deps: CallDeps, call: ToolCall, server: ToolServer | null, run: Run): Promise<number | undefined> {
  const tool = approvedFor(call, server);
  if (!server || !tool) return void (await endCall(deps, call, 'drop', 'suspended'));
  const who = await identityIn(call);
  if (who === 'revoked') return void (await endCall(deps, call, 'drop', 'denied'));
  if (call.state === 'agreed' && call.questions !== undefined) await recordReplies(deps, call);
  if (call.state === 'agreed') return send(deps, call, { ...run, server, tool, who });
  const verdict = verdictOn(call, who);
  if (verdict === 'deny' || verdict === 'hand_off') return void (await endCall(deps, call, 'drop', outcomeOf[verdict]));
  const awaited = awaitedBy[verdict];
  if (awaited === undefined) return send(deps, call, { ...run, server, tool, who });
  // No mail shows a question, so a customer who writes by mail cannot agree, and a person takes over.
  if (call.session_id === undefined && awaited !== 'member')
    return void (await endCall(deps, call, 'drop', 'handed_off'));
  await askToAgree(deps, call, awaited);
  return undefined;
}
