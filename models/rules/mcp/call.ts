/**
 * The state machine of one tool call, from the agent's request to its outcome. An approval is valid for one call only:
 * for exactly its arguments, once, and before it expires.
 */
import type { Verdict } from './policy.ts';
import type { Outcome } from './tool.ts';

/**
 * `new`: nothing is decided yet. `waiting`: an approval or an answer is awaited. `agreed`: the call is approved and may
 * be sent. `calling`: the call was sent or is about to be; after a crash it is unknown which. `ended`: see `outcome`.
 */
export const callStates = ['new', 'waiting', 'agreed', 'calling', 'ended'] as const;
export type CallState = (typeof callStates)[number];

export const awaitedOnes = ['customer', 'step_up', 'member', 'input'] as const;
/**
 * Whose reply is awaited: the customer's, the customer's with a step-up token, a member's, or the customer's answer to
 * the tool's question (`input`).
 */
export type Awaited = (typeof awaitedOnes)[number];

const minuteMs = 60_000;
/** How long a reply is awaited, in ms, before the call expires. */
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

/**
 * The transitions of a call: for each transition, the states in which it is allowed and the state to which it leads.
 * Other states refuse the transition.
 */
export const callMoves = {
  ask: { new: 'waiting' },
  /** Asks the customer the tool's next question. */
  ask_on: { waiting: 'waiting' },
  agree: { waiting: 'agreed' },
  refuse: { waiting: 'ended' },
  expire: { waiting: 'ended' },
  send: { agreed: 'calling' },
  /** Sends a call whose tier needs no approval. */
  send_unasked: { new: 'calling' },
  /**
   * Ends a call unsent, because a policy or a limit forbids it, the tool no longer matches its approved definition, or
   * its server was removed.
   */
  drop: { new: 'ended', waiting: 'ended', agreed: 'ended' },
  /**
   * The tool first asks the customer a question (`input`). The tool has not acted yet, so the call can wait for the
   * answer.
   */
  inquire: { calling: 'waiting' },
  finish: { calling: 'ended' },
} as const satisfies Record<string, Partial<Record<CallState, CallState>>>;
export type CallMove = keyof typeof callMoves;

/** The states in which a transition is allowed. */
export const movableFrom = (move: CallMove): CallState[] => Object.keys(callMoves[move]) as CallState[];
/** The state that a transition leads to, which is the same from every state. */
export const leadsTo = (move: CallMove): CallState => Object.values(callMoves[move])[0]!;

/** The fields of a call that a decision is checked against. */
export type Asked = { state: CallState; awaited?: Awaited; ask_until?: Date; arguments_sha256: string };
export type Decision = { by: Awaited; approved: boolean; at: Date };

/** Why a decision is rejected. */
export type Refusal = 'not_asked' | 'decided' | 'expired';

export function refusalOf(asked: Asked, { by, at }: Decision): Refusal | undefined {
  if (asked.state !== 'waiting') return asked.awaited === undefined ? 'not_asked' : 'decided';
  if (asked.awaited !== by) return 'not_asked';
  return asked.ask_until === undefined || at >= asked.ask_until ? 'expired' : undefined;
}

/** The outcome of a refused call, by whose reply was awaited. */
export const refusedOutcome: Readonly<Record<Awaited, Outcome>> = {
  customer: 'declined',
  step_up: 'declined',
  member: 'denied',
  input: 'declined',
};

/** Whether the arguments about to be sent are the approved ones; both are SHA-256 hashes. */
export const isAgreedTo = (agreed: string | undefined, argumentsNow: string): boolean => agreed === argumentsNow;
