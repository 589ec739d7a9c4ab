/**
 * A turn that uses tools. When it starts a call, it waits briefly for a call that ends at once, and does not wait for
 * others. When calls have ended, it tells the customer what came of them.
 */
import { describe, expect, it } from '@jest/globals';
import type { CallMade, Choice, Toolbox, WantedCall } from '../../intelligence/intelligence.ts';
import { chooseByModel } from '../../intelligence/model/chat/tools.ts';
import { createOffline } from '../../intelligence/offline/offline.ts';
import { createToolUse } from '../../activities/chat/tooluse.ts';
import { useTools } from '../../agent/chat/tools.ts';
import { takeTurn, type Asked } from '../../agent/chat/turn.ts';
import type { AgentDeps } from '../../agent/knowledge/deps.ts';
import { createOrganization, newOrganization, setOrganizationHours } from '../../models/access/organization.ts';
import { newId } from '../../models/base/ids.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import type { Message } from '../../models/chat/message.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import { callState, findToolCall, moveCall } from '../../models/mcp/call.ts';
import type { CallMove } from '../../models/rules/mcp/call.ts';
import { modelsIn } from '../kit/database.ts';
import { withoutEmbedding } from '../kit/intelligence.ts';

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
  expect((await begun((_id) => moveCall({ _id, org_id: orgId }, 'drop', ended), long)).state).toBe('ended');
});

it('the agent’s turn stops waiting for a tool call as soon as the call needs a person’s decision', async () => {
  const ask_until = new Date(now.getTime() + 60_000);
  const asked = { awaited: 'member', ask_until } as const;
  expect((await begun((_id) => moveCall({ _id, org_id: orgId }, 'ask', asked), long)).state).toBe('waiting');
});

it('the agent’s turn waits only a moment for a tool call, and then continues without the call’s result', async () => {
  const { callId, state } = await begun(async () => undefined);
  expect([state, (await findToolCall(orgId, callId))?.pending?.length]).toEqual(['new', 1]);
});

/** The services of an agent whose model makes this choice. Its documents cannot be searched. */
const agentChoosing = (choice: Choice): AgentDeps => {
  const unreadable = () => Promise.reject(new Error('The index is away.'));
  return {
    search: { query: unreadable, tiers: unreadable },
    intelligence: { ...createOffline({ embedding: withoutEmbedding }), chooseTool: async () => choice },
    embedding: withoutEmbedding,
    clock: () => now,
  } as unknown as AgentDeps;
};
const asking = (more: Partial<Asked> = {}): Asked => ({
  orgId,
  mode: 'test',
  body: 'Please cancel my order A-7',
  history: [],
  segments: [],
  misses: 0,
  attempt: 1,
  patience: {},
  allowed: async () => true,
  ...more,
});
const boxOf = (made: CallMade[]) => ({ offered: [tool], email: undefined, made }) as unknown as Toolbox;
const callOf = (tool_name: string, outcome: CallMade['outcome'], more: Partial<CallMade> = {}): CallMade => ({
  tool_name,
  risk_tier: 'safe_write',
  arguments: {},
  outcome,
  unknown: false,
  asked: false,
  byMember: false,
  ...more,
});
const returning = (text: string) => ({ result: { text, is_error: false } });

