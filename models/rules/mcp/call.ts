/**
 * The life of one call of a tool, from the agent's wish to its outcome. Somebody's agreement belongs to one call: to the
 * exact arguments, once, within its time.
 */
import { sentences } from '../language/sentences.ts';
import type { Verdict } from './policy.ts';
import { harmlessText } from './result.ts';
import { titleOf, type Outcome } from './tool.ts';

/**
 * `new`: nothing was decided yet. `waiting`: somebody is asked. `agreed`: it may be sent. `calling`: it was sent, or is
 * about to be; who finds it so after a death does not know whether it was. `ended`: `outcome` says how.
 */
export const callStates = ['new', 'waiting', 'agreed', 'calling', 'ended'] as const;
export type CallState = (typeof callStates)[number];

export const awaitedOnes = ['customer', 'step_up', 'member', 'input'] as const;
/** Who is asked: the customer, the customer with a step-up token, a member, or the customer what the tool asks back. */
export type Awaited = (typeof awaitedOnes)[number];

const minuteMs = 60_000;
/** How long somebody has to answer, in ms. */
export const waitMs: Readonly<Record<Awaited, number>> = {
  customer: 10 * minuteMs,
  step_up: 10 * minuteMs,
  member: 24 * 60 * minuteMs,
  input: 10 * minuteMs,
};

export const awaitedBy: Readonly<Partial<Record<Verdict, Awaited>>> = {
  ask_customer: 'customer',
  ask_step_up: 'step_up',
  ask_member: 'member',
};

/** What may happen to a call, and to which states it then leads; a state that is missing refuses it. */
export const callMoves = {
  ask: { new: 'waiting' },
  agree: { waiting: 'agreed' },
  refuse: { waiting: 'ended' },
  expire: { waiting: 'ended' },
  send: { agreed: 'calling' },
  /** Of a tool whose tier asks nobody. */
  send_unasked: { new: 'calling' },
  /** It is not sent: policy, the pin, a limit or a removed server forbid it. */
  drop: { new: 'ended', waiting: 'ended', agreed: 'ended' },
  /** The tool has asked something back, so it has done nothing yet. */
  inquire: { calling: 'waiting' },
  finish: { calling: 'ended' },
} as const satisfies Record<string, Partial<Record<CallState, CallState>>>;
export type CallMove = keyof typeof callMoves;

/** The states from which a move is possible. */
export const movableFrom = (move: CallMove): CallState[] => Object.keys(callMoves[move]) as CallState[];
/** Where a move leads, from wherever it is possible. */
export const leadsTo = (move: CallMove): CallState => Object.values(callMoves[move])[0]!;

/** What a decision is held against. */
export type Asked = { state: CallState; awaited?: Awaited; ask_until?: Date; arguments_sha256: string };
export type Decision = { by: Awaited; approved: boolean; at: Date };

/** Why a decision does not count; undefined: it does. */
export type Refusal = 'not_asked' | 'decided' | 'expired';

export function refusalOf(asked: Asked, { by, at }: Decision): Refusal | undefined {
  if (asked.state !== 'waiting') return asked.awaited === undefined ? 'not_asked' : 'decided';
  if (asked.awaited !== by) return 'not_asked';
  return asked.ask_until === undefined || at >= asked.ask_until ? 'expired' : undefined;
}

/** How a call ends that somebody refused. */
export const refusedOutcome: Readonly<Record<Awaited, Outcome>> = {
  customer: 'declined',
  step_up: 'declined',
  member: 'denied',
  input: 'declined',
};

/** Whether what is about to be sent is what was agreed to. */
export const isAgreedTo = (agreed: string | undefined, argumentsNow: string): boolean => agreed === argumentsNow;

const maxSentence = 300;

/**
 * What somebody agrees to, in words: each argument on a line of its own; where there are none, what the tool does, by the first
 * sentence of the description that a member has approved.
 */
export function agreementText(description: string, given: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(given).map(
    ([name, value]) => `${titleOf(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  if (lines.length > 0) return lines.join('\n');
  const [first = ''] = sentences(description.slice(0, 4 * maxSentence));
  return harmlessText(first, maxSentence);
}
