/**
 * The life of an interview: its states, and the one table that says which operation moves it from where to where. The
 * workflow decides by it, refusals are worded by it, and docs/interviews.md shows it. Pure.
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

type Rule = {
  from: readonly InterviewStatus[];
  /** `same`: the interview stays where it is. */
  to: InterviewStatus | 'same';
  /** Whether it is kept in the history of the interview. */
  recorded: boolean;
  /** Who does it, and when; as in docs/interviews.md. */
  who: string;
};

const beforeStart = ['draft', 'scheduled'] as const;
const running = ['bot_deployed', 'in_progress'] as const;

export const operations = {
  update: { from: beforeStart, to: 'same', recorded: false, who: 'a member: `PUT`' },
  schedule: {
    from: ['draft'],
    to: 'scheduled',
    recorded: true,
    who: 'a member, who creates or updates it with `scheduled_at`; or `start` of a draft',
  },
  start: {
    from: beforeStart,
    to: 'bot_deployed',
    recorded: true,
    who: 'a member: `POST /start`; or the clock at `scheduled_at`, where there is a `meeting_url`',
  },
  join: { from: ['bot_deployed'], to: 'in_progress', recorded: true, who: 'the bot, or the candidate in the room' },
  join_failed: {
    from: ['bot_deployed'],
    to: 'scheduled',
    recorded: true,
    who: 'the clock, when the bot could not join for 15 minutes',
  },
  no_show: {
    from: running,
    to: 'cancelled',
    recorded: true,
    who: 'the clock, when nobody came for 10 minutes; or the bot, which met nobody',
  },
  refuse: { from: ['bot_deployed'], to: 'cancelled', recorded: true, who: 'the candidate, who does not consent' },
  rejoin: { from: running, to: 'same', recorded: true, who: 'a member: `POST /rejoin`' },
  end: {
    from: ['in_progress'],
    to: 'evaluating',
    recorded: true,
    who: 'a member: `POST /end`; the bot or the room at the end; or the clock after 4 hours',
  },
  evaluate: { from: ['evaluating'], to: 'same', recorded: true, who: 'a member: `POST /evaluate`' },
  score: { from: ['evaluating'], to: 'completed', recorded: true, who: 'a member: `POST /generate-score`' },
  decide: { from: ['evaluating', 'completed'], to: 'same', recorded: false, who: 'a member: `PUT /decision`' },
  scorecard: { from: ['evaluating', 'completed'], to: 'same', recorded: false, who: 'a member: `PUT /scorecard`' },
  cancel: {
    from: ['draft', 'scheduled', 'bot_deployed', 'in_progress', 'evaluating'],
    to: 'cancelled',
    recorded: true,
    who: 'a member: `POST /cancel`',
  },
  delete: { from: interviewStatuses, to: 'same', recorded: false, who: 'a member: `DELETE`' },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof operations;
export const operationNames = Object.keys(operations) as Operation[];

/** The state after an operation; undefined where the state does not allow it. */
export function next(status: InterviewStatus, operation: Operation): InterviewStatus | undefined {
  const { from, to }: Rule = operations[operation];
  if (!from.includes(status)) return undefined;
  return to === 'same' ? status : to;
}

/** What is possible in a state, in the order of the table. */
export const allowedIn = (status: InterviewStatus): Operation[] =>
  operationNames.filter((operation) => next(status, operation) !== undefined);

/** Whether it has not begun yet. */
export const isAhead = (status: InterviewStatus): boolean => status === 'draft' || status === 'scheduled';

/** Whether somebody may come in, or is in. */
export const isRunning = (status: InterviewStatus): boolean => running.some((one) => one === status);

/** States that nothing leads out of. */
export const isFinal = (status: InterviewStatus): boolean => status === 'completed' || status === 'cancelled';

/** Why an operation is refused, for whoever asked for it. */
export const refusalOf = (from: InterviewStatus, operation: Operation) => ({
  message: `An interview that is ${from} does not allow this.`,
  transition: { from, operation, allowed: allowedIn(from) as string[] },
});

/** One move of an interview, as its history keeps it. */
export type Move = {
  /** Counts the moves of an interview from 1. */
  seq: number;
  from: InterviewStatus;
  to: InterviewStatus;
  operation: Operation;
  /** A user's id, or `clock`, `bot`, `candidate`. */
  actor: string;
  /** ISO 8601. */
  at: string;
  /** Why, in a word such as `maximum_length`; never what somebody wrote. */
  cause?: string;
};

/** Where somebody sits who speaks for the candidate: the room of this platform, or a bot in a call elsewhere. */
const botKinds = ['room', 'recall', 'attendee'] as const;
export type BotKind = (typeof botKinds)[number];
export type BotRef = { kind: BotKind; id: string };
/** What the next bot of an interview is sent with, after `sent` others: ordered twice, it is one bot. */
export const botKey = (interviewId: string, sent: number): string => `${interviewId}:${sent + 1}`;
/** `since`: when it came into the call, ISO 8601; what it heard is timed from there. */
export type CalledBot = BotRef & { since: string };

/**
 * What the workflow of an interview knows. It is stored with the record at each move, so that a workflow that was lost can be
 * begun again. Times are ISO 8601.
 */
export type InterviewState = {
  status: InterviewStatus;
  /** Of the last move. */
  seq: number;
  /** When the clock is to start it; only with a `meeting_url`. */
  dueAt?: string;
  /** When it is to take place, whoever starts it. */
  scheduledAt?: string;
  /** Whether its candidate is told by mail when it takes place. */
  invites?: true;
  /** The `dueAt` for which the clock has started it already. */
  startedFor?: string;
  /** Since when the bot tries to join. */
  joiningSince?: string;
  /** Failed attempts to join since then. */
  attempts: number;
  /** How many bots were sent; each has a key of its own. */
  sent: number;
  /** How often one was ordered; an order that fails may have sent it nevertheless. */
  orders: number;
  bot?: BotRef;
  /** When this bot came into the call. */
  botSince?: string;
  /** Bots that were lost while the interview went on; what they heard belongs to it. */
  former?: CalledBot[];
  /** Since when the bot is there and waits for somebody. */
  waitingSince?: string;
  joinedAt?: string;
  /** How often the bot was looked after without news. */
  looks: number;
  /** Whether a bot that was lost is to be sent again. */
  rejoin?: true;
  /** Whether phase 1 is done. */
  summarized?: true;
  /** Why the bot could not join, or was lost. */
  failure?: string;
};

/** The state of an interview that is being created. */
export const newState = (moves: readonly Move[], dueAt: string | undefined): InterviewState => ({
  status: moves.at(-1)?.to ?? 'draft',
  seq: moves.length,
  ...defined({ dueAt }),
  attempts: 0,
  sent: 0,
  orders: 0,
  looks: 0,
});

/** How long things may take, in ms. */
export const interviewTimes = {
  /** From the first attempt to join until the bot gives up. */
  joinWindow: 15 * 60_000,
  /** Nobody came so long after the bot was there. */
  noShow: 10 * 60_000,
  /** Longer than any interview: what is left open by mistake ends. */
  maximumLength: 4 * 3_600_000,
} as const;

/** The pause after the `attempt`-th failed attempt to join (from 1): 15 s, doubling up to 3 minutes. */
export const rejoinPause = (attempt: number): number => Math.min(15_000 * 2 ** (attempt - 1), 180_000);

/** When a bot whose service was silent is looked after again: a minute, doubling up to 16, after `looks` of them. */
export const lookPause = (looks: number): number => Math.min(60_000 * 2 ** looks, 16 * 60_000);

/** The last moment at which an interview may be scheduled, in days from now. */
export const maxDaysAhead = 730;

export const interviewBounds = {
  questions: { min: 1, max: 50, default: 8 },
  skills: 30,
  criteria: 20,
} as const;

/** Names trimmed, each once, whatever its case. */
export function unique(names: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const name of names.map((one) => one.trim().replaceAll(/\s+/gu, ' ')))
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), name);
  return [...found.values()];
}
