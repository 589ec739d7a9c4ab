/** A turn that starts a tool call: it waits briefly for a call that ends at once, and does not wait for others. */
import { expect, it } from '@jest/globals';
import type { Toolbox, WantedCall } from '../../intelligence/intelligence.ts';
import { createToolUse } from '../../activities/chat/tooluse.ts';
import { newId } from '../../models/base/ids.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import type { Message } from '../../models/chat/message.ts';
import { callState, findToolCall, moveCall } from '../../models/mcp/call.ts';
import { modelsIn } from '../kit/database.ts';

modelsIn('tooluse');

const now = new Date('2096-01-02T03:04:05Z');
const orgId = newId('org');
/** How long a turn waits for a call, in ms: longer than a busy machine takes for a write. */
const long = { patienceMs: 60_000 };
const tool = { tool_name: 'track_parcel', pin: 'p', risk_tier: 'read_public', auth_scope: 'public' };

/** Starts a call, applies `become` a moment later, and returns the call's state when the turn continues. */
async function begun(become: (callId: string) => Promise<unknown>, patience: { patienceMs?: number } = {}) {
  const { begin } = createToolUse({
    startNear: async (_model, { _id }) => void setTimeout(() => void become(_id), 30),
    clock: () => now,
    ...patience,
  });
  const conversation = { _id: newId('conversation'), org_id: orgId, mode: 'test', customer_id: newId('customer') };
  const { callId } = await begin(
    conversation as Conversation,
    { _id: newId('message') } as Message,
    { tool, arguments: {} } as WantedCall,
    { made: [] as Toolbox['made'] } as Toolbox,
  );
  return { callId, state: await callState(orgId, callId) };
}

it('the agent’s turn waits for a short tool call and gets its result', async () => {
  const ended = { outcome: 'ok', ended_at: now } as const;
  expect((await begun((id) => moveCall(orgId, id, 'drop', ended), long)).state).toBe('ended');
});

it('the agent’s turn does not wait longer for a tool call that waits for a person’s decision', async () => {
  const ask_until = new Date(now.getTime() + 60_000);
  const asked = { awaited: 'member', ask_until } as const;
  expect((await begun((id) => moveCall(orgId, id, 'ask', asked), long)).state).toBe('waiting');
});

it('the agent’s turn continues after a moment when its tool call has not ended', async () => {
  const { callId, state } = await begun(async () => undefined);
  expect([state, (await findToolCall(orgId, callId))?.pending?.length]).toEqual(['new', 1]);
});
