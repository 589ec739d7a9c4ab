/**
 * The state of reading an English transcript: the task candidates so far. Also finds the people and dates that a
 * sentence names.
 */
import type { AnswerOf } from './answers.ts';
import type { Commitment } from './commitments.ts';
import { findDue, type Due } from './due.ts';
import type { Doer, Form } from './patterns.ts';
import type { Person } from './people.ts';
import { urgency } from './words.ts';
import type { Priority } from '../../../models/rules/base/priority.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';

export type Meeting = {
  /** The members whom tasks can be assigned to. */
  members: readonly Person[];
  /** Relative dates are computed from this time, in `zone` (an IANA name). */
  startedAt: Date;
  zone: string;
};
/** A candidate for a task, which later sentences may change. */
export type Unit = {
  segment: Said;
  /** `at`: the index of the segment. `sentence`: the index of the sentence among all sentences. */
  at: number;
  sentence: number;
  quote: string;
  form: Form;
  doer: Doer;
  /** The person who is to do the task, as the transcript names them. */
  owner?: string;
  deed: string;
  weak: boolean;
  accepted: boolean;
  due?: Due;
  urgent?: Priority;
  refused: boolean;
  isDone: boolean;
  /** The sentences before the one that states the task, oldest first. */
  before: readonly string[];
  /**
   * `own`: the part of the sentence before the clause that states the task. `ownBefore`: the earlier sentences of the
   * same segment.
   */
  own: string;
  ownBefore: readonly string[];
  stems: ReadonlySet<string>;
};

export type Reading = {
  meeting: Meeting;
  speakers: readonly string[];
  read: (clause: string) => Commitment | undefined;
  answerOf: AnswerOf;
  isSame: (one: string, other: string) => boolean;
  /** Matches participants who are addressed by name. */
  called: RegExp | undefined;
  units: Unit[];
  /** All sentences so far, without fillers. */
  said: string[];
};

/** The position and context of a clause. */
export type Place = {
  segment: Said;
  at: number;
  sentence: number;
  clause: string;
  /** The sentence that contains the clause, `whole` without fillers and `raw` as in the transcript. */
  whole: string;
  raw: string;
  /** The index of the segment's first sentence among all sentences. */
  first: number;
  before: readonly string[];
  /** The part of the sentence before the clause. */
  own: string;
  after: string | undefined;
};

export const dueIn = ({ meeting }: Reading, text: string): Due | undefined =>
  findDue(text, meeting.startedAt, meeting.zone);
export function urgencyOf(text: string): Priority | undefined {
  if (urgency.low.test(text)) return 'low';
  if (urgency.urgent.test(text)) return 'urgent';
  return urgency.high.test(text) ? 'high' : undefined;
}

/** The name of the person who is to do a task. In a conversation of two, `you` is the other person. */
export function ownerOf({ speakers }: Reading, doer: Doer, { speaker }: Said): string | undefined {
  if (typeof doer === 'object') return doer.named;
  if (doer === 'speaker') return speaker;
  if (doer === 'you' && speakers.length === 2) return speakers.find((name) => name !== speaker);
  return undefined;
}

/** The person whom the speaker has just addressed by name: `It's yours, Ann. You need to write it down.` */
export function addressedIn(
  { called }: Reading,
  doer: Doer,
  { segment, before, sentence, first }: Place,
): string | undefined {
  if (called === undefined || (doer !== 'you' && doer !== 'somebody')) return undefined;
  const own = before.slice(Math.max(0, before.length - (sentence - first)));
  for (const text of own.toReversed()) {
    const found = called
      .exec(text)
      ?.slice(1)
      .find((name) => name !== undefined);
    if (found !== undefined && found !== segment.speaker) return found;
  }
  return undefined;
}