describe('what the customer is told after tool calls', () => {
  const cancelled = callOf('cancel_order', 'ok', returning('A-7 is cancelled.'));
  const done = 'Cancel order:\nA-7 is cancelled.';
  const served: { counts?: 'answered' } = { counts: 'answered' };
  const listed = callOf('list_orders', 'ok', { risk_tier: 'read_private', ...returning('A-7') });
  it.each([
    [
      'a declined call after a change',
      [cancelled, callOf('refund', 'declined')],
      `${done}\n\nAll right, nothing was done.`,
      served,
    ],
    ['a declined call after a read', [listed, callOf('refund', 'declined')], 'All right, nothing was done.', {}],
    ['two changes', [cancelled, callOf('refund', 'ok')], `${done}\n\nThat is done.`, served],
    ['a rate-limited call after a change', [cancelled, callOf('refund', 'rate_limited')], done, served],
    ['a suspended call after a read and a change', [listed, cancelled, callOf('refund', 'suspended')], done, served],
    ['a rate-limited call after a read', [listed, callOf('refund', 'rate_limited')], 'List orders:\nA-7', served],
  ])(
    'the customer is told about every change that tool calls made, even when the last call did nothing: %s',
    async (_, made, body, counts) => {
      expect(await useTools(agentChoosing(undefined), asking(), boxOf(made))).toEqual({ told: { body, ...counts } });
    },
  );

  it('a message is answered from the documents when a suspension or a rate limit prevented every tool call', async () => {
    const made = [callOf('refund', 'suspended'), callOf('cancel_order', 'rate_limited')];
    expect(await useTools(agentChoosing(undefined), asking(), boxOf(made))).toBeUndefined();
  });

  it.each(['suspended', 'rate_limited'] as const)(
    'when a tool call that needed a person’s decision is dropped as %s, the customer is told that the call failed',
    async (outcome) => {
      const deps = agentChoosing(undefined);
      deps.intelligence.chooseTool = () => Promise.reject(new Error('The model was asked.'));
      const told = await useTools(deps, asking(), boxOf([callOf('refund', outcome, { asked: true })]));
      expect(told).toEqual({ told: { body: ownSentences.actionFailed.en } });
    },
  );

  it('when a tool call escalates to a person outside the team’s hours, the customer also gets the team’s away message', async () => {
    const closed = { timezone: 'UTC', week: {}, closed: [], away_message: 'We are back in spring.' };
    const shopId = newId('org');
    await createOrganization(newOrganization(shopId, 'Shop', 'usr_1', now));
    const tell = (made: CallMade) => useTools(agentChoosing(undefined), asking({ orgId: shopId }), boxOf([made]));
    const open = 'Only a person may do this, so I have called one from the team. They will reply here.';
    expect(await tell(callOf('refund', 'handed_off'))).toEqual({ told: { body: open, escalate: 'human_only' } });
    await setOrganizationHours(shopId, closed);
    const body = `${open}\n\nWe are back in spring.`;
    expect(await tell(callOf('refund', 'handed_off'))).toEqual({ told: { body, escalate: 'human_only' } });
    expect(await tell(callOf('refund', 'error', { unknown: true }))).toMatchObject({
      told: { body: expect.stringMatching(/reply here\.\n\nWe are back in spring\.$/u), escalate: 'unknown_outcome' },
    });
    expect(await tell(callOf('refund', 'declined'))).toEqual({ told: { body: 'All right, nothing was done.' } });
  });
});

it('a message that takes an offered passage starts no tool call, even if its words fit a tool', async () => {
  const deps = agentChoosing({ call: { tool, arguments: {} } as unknown as WantedCall });
  const body = 'How to freeze a card';
  const source = { type: 'document', id: 'doc_1', name: 'a.md' } as const;
  const offers = [{ heading: body, question: body, says: '', source, passage: 'doc_1:1:0' }];
  const history: Asked['history'] = [
    { role: 'customer', body: 'Somebody may have seen my card.' },
    { role: 'ai', body: ownSentences.mayHelp.en, offers },
  ];
  expect(await useTools(deps, asking({ body }), boxOf([]))).toHaveProperty('call');
  expect(await useTools(deps, asking({ body, history }), boxOf([]))).toBeUndefined();
});

describe('a model’s answer from the results of tools', () => {
  const made = [
    callOf('cancel_order', 'ok', { arguments: { order_number: 'A-7' }, ...returning('Done.') }),
    callOf('list_orders', 'ok', { risk_tier: 'read_private', ...returning('A-77') }),
  ];
  const answered = (text: string) => {
    const deps = agentChoosing(undefined);
    const ai = { model: 'm', chooseFunction: async () => ({ text }) };
    deps.intelligence.chooseTool = (wish) => chooseByModel({ ai, embedding: withoutEmbedding }, wish);
    return useTools(deps, asking(), { offered: [], email: undefined, made });
  };
  const by = { generated_by: 'model', model: 'm' };

  it('a model’s answer from the results of tools may contain an argument of a call that made a change', async () => {
    const body = 'Order A-7 has been cancelled. Your open order is A-77.';
    expect(await answered(body)).toEqual({ told: { body, by, counts: 'answered' } });
  });

  it('when a sentence of a model’s answer was removed, the tool’s own text about its change is shown before the answer', async () => {
    const removed = 'Order A-7 has been cancelled and 900 EUR were paid.';
    const told = await answered(`${removed} Your open order is A-77.`);
    const body = 'Cancel order:\nDone.\n\nYour open order is A-77.';
    expect(told).toEqual({ told: { body, by: { ...by, dropped: [removed] }, counts: 'answered' } });
  });
});

