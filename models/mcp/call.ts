/**
 * Calls of tools, each from the agent's wish to its outcome. Every move is one compare-and-set after the table of
 * models/rules/mcp/call.ts, so of two who decide, claim or end a call at once only one does.
 */
import type mongoose from 'mongoose';
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import {
  callStates,
  leadsTo,
  movableFrom,
  refusalOf,
  refusedOutcome,
  awaitedOnes,
  type Awaited,
  type CallMove,
  type CallState,
  type Refusal,
} from '../rules/mcp/call.ts';
import type { CallQuestions } from '../rules/mcp/question.ts';
import { authScopes, outcomes, riskTiers } from '../rules/mcp/tool.ts';

export const ToolCallModel = defineModel(
  'ToolCall',
  'tool_calls',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    conv_id: string,
    customer_id: string,
    /** The customer's message it is made for, and which call for it this is, from 1. */
    message_id: string,
    ordinal: number,
    /** The session that the message came with; a message by mail has none. */
    session_id: optional(string),
    tool_name: string,
    risk_tier: oneOf(riskTiers),
    auth_scope: oneOf(authScopes),
    /** What was approved when the agent chose it. */
    pin: string,
    /** JSON, for the reason in models/mcp/server.ts. */
    arguments: string,
    arguments_sha256: string,
    state: oneOf(callStates),
    awaited: optional(oneOf(awaitedOnes)),
    ask_until: optional(date),
    /** The hash of what was agreed to. */
    agreed_sha256: optional(string),
    decided_by: optional(string),
    /** JSON: what the tool asks back, and what the customer has answered (`CallQuestions`). */
    questions: optional(string),
    /** How often it has asked back. */
    rounds: optional(number),
    /** How often it waited for the limit of calls. */
    held_back: number,
    /** Which attempt sends it, and until when nobody takes it over; the sender moves this time forward while it lives. */
    attempt: optional(string),
    sending_until: optional(date),
    outcome: optional(oneOf(outcomes)),
    /** Whether it is not known if the call had its effect. */
    unknown: optional(boolean),
    /** JSON. */
    result: optional(string),
    created_at: date,
    ended_at: optional(date),
    expires_at: optional(date),
    pending: pendingField,
  },
  [
    // An attempt at a turn that runs again meets the call that was made before.
    { fields: { message_id: 1, ordinal: 1 }, unique: true },
    { fields: { conv_id: 1, _id: 1 } },
    { fields: { customer_id: 1 } },
    { fields: { org_id: 1, state: 1, _id: -1 } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type ToolCall = RecordOf<typeof ToolCallModel>;

export const readQuestions = ({ questions }: ToolCall): CallQuestions | undefined =>
  questions === undefined ? undefined : (JSON.parse(questions) as CallQuestions);

/** Names one question of a call among all that its tool asks back: the round, and its place in it. */
export const questionIdOf = ({ rounds = 0 }: ToolCall, number: number): string => `${rounds}.${number}`;

/** Null when an earlier attempt at the turn has made this call. */
export async function createToolCall(call: ToolCall): Promise<ToolCall | null> {
  try {
    await collectionOf(ToolCallModel).insertOne(call);
    return call;
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

export async function findToolCall(orgId: string, callId: string): Promise<ToolCall | null> {
  return collectionOf(ToolCallModel).findOne({ _id: callId, org_id: orgId });
}

/** Undefined when there is no such call. */
export async function callState(orgId: string, callId: string): Promise<CallState | undefined> {
  const found = await collectionOf(ToolCallModel).findOne(
    { _id: callId, org_id: orgId },
    { projection: { _id: 0, state: 1 } },
  );
  return found?.state;
}

/** The calls made for a message, in their order. */
export async function callsFor(orgId: string, messageId: string): Promise<ToolCall[]> {
  return collectionOf(ToolCallModel).find({ message_id: messageId, org_id: orgId }).sort({ ordinal: 1 }).toArray();
}

/** The messages of a conversation for which a call has not ended. */
export async function messagesHeldUp(orgId: string, convId: string): Promise<Map<string, ToolCall>> {
  const open = await collectionOf(ToolCallModel)
    .find({ org_id: orgId, conv_id: convId, state: { $ne: 'ended' } })
    .toArray();
  return new Map(open.map((call) => [call.message_id, call]));
}

type Changes = Partial<Pick<ToolCall, 'awaited' | 'ask_until' | 'agreed_sha256' | 'decided_by' | 'attempt'>> &
  Partial<Pick<ToolCall, 'sending_until'>> &
  Partial<Pick<ToolCall, 'outcome' | 'unknown' | 'result' | 'ended_at' | 'questions' | 'rounds'>>;

/** Does a move; null when the call's state (or `only`) does not allow it. */
export async function moveCall(
  orgId: string,
  callId: string,
  move: CallMove,
  changes: Changes = {},
  { only = {}, intents = [] }: { only?: mongoose.mongo.Filter<ToolCall>; intents?: readonly Intent[] } = {},
): Promise<ToolCall | null> {
  return collectionOf(ToolCallModel).findOneAndUpdate(
    { ...only, _id: callId, org_id: orgId, state: { $in: movableFrom(move) } },
    {
      $set: { ...changes, state: leadsTo(move) },
      ...(intents.length > 0 ? { $push: { pending: { $each: [...intents] } } } : {}),
    },
    { returnDocument: 'after' },
  );
}

/** Whether a call is being sent by somebody who has given a sign of life. */
export const isBeingSent = ({ state, sending_until }: ToolCall, now: Date): boolean =>
  state === 'calling' && sending_until !== undefined && sending_until > now;

/** A call that this attempt was sending, which gives no more signs of life. */
export const abandonedBy = (attempt: string, now: Date) => ({
  attempt,
  $or: [{ sending_until: { $exists: false } }, { sending_until: { $lte: now } }],
});

/** Takes a read over from an attempt that has died, so that it may be sent again. */
export async function resend(
  call: ToolCall,
  by: Required<Pick<ToolCall, 'attempt' | 'sending_until'>>,
  now: Date,
): Promise<boolean> {
  const { matchedCount } = await collectionOf(ToolCallModel).updateOne(
    { ...abandonedBy(call.attempt!, now), _id: call._id, org_id: call.org_id, state: 'calling' },
    { $set: by },
  );
  return matchedCount === 1;
}

/** The sender's sign of life. */
export async function keepSending(call: ToolCall, attempt: string, sending_until: Date): Promise<void> {
  await collectionOf(ToolCallModel).updateOne(
    { _id: call._id, org_id: call.org_id, state: 'calling', attempt },
    { $set: { sending_until } },
  );
}

export async function countHeldBack(orgId: string, callId: string): Promise<void> {
  await collectionOf(ToolCallModel).updateOne({ _id: callId, org_id: orgId }, { $inc: { held_back: 1 } });
}

export type Decided = { call: ToolCall } | { refusal: Refusal };

/**
 * Stores somebody's decision on a call, once, together with the intent to go on with it. What is agreed to are the arguments
 * as they are; whoever sends them later compares.
 */
export async function decideCall(
  call: ToolCall,
  decision: { by: Awaited; approved: boolean; actor: string; at: Date },
  intents: readonly Intent[],
): Promise<Decided> {
  const refusal = refusalOf(call, decision);
  if (refusal) return { refusal };
  const { by, approved, actor, at } = decision;
  const moved = await moveCall(
    call.org_id,
    call._id,
    approved ? 'agree' : 'refuse',
    approved
      ? { agreed_sha256: call.arguments_sha256, decided_by: actor }
      : { outcome: refusedOutcome[by], decided_by: actor, ended_at: at },
    { only: { state: 'waiting', awaited: by, ask_until: { $gt: at } }, intents },
  );
  return moved ? { call: moved } : { refusal: 'decided' };
}

/**
 * Stores the customer's answer to one question of a tool, once, together with the intent to go on: with the call when it was
 * the last one, or else with the next question. `before`: the questions as they were when it was answered.
 */
export async function answerQuestion(
  call: ToolCall,
  before: string,
  { questions, more, at }: { questions: string; more: boolean; at: Date },
  intents: readonly Intent[],
): Promise<Decided> {
  const refusal = refusalOf(call, { by: 'input', approved: true, at });
  if (refusal) return { refusal };
  const moved = await collectionOf(ToolCallModel).findOneAndUpdate(
    {
      _id: call._id,
      org_id: call.org_id,
      state: 'waiting',
      awaited: 'input',
      ask_until: { $gt: at },
      questions: before,
    },
    { $set: { questions, state: more ? 'waiting' : 'agreed' }, $push: { pending: { $each: [...intents] } } },
    { returnDocument: 'after' },
  );
  return moved ? { call: moved } : { refusal: 'decided' };
}

/** Calls that wait for a member, the newest first, from before `after` on. */
export async function listApprovals(
  orgId: string,
  shown: readonly Mode[],
  { limit, after, now }: { limit: number; after?: string | undefined; now: Date },
): Promise<ToolCall[]> {
  return collectionOf(ToolCallModel)
    .find({
      org_id: orgId,
      state: 'waiting',
      awaited: 'member',
      mode: { $in: [...shown] },
      ask_until: { $gt: now },
      ...(after === undefined ? {} : { _id: { $lt: after } }),
    })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

/** Leaves word with every call of an organization that has not ended; gives those calls. */
export async function nudgeCalls(orgId: string, intentOf: (call: ToolCall) => Intent): Promise<[ToolCall, Intent][]> {
  const open = await collectionOf(ToolCallModel)
    .find({ org_id: orgId, state: { $ne: 'ended' } })
    .toArray();
  const nudged: [ToolCall, Intent][] = [];
  for (const call of open) {
    const intent = intentOf(call);
    await collectionOf(ToolCallModel).updateOne({ _id: call._id, org_id: orgId }, { $push: { pending: intent } });
    nudged.push([call, intent]);
  }
  return nudged;
}
