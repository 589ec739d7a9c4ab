/**
 * The calls of tools in a turn: what the agent may call and has called for a message, and a call that it wants. A turn that
 * wants one ends, unless the call does so at once; it is taken again when the call has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model } from 'mongoose';
import type { CallMade, Toolbox, WantedCall } from '../../intelligence/intelligence.ts';
import { findSession } from '../../models/access/session.ts';
import { newId } from '../../models/base/ids.ts';
import { intentFor, type Intent, type Launchable } from '../../models/base/pending.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import { findCustomer } from '../../models/chat/customer.ts';
import { noteCalls, type Message } from '../../models/chat/message.ts';
import {
  callsFor,
  callState,
  createToolCall,
  messagesHeldUp,
  ToolCallModel,
  type ToolCall,
} from '../../models/mcp/call.ts';
import { argumentsHash } from '../../models/mcp/hash.ts';
import { findToolServer, recentToolServer } from '../../models/mcp/server.ts';
import { keptUntil } from '../../models/rules/chat/retention.ts';
import { identityOf } from '../../models/rules/mcp/policy.ts';
import type { ToolResult } from '../../models/rules/mcp/result.ts';
import { maxCallsPerTurn, servesMode, usableTools } from '../../models/rules/mcp/tool.ts';
import { toolCallWork } from '../../models/rules/mcp/work.ts';

/** Starts what a saved record asks for, at once; what is not started is left to the sweeper. */
export type StartSaved = <T extends Launchable>(
  model: Model<T>,
  record: Launchable,
  intents: readonly Intent[],
) => Promise<void>;
/** The call that a turn waits for. */
export type HeldUp = { callId: string; untilMs: number };

/** How soon a turn looks again at a call that nobody was asked about; its end is signalled, so this is for lost signals. */
const lookAgainMs = 5 * 60_000;

/** For so long a turn looks itself for the end of the call that it has begun, and this often: most end within it. */
const defaultPatienceMs = 500;
const lookEveryMs = 20;

/** Resolves when a call has ended or waits for somebody, or after `patienceMs`. */
async function settled(orgId: string, callId: string, patienceMs: number): Promise<void> {
  for (let waited = 0; waited < patienceMs; waited += lookEveryMs) {
    await sleep(lookEveryMs);
    const state = await callState(orgId, callId);
    if (state === undefined || state === 'ended' || state === 'waiting') return;
  }
}

export function createToolUse({
  startNear,
  clock,
  patienceMs = defaultPatienceMs,
}: {
  startNear: StartSaved;
  clock: () => Date;
  patienceMs?: number;
}) {
  const heldUpBy = ({ _id, ask_until }: Pick<ToolCall, '_id' | 'ask_until'>): HeldUp => ({
    callId: _id,
    // A little after the call's own workflow finds that its time is over.
    untilMs: ask_until ? Math.max(1_000, ask_until.getTime() - clock().getTime() + 10_000) : lookAgainMs,
  });

  return {
    /** What the agent has for this message; undefined when its organization has no tools. */
    async toolboxFor({ org_id: orgId, mode }: Conversation, message: Message): Promise<Toolbox | undefined> {
      // What was approved may have changed a moment ago; that there is no server at all may be as old.
      const server = (await recentToolServer(orgId)) && (await findToolServer(orgId));
      const serves = server !== null && servesMode(server, mode);
      if (!serves && message.calls === undefined) return undefined;
      const made = message.calls === undefined ? [] : (await callsFor(orgId, message._id)).map(madeOf);
      const offered =
        serves && made.length < maxCallsPerTurn ? usableTools(server.tools, message.mail ? 'email' : 'chat') : [];
      return { offered, made, email: await vouchedEmail(message) };
    },

    /** Stores the call that is wanted and has it begun. An attempt that died after this meets the call it made. */
    async begin(
      conversation: Conversation,
      message: Message,
      { tool, arguments: given }: WantedCall,
      { made }: Toolbox,
    ): Promise<HeldUp> {
      const { org_id, mode, _id: conv_id, customer_id } = conversation;
      const { tool_name, pin, risk_tier, auth_scope } = tool;
      const now = clock();
      const ordinal = made.length + 1;
      const _id = newId('toolCall');
      const intent = intentFor(toolCallWork(org_id, _id), now);
      await noteCalls(org_id, message._id, ordinal);
      const call = await createToolCall({
        _id,
        org_id,
        mode,
        conv_id,
        customer_id,
        message_id: message._id,
        ordinal,
        ...(message.session_id === undefined ? {} : { session_id: message.session_id }),
        tool_name,
        risk_tier,
        auth_scope,
        pin,
        arguments: JSON.stringify(given),
        arguments_sha256: argumentsHash(tool_name, pin, given),
        state: 'new',
        held_back: 0,
        created_at: now,
        ...keptUntil(mode, now),
        pending: [intent],
      });
      if (call) {
        await startNear(ToolCallModel, call, [intent]);
        await settled(org_id, _id, patienceMs);
      }
      const standing = call ?? (await callsFor(org_id, message._id)).at(-1)!;
      return heldUpBy(standing);
    },

    /** The messages of a conversation whose answers wait for a call, and that call. */
    async heldUp(orgId: string, convId: string, waiting: readonly Message[]): Promise<Map<string, HeldUp>> {
      if (!waiting.some(({ calls }) => calls !== undefined)) return new Map();
      const open = await messagesHeldUp(orgId, convId);
      return new Map([...open].map(([messageId, call]) => [messageId, heldUpBy(call)]));
    },
  };
}

const madeOf = ({ tool_name, risk_tier, outcome, unknown = false, awaited, result, ...call }: ToolCall): CallMade => ({
  tool_name,
  risk_tier,
  arguments: JSON.parse(call.arguments) as Record<string, unknown>,
  outcome: outcome ?? 'error',
  unknown,
  byMember: awaited === 'member',
  ...(result === undefined ? {} : { result: JSON.parse(result) as ToolResult }),
});

/** The customer's e-mail, where the organization's backend has vouched for it. */
async function vouchedEmail({ org_id: orgId, session_id: sessionId }: Message): Promise<string | undefined> {
  const session = sessionId === undefined ? null : await findSession(orgId, sessionId);
  if (!session || session.revoked_at || identityOf(session) !== 'verified') return undefined;
  const customer = await findCustomer(orgId, session.customer_id);
  return customer?.email;
}