describe('a call that waited for somebody', () => {
  type Step = readonly [CallMove, Parameters<typeof moveCall>[2]];
  const ask = (awaited: 'customer' | 'member'): Step => ['ask', { awaited, ask_until: now }];
  const agree: Step = ['agree', { agreed_sha256: 'a', decided_by: 'usr_1' }];
  const drop = (outcome: CallMade['outcome']): Step => ['drop', { outcome, ended_at: now }];
  const refuse: Step = ['refuse', { outcome: 'denied', decided_by: 'usr_1', ended_at: now }];

  it.each<[string, Step[], string]>([
    ['a member refused', [ask('member'), refuse], ownSentences.actionRefused.en],
    [
      'a member approved, in a session revoked since',
      [ask('member'), agree, drop('denied')],
      ownSentences.signInFirst.en,
    ],
    [
      'the customer confirmed, for a tool suspended since',
      [ask('customer'), agree, drop('suspended')],
      ownSentences.actionFailed.en,
    ],
  ])('the customer is told the outcome of a call that %s', async (_, steps, body) => {
    const conversation = { _id: newId('conversation'), org_id: orgId, mode: 'test', customer_id: newId('customer') };
    const message = { _id: newId('message'), calls: 1 } as Message;
    const { begin, toolboxFor } = createToolUse({
      startNear: async (_model, { _id }) => {
        for (const [move, changes] of steps) await moveCall({ _id, org_id: orgId }, move, changes);
      },
      clock: () => now,
      ...long,
    });
    const wanted = { tool, arguments: {} } as unknown as WantedCall;
    await begin(conversation as Conversation, message, wanted, boxOf([]));
    const toolbox = (await toolboxFor(conversation as Conversation, message))!;
    expect(await useTools(agentChoosing(undefined), asking(), toolbox)).toEqual({ told: { body } });
  });
});

describe('the limit of answers in test mode', () => {
  it('once test mode’s limit of answers is reached, a message is not given to the model that chooses a tool', async () => {
    const deps = agentChoosing({ missing: ['order_number'] });
    deps.intelligence.chooseTool = () => Promise.reject(new Error('The model was asked.'));
    const told = await useTools(deps, asking({ allowed: async () => false }), boxOf([]));
    expect(told).toEqual({ told: { body: ownSentences.overTestLimit.en } });
  });

  it('a message uses one answer of test mode’s limit before its first tool call, and none for further calls', async () => {
    let taken = 0;
    const allowed = async () => (taken += 1) > 0;
    await useTools(agentChoosing(undefined), asking({ allowed }), boxOf([]));
    expect(taken).toBe(1);
    await useTools(agentChoosing(undefined), asking({ allowed }), boxOf([callOf('cancel_order', 'ok')]));
    expect(taken).toBe(1);
  });
});

describe('a tool whose argument is missing while the documents cannot be searched', () => {
  const deps = agentChoosing({ missing: ['order_number'] });
  const silently = { piece: async () => undefined, again: async () => undefined };

  it('when a tool’s argument is missing and the search keeps failing, the customer is told, and a person is called', async () => {
    expect(await useTools(deps, asking({ attempt: 6 }), boxOf([]))).toBeUndefined();
    expect(await takeTurn(deps, asking({ attempt: 6 }), silently)).toMatchObject({
      body: 'I cannot look this up at the moment, so I have called a person from the team. They will reply here.',
      escalate: 'failed',
    });
  });

  it('a turn that was aborted while a search for a tool failed ends with the reason of the abort', async () => {
    const signal = AbortSignal.abort(new Error('The worker stops.'));
    await expect(useTools(deps, asking(), boxOf([]), signal)).rejects.toThrow('The worker stops.');
  });
});
