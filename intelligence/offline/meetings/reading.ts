/** A transcript while it is read: what was found in it until now, and who and when is meant. English. Pure. */
import type { AnswerOf } from './answers.ts';
import type { Commitment } from './commitments.ts';
import { findDue, type Due } from './due.ts';
import type { Doer, Form } from './patterns.ts';
import type { Person } from './people.ts';
import { urgency } from './words.ts';
import type { TaskPriority } from '../../../models/rules/base/priority.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';

export type Meeting = {
  /** Who may be assigned. */
  members: readonly Person[];
  /** What relative dates count from, in this zone (an IANA name). */
  startedAt: Date;
  zone: string;
};
/** Something that somebody may have to do, while the rest of the transcript is read. */
export type Unit = {
  segment: Said;
  /** Which of the segments it is, and which of all sentences. */
  at: number;
  sentence: number;
  quote: string;
  form: Form;
  doer: Doer;
  /** Who is to do it, as the transcript calls them. */
  owner?: string;
  deed: string;
  weak: boolean;
  accepted: boolean;
  due?: Due;
  urgent?: TaskPriority;
  refused: boolean;
  isDone: boolean;
  /** What was said before it, oldest first. */
  before: readonly string[];
  /** What its own sentence says before it, and the sentences that its speaker said just before. */
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
  /** Finds who is called by name. */
  called: RegExp | undefined;
  units: Unit[];
  /** All sentences until now, without fillers. */
  said: string[];
};

/** Where a clause stands. */
export type Place = {
  segment: Said;
  at: number;
  sentence: number;
  clause: string;
  /** The sentence that the clause belongs to, without fillers, and as it stands in the transcript. */
  whole: string;
  raw: string;
  /** Which of all sentences is the segment's first. */
  first: number;
  before: readonly string[];
  /** What the sentence says before the clause. */
  own: string;
  after: string | undefined;
};

export const dueIn = ({ meeting }: Reading, text: string): Due | undefined =>
  findDue(text, meeting.startedAt, meeting.zone);
export function urgencyOf(text: string): TaskPriority | undefined {
  if (urgency.low.test(text)) return 'low';
  if (urgency.urgent.test(text)) return 'urgent';
  return urgency.high.test(text) ? 'high' : undefined;
}

/** In a talk of two, `you` is the other one. */
export function ownerOf({ speakers }: Reading, doer: Doer, { speaker }: Said): string | undefined {
  if (typeof doer === 'object') return doer.named;
  if (doer === 'speaker') return speaker;
  if (doer === 'you' && speakers.length === 2) return speakers.find((name) => name !== speaker);
  return undefined;
}

/** Whom the speaker has called by name just before: `It's yours, Ann. You need to write it down.` */
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
