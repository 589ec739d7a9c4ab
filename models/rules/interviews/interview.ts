/**
 * The states of an interview, and the one table of status changes. The workflow decides by this table, error messages
 * are made from it, and docs/interviews.md shows it. Pure.
 */
import { defined } from '../base/defined.ts';

export const interviewStatuses = [
  'draft',
  'scheduled',
  'bot_deployed',
  'in_progress',
  'evaluating',
  'completed',
  'cancelled',
] as const;
export type InterviewStatus = (typeof interviewStatuses)[number];

export const interviewModes = ['solo', 'copilot', 'shadow'] as const;
export type InterviewMode = (typeof interviewModes)[number];

export const decisions = ['hire', 'no_hire', 'next_round', 'undecided'] as const;
export type Decision = (typeof decisions)[number];

/** The statuses that allow an operation, and the status after it. `same`: the status does not change. */
type Rule = { from: readonly InterviewStatus[]; to: InterviewStatus | 'same' };

const beforeStart = ['draft', 'scheduled'] as const;
const running = ['bot_deployed', 'in_progress'] as const;

/** docs/interviews.md says who performs each operation, and when. */
export const operations = {
  update: { from: beforeStart, to: 'same' },
  schedule: { from: ['draft'], to: 'scheduled' },
  start: { from: beforeStart, to: 'bot_deployed' },
  join: { from: ['bot_deployed'], to: 'in_progress' },
  join_failed: { from: ['bot_deployed'], to: 'scheduled' },
  no_show: { from: running, to: 'cancelled' },
  refuse: { from: ['bot_deployed'], to: 'cancelled' },
  rejoin: { from: running, to: 'same' },
  end: { from: ['in_progress'], to: 'evaluating' },
  evaluate: { from: ['evaluating'], to: 'same' },
  score: { from: ['evaluating'], to: 'completed' },
  decide: { from: ['evaluating', 'completed'], to: 'same' },
  scorecard: { from: ['evaluating', 'completed'], to: 'same' },
  cancel: { from: ['draft', 'scheduled', 'bot_deployed', 'in_progress', 'evaluating'], to: 'cancelled' },
  delete: { from: interviewStatuses, to: 'same' },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof operations;
export const operationNames = Object.keys(operations) as Operation[];

/** The status after an operation; undefined when the current status does not allow the operation. */
export function next(status: InterviewStatus, operation: Operation): InterviewStatus | undefined {
  const { from, to }: Rule = operations[operation];
  if (!from.includes(status)) return undefined;
  return to === 'same' ? status : to;
}

/** The operations that a status allows, in the order of `operations`. */
export const allowedIn = (status: InterviewStatus): Operation[] =>
  operationNames.filter((operation) => next(status, operation) !== undefined);

/** Whether the interview has not started yet. */
export const isAhead = (status: InterviewStatus): boolean => status === 'draft' || status === 'scheduled';

/** Whether the interview has started and not ended: the bot was sent or the room is open. */
export const isRunning = (status: InterviewStatus): boolean => running.some((one) => one === status);

/** Whether no operation changes this status. */
export const isFinal = (status: InterviewStatus): boolean => status === 'completed' || status === 'cancelled';

/** The error details for a client whose operation is refused. */
export const refusalOf = (from: InterviewStatus, operation: Operation) => ({
  message: `An interview that is ${from} does not allow this.`,
  transition: { from, operation, allowed: allowedIn(from) as string[] },
});

/** One status change of an interview, as its history stores it. */
export type Move = {
  /** The number of the status change within the interview, from 1. */
  seq: number;
  from: InterviewStatus;
  to: InterviewStatus;
  operation: Operation;
  /** Who changed the status: a user's id, or `clock`, `bot`, `candidate`. */
  actor: string;
  /** The time of the status change, ISO 8601. */
  at: string;
  /** The reason code, such as `maximum_length`; never text that a person wrote. */
  cause?: string;
};

/**
 * The kinds of bots. `room`: the platform's own interview room. `recall`, `attendee`: a bot of the service Recall.ai or
 * Attendee, which joins an external video call.
 */
const botKinds = ['room', 'recall', 'attendee'] as const;
export type BotKind = (typeof botKinds)[number];
export type BotRef = { kind: BotKind; id: string };
/**
 * The idempotency key of the request for the next bot, after `sent` bots were sent. With this key, a retry does not
 * send a second bot.
 */
export const botKey = (interviewId: string, sent: number): string => `${interviewId}:${sent + 1}`;
/** `since`: when the bot joined the call, ISO 8601. The times in its transcript are relative to this time. */
export type CalledBot = BotRef & { since: string };

/**
 * The state of an interview's workflow. It is stored with the record at each status change, so that a lost workflow can
 * be started again. Times are ISO 8601.
 */
export type InterviewState = {
  status: InterviewStatus;
  /** The `seq` of the last status change. */
  seq: number;
  /** When the interview starts automatically; only with a `meeting_url`. */
  dueAt?: string;
  /** The interview's time, whether or not it starts automatically. */
  scheduledAt?: string;
  /** Whether the candidate is notified of the time by mail. */
  invites?: true;
  /**
   * The `dueAt` at which the interview was started automatically, or which was noticed too late for a start. It is kept
   * so that the interview starts only once at this time.
   */
  startedFor?: string;
  /** The time of the bot's first attempt to join. */
  joiningSince?: string;
  /** The number of failed attempts to join since `joiningSince`. */
  attempts: number;
  /** How many bots were sent. The idempotency key of the next bot is made from this number (`botKey`). */
  sent: number;
  /** How many times a bot was requested. A request that fails may have sent the bot nevertheless. */
  orders: number;
  bot?: BotRef;
  /** When `bot` joined the call. */
  botSince?: string;
  /** Bots that were lost during the interview. Their transcripts belong to the interview. */
  former?: CalledBot[];
  /** When the bot was sent into the call, where it waits for a person to join. */
  waitingSince?: string;
  joinedAt?: string;
  /** How many times in a row the bot's state was polled without a change. */
  looks: number;
  /** Whether a new bot must replace a lost bot. */
  rejoin?: true;
  /** Whether phase 1 of the evaluation is done: the summary of questions and answers. */
  summarized?: true;
  /** The reason why the bot could not join, was not sent, or was lost. */
  failure?: string;
};

export const newState = (moves: readonly Move[], dueAt: string | undefined): InterviewState => ({
  status: moves.at(-1)?.to ?? 'draft',
  seq: moves.length,
  ...defined({ dueAt }),
  attempts: 0,
  sent: 0,
  orders: 0,
  looks: 0,
});

/** Time limits of an interview, in ms. */
export const interviewTimes = {
  /** The time from the first attempt to join until the bot gives up. */
  joinWindow: 15 * 60_000,
  /** How long after the bot was sent an interview that nobody has joined ends as a no-show. */
  noShow: 10 * 60_000,
  /** The time after which an interview that was left open by mistake ends: longer than any interview. */
  maximumLength: 4 * 3_600_000,
} as const;

/** The pause after the `attempt`-th failed attempt to join (from 1): 15 s, doubling up to 3 minutes, in ms. */
export const rejoinPause = (attempt: number): number => Math.min(15_000 * 2 ** (attempt - 1), 180_000);

/**
 * The backoff before a bot whose state does not change is polled again, after `looks` polls, in ms: 1 minute, doubling
 * up to 16 minutes.
 */
export const lookPause = (looks: number): number => Math.min(60_000 * 2 ** looks, 16 * 60_000);

export const maxDaysAhead = 730;

export const interviewBounds = {
  questions: { min: 1, max: 50, default: 8 },
  skills: 30,
  criteria: 20,
} as const;

/** Trims the names and removes duplicates; case is ignored. */
export function unique(names: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const name of names.map((one) => one.trim().replaceAll(/\s+/gu, ' ')))
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), name);
  return [...found.values()];
}
