/**
 * Tool calls in a turn: the tools that the agent may call, the calls it has made for a message, and the start of a new
 * call. A turn waits briefly for its call. If the call takes longer, the turn ends and is repeated after the call.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallMade, Toolbox, WantedCall } from '../../intelligence/intelligence.ts';
import { findSession } from '../../models/access/session.ts';
import { newId } from '../../models/base/ids.ts';
import { intentFor } from '../../models/base/pending.ts';
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
import { defined } from '../../models/rules/base/defined.ts';
import type { Starter } from '../../providers/base/handled.ts';

/** The call that a turn waits for, and how long in ms until the turn checks it again. */
export type HeldUp = { callId: string; untilMs: number };

/**
 * A turn that waits for a call without a deadline checks the call again after this time, in ms. The end of a call is
 * signalled, so the check only covers lost signals.
 */
const lookAgainMs = 5 * 60_000;

/**
 * A turn polls for the end of its new call: for `defaultPatienceMs`, every `lookEveryMs`. Most calls end within that
 * time.
 */
const defaultPatienceMs = 500;
const lookEveryMs = 20;

/** Resolves when a call has ended or waits for a person, or after `patienceMs`. */
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
  startNear: Starter['start'];
  clock: () => Date;
  patienceMs?: number;
}) {
  const heldUpBy = ({ _id, ask_until }: Pick<ToolCall, '_id' | 'ask_until'>): HeldUp => ({
    callId: _id,
    // The turn checks the call slightly after its deadline, because the call's own workflow handles the expired
    // deadline first.
    untilMs: ask_until ? Math.max(1_000, ask_until.getTime() - clock().getTime() + 10_000) : lookAgainMs,
  });

  return {
    /**
     * The agent's tools for this message, and the calls that were made for it. Undefined when the organization offers
     * no tools in this mode and no call was made.
     */
    async toolboxFor({ org_id: orgId, mode }: Conversation, message: Message): Promise<Toolbox | undefined> {
      // A cached answer is enough to find that the organization has no server. If it has one, the server is read again,
      // because its tools may have changed.
      const server = (await recentToolServer(orgId)) && (await findToolServer(orgId));
      const serves = server !== null && servesMode(server, mode);
      if (!serves && message.calls === undefined) return undefined;
      const made = message.calls === undefined ? [] : (await callsFor(orgId, message._id)).map(madeOf);
      const offered =
        serves && made.length < maxCallsPerTurn ? usableTools(server.tools, message.mail ? 'email' : 'chat') : [];
      return { offered, made, email: await vouchedEmail(message) };
    },

    /** Stores the wanted call and starts it. If an earlier attempt has stored a call and died, that call is reused. */
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
        ...defined({ session_id: message.session_id }),
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

    /** The messages whose answers wait for a tool call, each with its call. */
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
  asked: awaited !== undefined,
  byMember: awaited === 'member' && call.agreed_sha256 === undefined,
  ...(result === undefined ? {} : { result: JSON.parse(result) as ToolResult }),
});

/** The customer's e-mail, if the organization's backend or a signature has verified it. */
async function vouchedEmail({ org_id: orgId, session_id: sessionId }: Message): Promise<string | undefined> {
  const session = sessionId === undefined ? null : await findSession(orgId, sessionId);
  if (!session || session.revoked_at || identityOf(session) !== 'verified') return undefined;
  const customer = await findCustomer(orgId, session.customer_id);
  return customer?.email;
}
