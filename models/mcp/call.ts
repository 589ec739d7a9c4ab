/**
 * Tool calls, each from the agent's request to its outcome. Every transition is one compare-and-set by the table of
 * models/rules/mcp/call.ts, so that only one of several concurrent transitions succeeds.
 */
import type mongoose from 'mongoose';
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, newest, olderThan, updaterOf, type RecordOf } from '../base/define.ts';
import { boolean, date, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import {
  callStates,
  leadsTo,
  movableFrom,
  refusedOutcome,
  awaitedOnes,
  type Awaited,
  type CallMove,
  type CallState,
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
    /** The call is made in order to answer this message of the customer. */
    message_id: string,
    /** Numbers the calls for one message, from 1. */
    ordinal: number,
    /** The session of the message; mails have none. */
    session_id: optional(string),
    tool_name: string,
    risk_tier: oneOf(riskTiers),
    auth_scope: oneOf(authScopes),
    /** The pin (the hash of the approved definition) that the tool had when the agent chose it. */
    pin: string,
    /** The arguments as JSON text, because MongoDB would read property names with `$` as operators. */
    arguments: string,
    arguments_sha256: string,
    state: oneOf(callStates),
    awaited: optional(oneOf(awaitedOnes)),
    ask_until: optional(date),
    /** The hash of the approved arguments. */
    agreed_sha256: optional(string),
    decided_by: optional(string),
    /** JSON of `CallQuestions`: the tool's questions, and the customer's answers so far. */
    questions: optional(string),
    /** How often the tool has asked questions. */
    rounds: optional(number),
    /** How often the call was delayed by the rate limit. */
    held_back: number,
    /** The attempt that sends the call, and the end of its lease; the sender extends the lease while it is alive. */
    attempt: optional(string),
    sending_until: optional(date),
    outcome: optional(oneOf(outcomes)),
    /** True when it is unknown whether the call had its effect. */
    unknown: optional(boolean),
    /** The result of the call, as JSON. */
    result: optional(string),
    created_at: date,
    ended_at: optional(date),
    expires_at: optional(date),
    pending: pendingField,
  },
  [
    // This index is unique, so that a repeated attempt at an answer does not make the same call twice.
    { fields: { org_id: 1, message_id: 1, ordinal: 1 }, unique: true },
    { fields: { conv_id: 1, _id: 1 } },
    { fields: { customer_id: 1 } },
    { fields: { org_id: 1, state: 1, _id: -1 } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type ToolCall = RecordOf<typeof ToolCallModel>;

const update = updaterOf(ToolCallModel);

export const readQuestions = ({ questions }: ToolCall): CallQuestions | undefined =>
  questions === undefined ? undefined : (JSON.parse(questions) as CallQuestions);

/** The id of one question of a call: the round, and the question's number in it. */
export const questionIdOf = ({ rounds = 0 }: ToolCall, number: number): string => `${rounds}.${number}`;

/** Stores a new call; null when an earlier attempt at the answer has made this call. */
export async function createToolCall(call: ToolCall): Promise<ToolCall | null> {
  return (await unlessDuplicate(() => collectionOf(ToolCallModel).insertOne(call))) ? call : null;
}

export async function findToolCall(orgId: string, callId: string): Promise<ToolCall | null> {
  return collectionOf(ToolCallModel).findOne({ _id: callId, org_id: orgId });
}

export async function callState(orgId: string, callId: string): Promise<CallState | undefined> {
  const found = await collectionOf(ToolCallModel).findOne(
    { _id: callId, org_id: orgId },
    { projection: { _id: 0, state: 1 } },
  );
  return found?.state;
}

export async function callsFor(orgId: string, messageId: string): Promise<ToolCall[]> {
  return collectionOf(ToolCallModel).find({ message_id: messageId, org_id: orgId }).sort({ ordinal: 1 }).toArray();
}

/** The unfinished calls of a conversation, by the id of the customer's message that waits for the call. */
export async function messagesHeldUp(orgId: string, convId: string): Promise<Map<string, ToolCall>> {
  const open = await collectionOf(ToolCallModel)
    .find({ org_id: orgId, conv_id: convId, state: { $ne: 'ended' } })
    .toArray();
  return new Map(open.map((call) => [call.message_id, call]));
}

/** The conditions of a transition on a call, besides the state of the call. */
export type CallFilter = mongoose.mongo.Filter<ToolCall>;
/** The fields that a transition sets, besides the state. */
export type Changes = Partial<Pick<ToolCall, 'awaited' | 'ask_until' | 'agreed_sha256' | 'decided_by' | 'attempt'>> &
  Partial<Pick<ToolCall, 'sending_until'>> &
  Partial<Pick<ToolCall, 'outcome' | 'unknown' | 'result' | 'ended_at' | 'questions' | 'rounds'>>;

/** Performs a transition with compare-and-set; null when the state of the call (or `only`) does not allow it. */
export async function moveCall(
  { _id, org_id }: Pick<ToolCall, '_id' | 'org_id'>,
  move: CallMove,
  changes: Changes = {},
  { only = {}, intents = [] }: { only?: CallFilter; intents?: readonly Intent[] } = {},
): Promise<ToolCall | null> {
  return collectionOf(ToolCallModel).findOneAndUpdate(
    { ...only, _id, org_id, state: { $in: movableFrom(move) } },
    {
      $set: { ...changes, state: leadsTo(move) },
      ...(intents.length > 0 ? { $push: { pending: { $each: [...intents] } } } : {}),
    },
    { returnDocument: 'after' },
  );
}

/** Whether an attempt with an unexpired lease is sending the call. */
export const isBeingSent = ({ state, sending_until }: ToolCall, now: Date): boolean =>
  state === 'calling' && sending_until !== undefined && sending_until > now;

/** Matches a call whose sending attempt let its lease expire. */
export const abandonedBy = (attempt: string, now: Date) => ({
  attempt,
  $or: [{ sending_until: { $exists: false } }, { sending_until: { $lte: now } }],
});

/**
 * Takes over the call of a crashed attempt, so that the call is sent again. Use this only for calls that only read
 * (`isRead`), because the crashed attempt may have sent the call. False when the attempt is alive or another one was
 * faster.
 */
export const resend = (
  { _id, org_id, attempt }: ToolCall,
  by: Required<Pick<ToolCall, 'attempt' | 'sending_until'>>,
  now: Date,
) => update(org_id, _id, { $set: by }, { ...abandonedBy(attempt!, now), state: 'calling' });

export const keepSending = ({ _id, org_id }: ToolCall, attempt: string, sending_until: Date) =>
  update(org_id, _id, { $set: { sending_until } }, { state: 'calling', attempt });

export const countHeldBack = (orgId: string, callId: string) => update(orgId, callId, { $inc: { held_back: 1 } });

/**
 * Stores a decision on a call once, together with the intent to continue; null when the call does not wait for this
 * decision any more. An approval covers the current arguments, whose hash is stored; the sender later compares it with
 * the arguments that it sends.
 */
export const decideCall = (
  call: ToolCall,
  { by, approved, actor, at }: { by: Awaited; approved: boolean; actor: string; at: Date },
  intents: readonly Intent[],
): Promise<ToolCall | null> =>
  moveCall(
    call,
    approved ? 'agree' : 'refuse',
    approved
      ? { agreed_sha256: call.arguments_sha256, decided_by: actor }
      : { outcome: refusedOutcome[by], decided_by: actor, ended_at: at },
    { only: { awaited: by, ask_until: { $gt: at } }, intents },
  );

/**
 * Stores the customer's answer to one question of a tool, together with the intents to continue. After the last answer
 * the call is sent; otherwise the next question is asked (`more`). Null when the question no longer waits for an
 * answer, or when the stored questions differ from those in `call` (optimistic locking).
 */
export const answerQuestion = (
  call: ToolCall,
  { questions, more, at }: { questions: string; more: boolean; at: Date },
  intents: readonly Intent[],
): Promise<ToolCall | null> =>
  moveCall(
    call,
    more ? 'ask_on' : 'agree',
    { questions },
    { only: { awaited: 'input', ask_until: { $gt: at }, questions: call.questions! }, intents },
  );

/** Calls that wait for a member, older than `after`, newest first. */
export async function listApprovals(
  orgId: string,
  shown: readonly Mode[],
  { limit, after, now }: { limit: number; after?: string | undefined; now: Date },
): Promise<ToolCall[]> {
  const open = { state: 'waiting', awaited: 'member', ask_until: { $gt: now } } as const;
  const which = { org_id: orgId, mode: { $in: [...shown] }, ...open, ...olderThan(after) };
  return newest(collectionOf(ToolCallModel).find(which), limit);
}

/**
 * Stores an intent in every unfinished call of an organization, so that the workflow of each call checks the call
 * again. Returns the calls with their intents.
 */
export async function nudgeCalls(orgId: string, intentOf: (call: ToolCall) => Intent): Promise<[ToolCall, Intent][]> {
  const open = await collectionOf(ToolCallModel)
    .find({ org_id: orgId, state: { $ne: 'ended' } })
    .toArray();
  const nudged: [ToolCall, Intent][] = [];
  for (const call of open) {
    const intent = intentOf(call);
    await update(orgId, call._id, { $push: { pending: intent } });
    nudged.push([call, intent]);
  }
  return nudged;
}
