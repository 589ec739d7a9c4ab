/** Reports a tool call: in the conversation, in the audit log, and to the turn that waits for it. */
import type { CallDeps } from './deps.ts';
import { count } from '../../../clients/base/meter.ts';
import { collectionOf } from '../../../models/base/define.ts';
import { intentFor } from '../../../models/base/pending.ts';
import { conversationWriter } from '../../../models/chat/log.ts';
import { MessageModel, type Message } from '../../../models/chat/message.ts';
import { moveCall, ToolCallModel, type CallFilter, type Changes, type ToolCall } from '../../../models/mcp/call.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { conversationWork } from '../../../models/rules/chat/work.ts';
import { progressText, type Progress } from '../../../models/rules/mcp/result.ts';
import { titleOf, type Outcome } from '../../../models/rules/mcp/tool.ts';

/** Progress is shown to a customer at most every `progressEveryMs`, and at most `maxProgress` times. */
const progressEveryMs = 2_000;
const maxProgress = 20;

export const writerFor = (deps: CallDeps, call: ToolCall) =>
  conversationWriter({ _id: call.conv_id, org_id: call.org_id, mode: call.mode }, deps.clock);

/**
 * Ends a call: `drop` and `expire` end a call that was not sent, `finish` ends one that was sent. `only`: a further
 * condition that the stored call must meet.
 */
export const endCall = (
  deps: CallDeps,
  call: ToolCall,
  move: 'drop' | 'expire' | 'finish',
  outcome: Outcome,
  more: Changes = {},
  only: CallFilter = {},
) => moveCall(call, move, { ...more, outcome, ended_at: deps.clock() }, { only });

/**
 * Shows the customer a notice until the answer arrives. `bodyOf` writes the notice's text for the message that the call
 * is made for.
 */
export async function notice(
  deps: CallDeps,
  call: ToolCall,
  bodyOf: (message: Message) => string | Promise<string>,
  key?: string,
): Promise<void> {
  const message = await collectionOf(MessageModel).findOne({ _id: call.message_id, org_id: call.org_id });
  if (!message?.reply_id) return;
  const body = { message_id: message.reply_id, body: await bodyOf(message) };
  await writerFor(deps, call).append({ type: 'notice', body, transient: true, ...defined({ key }) });
}

/** Writes an approval or a call's end to the audit log. */
export function record(
  deps: CallDeps,
  call: ToolCall,
  kind: 'approval' | 'invocation',
  action: string,
  nth = '',
): Promise<unknown> {
  const { _id, org_id, mode, conv_id, tool_name, risk_tier, auth_scope, arguments_sha256, outcome, ended_at } = call;
  const ended = kind === 'invocation' && ended_at;
  return deps.audit({
    _id: `aud_${_id}_${action}${nth}`,
    org_id,
    mode,
    kind,
    actor: kind === 'approval' ? (call.decided_by ?? 'agent') : 'agent',
    action,
    tool: tool_name,
    conversation_id: conv_id,
    auth_scope,
    risk_tier,
    arguments_sha256,
    ...(ended ? { duration_ms: ended_at.getTime() - call.created_at.getTime() } : {}),
    ...(ended && outcome ? { outcome } : {}),
  });
}

/** Reports the end of a tool call to the audit log and the customer, and resumes the turn. Idempotent. */
export async function conclude(deps: CallDeps, call: ToolCall): Promise<void> {
  const { _id: callId, org_id: orgId, conv_id: convId, awaited, tool_name, outcome } = call;
  if (awaited && call.decided_by !== undefined)
    await record(deps, call, 'approval', call.agreed_sha256 === undefined ? 'refused' : 'approved');
  else if (awaited && outcome === 'expired') await record(deps, call, 'approval', 'expired');
  await record(deps, call, 'invocation', call.unknown ? 'outcome_unknown' : 'call');
  count('tool_calls_total', { outcome: outcome ?? 'unknown' });
  if (awaited || call.attempt !== undefined) {
    const body = { pending_id: callId, tool_name, ok: outcome === 'ok', label: titleOf(tool_name) };
    await writerFor(deps, call).append({ type: 'action_result', key: `action:${callId}`, body });
  }
  const intent = intentFor(conversationWork(orgId, convId), deps.clock());
  await collectionOf(ToolCallModel).updateOne({ _id: callId, org_id: orgId }, { $push: { pending: intent } });
  await deps.start(ToolCallModel, call, [intent]);
  deps.log.info({ org_id: orgId, call_id: callId, tool: tool_name, outcome }, 'a tool call ended');
}

/** Shows a tool's progress at intervals; progress after the call's end is not shown. */
export function progressOf(deps: CallDeps, call: ToolCall) {
  let writing: Promise<unknown> = Promise.resolve();
  let shown = 0;
  let nextAt = deps.clock().getTime() + progressEveryMs;
  return {
    say(said: Progress): void {
      const now = deps.clock().getTime();
      const body = progressText(titleOf(call.tool_name), said);
      if (now < nextAt || shown === maxProgress || body === undefined) return;
      [shown, nextAt] = [shown + 1, now + progressEveryMs];
      writing = writing
        .then(() => notice(deps, call, () => body))
        .catch((error: unknown) => deps.log.warn({ err: error }, 'progress not shown'));
    },
    async end(): Promise<void> {
      shown = maxProgress;
      await writing;
    },
  };
}
