/**
 * The tasks in a transcript, without a model. A request, its answer, who takes it over and until when are read as one; what is
 * not firm is no task and is listed for a person instead. Every task has words of the transcript that say so. It reads English.
 */
import { answerReader } from './answers.ts';
import { reader, type Commitment } from './commitments.ts';
import { findDue, type Due } from './due.ts';
import fitted from './firmness.json' with { type: 'json' };
import { firmnessOf, neededFor, type Firmness, type Signs } from './firmness.ts';
import { meant, subjectOf } from './nouns.ts';
import type { Doer, Form } from './patterns.ts';
import { namesOf, someoneNamed, type Person } from './people.ts';
import { cleaned } from './speech.ts';
import { hasPronoun, plainDeed, titleOf, withMeant } from './titles.ts';
import { calledOff, doneHere, idleTalk, shownHere, urgency } from './words.ts';
import { participantsOf, type Said } from '../../../models/rules/interviews/transcript.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { terms } from '../../../models/rules/language/words.ts';
import {
  extractionBounds,
  type FoundTask,
  type PossibleReason,
  type PossibleTask,
  type Someone,
} from '../../../models/rules/interviews/found.ts';
import { usualPriority, type TaskPriority } from '../../../models/rules/base/priority.ts';

export type Meeting = {
  /** Who may be assigned. */
  members: readonly Person[];
  /** What relative dates count from, in this zone (an IANA name). */
  startedAt: Date;
  zone: string;
};
export type FoundTasks = { tasks: FoundTask[]; possible: PossibleTask[] };

/** A longer sentence is no clause that a person says; in characters. */
const maxClause = 600;
/** How many segments later something asked may be answered. */
const answeredWithin = 3;
/** Of what was found before, so many are looked at for what is answered, and for what is said again. */
const recent = 30;
const compared = 300;
/** How many sentences before a clause are looked at for what it speaks of. */
const remembered = 10;

/** Something that somebody may have to do, while the rest of the transcript is read. */
type Unit = {
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

type Reading = {
  meeting: Meeting;
  speakers: readonly string[];
  read: (clause: string) => Commitment | undefined;
  answerOf: ReturnType<typeof answerReader>;
  isSame: (one: string, other: string) => boolean;
  /** Finds who is called by name. */
  called: RegExp | undefined;
  units: Unit[];
  /** All sentences until now, without fillers. */
  said: string[];
};

/** `firmness`: other weights than those that were fitted on all meetings. */
export function findTasks(said: readonly Said[], meeting: Meeting, firmness: Firmness = fitted): FoundTasks {
  const judged = judge(unitsIn(said, meeting), firmness);
  const tasks = judged.flatMap(({ unit, reason, title }) => {
    if (reason !== undefined || title === undefined) return [];
    const assignee = someoneOf(unit, meeting);
    const before = unit.before.at(-1);
    return [
      {
        segment: unit.segment.id,
        quote: unit.quote,
        title,
        ...(before !== undefined && hasPronoun(unit.deed) ? { context: before.slice(0, extractionBounds.quote) } : {}),
        ...(unit.owner === undefined ? {} : { owner: unit.owner }),
        ...(assignee ? { assignee } : {}),
        priority: unit.urgent ?? usualPriority,
        ...(unit.due ? { due: unit.due.due } : {}),
      },
    ];
  });
  const possible = judged
    .flatMap(({ unit, reason, worth }) => (reason === undefined ? [] : [{ unit, reason, worth }]))
    .toSorted((a, b) => b.worth - a.worth)
    .slice(0, extractionBounds.possible)
    .toSorted((a, b) => a.unit.sentence - b.unit.sentence)
    .map(({ unit, reason }) => ({ quote: unit.quote, speaker: unit.segment.speaker, reason }));
  return { tasks: tasks.slice(0, extractionBounds.tasks), possible };
}

/** Everything that sounds like a task, each with what became of it. `length`: sentences of the transcript. */
export function unitsIn(said: readonly Said[], meeting: Meeting): { units: Unit[]; length: number } {
  const people = said.filter(({ is_ai }) => !is_ai);
  const speakers = participantsOf(people).map(({ name }) => name);
  const names = namesOf([...meeting.members, ...speakers.map((name) => ({ name }))]);
  const reading: Reading = {
    meeting,
    speakers,
    read: reader(names),
    answerOf: answerReader(names),
    isSame: samePerson(meeting),
    called: calledBy(names),
    units: [],
    said: [],
  };
  people.forEach((segment, at) => readSegment(reading, segment, at));
  return { units: reading.units, length: reading.said.length };
}

function calledBy(names: readonly string[]): RegExp | undefined {
  const who = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)).join('|');
  return who === '' ? undefined : new RegExp(String.raw`^(?:\p{Ll}+,? )?(${who})[,:]\s|,\s*(${who})[.?!]*$`, 'u');
}

function readSegment(reading: Reading, segment: Said, at: number): void {
  const parts = sentences(segment.text).map((raw) => ({ raw, clean: cleaned(raw) }));
  answer(
    reading,
    segment,
    at,
    parts.map(({ clean }) => clean),
  );
  const first = reading.said.length;
  parts.forEach(({ raw, clean }, index) => {
    const before = reading.said.slice(-remembered);
    const after = parts[index + 1]?.clean;
    const sentence = reading.said.length;
    for (const { clause, commitment } of commitmentsIn(clean, reading.read)) {
      // What the same sentence says before it is named before it, too.
      const own = clean.slice(0, Math.max(0, clean.indexOf(clause)));
      const place = { segment, at, sentence, first, clause, whole: clean, raw, before, own, after };
      // What was asked for before is meant.
      if (commitment.points && takeUp(reading, commitment, segment, at, place)) continue;
      const unit = unitOf(reading, commitment, place);
      if (!joined(reading, unit)) reading.units.push(unit);
    }
    reading.said.push(clean);
    if (dateAlone.test(clean) || (isDated.test(clean) && reading.read(clean) === undefined))
      addDate(reading, clean, at);
    if (calledOff.test(clean)) callOff(reading, at);
    if (doneHere.test(clean)) markDone(reading, segment, at);
  });
}

/** After these words nothing in the sentence is said for certain, or it is what others said. */
const supposing = /\b(?:if|unless|in case|said|says|wrote|was like)\b/iu;
const clauseEnd =
  /(?<!(?:^|\band,? )\p{Lu}[\p{L}'’-]*)(?:,\s*(?:and|but|so|then)|;|,|\s+and,?|\s+but|\s+then)\s+(?=(?:I|we|you|[\p{Lu}][\p{L}'’-]+(?:\s[\p{Lu}][\p{L}'’-]+)?)(?:['’]ll|['’]re gonna|\s+(?:will|need to|needs to|have to|has to|must|should|am going to|is going to|are going to|gonna|can you)\b)|(?:can|could|would) you\b|please\s|[\p{Lu}][\p{L}'’-]+,\s+(?:can|could|would|will|please)\b)/u;

/** A sentence of two promises is two. */
function commitmentsIn(sentence: string, read: Reading['read']): { clause: string; commitment: Commitment }[] {
  if (sentence.length > maxClause) return [];
  const parts = sentence.split(clauseEnd);
  const pieces = parts.map((clause) => ({ clause, commitment: read(clause) }));
  const found = pieces.flatMap(({ clause, commitment }, index) =>
    commitment && !pieces.slice(0, index).some((piece) => supposing.test(piece.clause)) ? [{ clause, commitment }] : [],
  );
  if (parts.length > 1 && found.length > 1) return found;
  const whole = parts.length > 1 && found.length === 0 ? undefined : read(sentence);
  return whole ? [{ clause: sentence, commitment: whole }] : found;
}

type Place = {
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

function unitOf(reading: Reading, commitment: Commitment, place: Place): Unit {
  const { segment, at, sentence, clause, whole, raw, before, own, after } = place;
  const { form, doer, deed, weak } = commitment;
  // A short sentence after it may say until when, and how urgent it is.
  const addition = after !== undefined && after.length < 80 && !reading.read(after) ? after : '';
  const due =
    dueIn(reading, clause) ?? (clause === whole ? undefined : dueIn(reading, whole)) ?? addedDue(reading, addition);
  const urgent = urgencyOf(whole) ?? urgencyOf(addition);
  const owner = ownerOf(reading, doer, segment) ?? addressedIn(reading, doer, place);
  return {
    segment,
    at,
    sentence,
    quote: (raw.includes(clause) ? clause : raw).trim().slice(0, extractionBounds.quote),
    form,
    doer,
    ...(owner === undefined ? {} : { owner }),
    deed,
    weak,
    accepted: false,
    ...(due ? { due } : {}),
    ...(urgent ? { urgent } : {}),
    refused: false,
    isDone: false,
    before,
    own,
    ownBefore: before.slice(Math.max(0, before.length - (sentence - place.first))),
    stems: new Set(terms(deed).map(({ stem }) => stem)),
  };
}

const dueIn = ({ meeting }: Reading, text: string): Due | undefined => findDue(text, meeting.startedAt, meeting.zone);
const addedDue = (reading: Reading, addition: string): Due | undefined =>
  /^(?:(?:by|before|until|no later than|due)\b|(?:the )?deadline\b|(?:it|this|that|they)(?:'s| is|'re| are) due\b|(?:I|we) need (?:it|this|that|them) (?:by|before|until|on)\b)/iu.test(
    addition,
  )
    ? dueIn(reading, addition)
    : undefined;

export function urgencyOf(text: string): TaskPriority | undefined {
  if (urgency.low.test(text)) return 'low';
  if (urgency.urgent.test(text)) return 'urgent';
  return urgency.high.test(text) ? 'high' : undefined;
}

/** In a talk of two, `you` is the other one. */
function ownerOf({ speakers }: Reading, doer: Doer, { speaker }: Said): string | undefined {
  if (typeof doer === 'object') return doer.named;
  if (doer === 'speaker') return speaker;
  if (doer === 'you' && speakers.length === 2) return speakers.find((name) => name !== speaker);
  return undefined;
}

/** Whom the speaker has called by name just before: `It's yours, Ann. You need to write it down.` */
function addressedIn({ called }: Reading, doer: Doer, { segment, before, sentence, first }: Place): string | undefined {
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

/** Whether two names, or a name and a speaker, are of the same person. Remembers what it has compared. */
function samePerson({ members }: Meeting): (one: string, other: string) => boolean {
  const known = new Map<string, boolean>();
  const words = (name: string): string[] => name.toLowerCase().split(/\s+/u);
  const compare = (one: string, other: string): boolean => {
    const [a, b] = [someoneNamed(one, members), someoneNamed(other, members)];
    if (a && b) return JSON.stringify(a) === JSON.stringify(b);
    return words(one).some((word) => words(other).includes(word));
  };
  return (one, other) => {
    if (one === other) return true;
    const key = JSON.stringify([one, other]);
    const same = known.get(key) ?? compare(one, other);
    known.set(key, same);
    return same;
  };
}

/** What a segment answers to what others asked shortly before. */
function answer(reading: Reading, segment: Said, at: number, parts: readonly string[]): void {
  const { isSame } = reading;
  const units = reading.units.slice(-recent);
  const { speaker } = segment;
  const { takes, agrees, approves, refuses, handsTo } = reading.answerOf(parts.slice(0, 2).join(' '));
  const isOpen = (unit: Unit): boolean => !unit.refused && at - unit.at <= answeredWithin && unit.at < at;
  // Who asked takes it on after all, when nobody else did.
  const isTheirs = (unit: Unit): boolean => unit.segment.speaker !== speaker && isOpen(unit);
  const asked =
    units.findLast((unit) => isTheirs(unit) && unit.owner !== undefined && isSame(unit.owner, speaker)) ??
    units.findLast(isTheirs) ??
    (takes ? units.findLast((unit) => isOpen(unit) && unit.form === 'need' && !unit.accepted) : undefined);
  if (!asked) return;
  const isNext = !units.some((unit) => unit !== asked && unit.at > asked.at);
  const isMine = asked.owner !== undefined && isSame(asked.owner, speaker);
  const mayBeMine = asked.owner === undefined && asked.doer !== 'everybody';
  if (handsTo !== undefined && asked.form !== 'promise' && !isSame(handsTo, speaker)) {
    Object.assign(asked, { owner: handsTo, accepted: false, at });
  } else if (refuses && isNext && at - asked.at <= 2) {
    const concerns = isMine || asked.doer === 'you' || asked.form === 'proposal' || asked.form === 'offer';
    if (concerns && !asked.accepted) asked.refused = true;
  } else if (approves && asked.form === 'promise' && asked.weak) {
    asked.accepted = true;
  } else if (takes && asked.form !== 'promise') {
    Object.assign(asked, { owner: speaker, accepted: true });
  } else if (agrees) {
    if (asked.form === 'offer') asked.accepted = true;
    else if (isMine && asked.form !== 'promise') asked.accepted = true;
    else if (mayBeMine && asked.doer === 'you') Object.assign(asked, { owner: speaker, accepted: true });
  }
  // Until when it can be done, or is wanted.
  if (asked.due || asked.refused || handsTo !== undefined || !(takes || agrees || isMine)) return;
  const due = parts
    .map((part) => (part.length < 90 ? dueIn(reading, part) : undefined))
    .find((one) => one !== undefined);
  if (due) asked.due = due;
}

/** `End of next week is fine, no rush`: until when what was just spoken of is to be done. */
function addDate(reading: Reading, text: string, at: number): void {
  const last = reading.units.slice(-recent).findLast((unit) => !unit.refused && at - unit.at <= answeredWithin);
  if (!last) return;
  const due = last.due ? undefined : dueIn(reading, text);
  if (due) last.due = due;
  const urgent = urgencyOf(text);
  if (due && urgent) last.urgent = urgent;
}

/** `All of them, by Friday if possible.` */
const isDated = /^[^.?]{0,25}\b(?:by|before|until|no later than)\b[^.?]{2,30}[.]?$/iu;

/** A sentence that says little more than a date. */
const dateAlone =
  /^(?:\W*\b(?:by|before|on|until|then|the|same|end|of|next|this|is|fine|no|rush|okay|ok|today|tomorrow|tonight|morning|afternoon|evening|noon|week|month|year|day|monday|tuesday|wednesday|thursday|friday|saturday|sunday|would|be|good|great|enough|it's|not|urgent|please|at|latest|\d+(?:st|nd|rd|th)?|january|february|march|april|may|june|july|august|september|october|november|december)\b\W*)+$/iu;

/**
 * `Can you do that, Bob?`, `I'll do it on Thursday`: of what was said just before. Whether there was something.
 */
function takeUp(reading: Reading, { doer, form, deed }: Commitment, segment: Said, at: number, place: Place): boolean {
  const { isSame } = reading;
  const last = reading.units
    .slice(-recent)
    .findLast((unit) => !unit.refused && unit.form !== 'label' && at - unit.at <= answeredWithin);
  if (!last) return false;
  const owner = ownerOf(reading, doer, segment) ?? addressedIn(reading, doer, place);
  const isFree = last.owner === undefined || !last.accepted;
  const isOwn = last.owner !== undefined && owner !== undefined && isSame(last.owner, owner);
  if (!isFree && !isOwn) return false;
  const due = dueIn(reading, place.whole);
  if (doer === 'speaker' && form === 'promise') {
    if (last.form === 'promise' && !isOwn) return false;
    Object.assign(last, { owner: segment.speaker, accepted: true, weak: false });
  } else if (owner !== undefined) {
    Object.assign(last, {
      owner,
      accepted: last.accepted && isOwn,
      form: 'request',
      weak: false,
      segment: last.segment,
      at,
    });
    last.doer = { named: owner };
  } else if (doer === 'you') {
    Object.assign(last, { doer, form: 'request', at, weak: false });
  } else return false;
  if (due && (!last.due || deed !== '')) last.due = due;
  const urgent = urgencyOf(place.whole);
  if (urgent) last.urgent = urgent;
  return true;
}

/** `There, done`: what the speaker said they would do is done. */
function markDone({ units }: Reading, { speaker }: Said, at: number): void {
  const last = units.slice(-recent).findLast((unit) => at - unit.at <= 2);
  if (last && (last.segment.speaker === speaker || last.owner === speaker)) last.isDone = true;
}

/** `Never mind`, `let's not`: what was spoken of last is nobody's task. */
function callOff({ units }: Reading, at: number): void {
  const last = units.slice(-recent).findLast((unit) => at - unit.at <= 2);
  if (last) last.refused = true;
}

/** Whether it was said before, by the same or of nobody: then only what is new of it is taken. */
function joined({ units, isSame }: Reading, found: Unit): boolean {
  const instead = /\b(?:instead|actually|rather|take(?:s)? (?:that |it |this )?over)\b/iu.test(found.quote);
  const same = units.slice(-compared).findLast((unit) => {
    if (unit.refused) return false;
    const apart = unit.owner !== undefined && found.owner !== undefined && !isSame(unit.owner, found.owner);
    // `Sure, I'll write to them`: what was just asked of the speaker, in other words.
    const isReply =
      found.form === 'promise' && unit.form !== 'promise' && found.at - unit.at <= 1 && found.at > unit.at;
    if (isReply && !apart && unit.owner !== undefined && hasPronoun(found.deed)) return true;
    // `I'll put it in the folder tomorrow`: what comes of what was taken on a moment ago.
    const isNear = found.at - unit.at <= answeredWithin && found.at > unit.at;
    if (
      unit.accepted &&
      !apart &&
      (!unit.due || unit.due.due === found.due?.due) &&
      found.due &&
      isNear &&
      (hasPronoun(found.deed) || found.stems.size < 2 + found.due.text.split(' ').length)
    )
      return true;
    const isSaidAgain =
      !apart && hasPronoun(found.deed) && isNear && verbOf(unit.deed) === verbOf(found.deed) && units.at(-1) === unit;
    if (isSaidAgain && unit.owner === found.owner) return true;
    if (apart && !instead) return false;
    const smaller = Math.min(unit.stems.size, found.stems.size);
    if (smaller < 2) return false;
    return [...found.stems].filter((stem) => unit.stems.has(stem)).length / smaller >= (instead ? 0.5 : 0.75);
  });
  if (!same) return false;
  if (found.owner !== undefined && (same.owner === undefined || instead)) same.owner = found.owner;
  if (found.form === 'promise' && same.form !== 'promise') same.accepted = true;
  if (!same.due && found.due) same.due = found.due;
  if (!same.urgent && found.urgent) same.urgent = found.urgent;
  return true;
}

const verbOf = (deed: string): string => /^\p{L}+/u.exec(deed)?.[0].toLowerCase() ?? '';

const someoneOf = ({ owner }: Unit, { members }: Meeting): Someone | undefined =>
  owner === undefined ? undefined : someoneNamed(owner, members);

/** A candidate with its title, why it is no task where it is none, and how likely it is one. */
type Judged = { unit: Unit; title: string | undefined; reason: PossibleReason | undefined; worth: number };

function judge({ units, length }: { units: readonly Unit[]; length: number }, firmness: Firmness): Judged[] {
  const judged = units.map((unit): Judged => {
    const title = titleFor(unit);
    return { unit, title, reason: reasonOf(unit, title), worth: firmnessOf(signsOf(unit, length), firmness) };
  });
  judged
    .filter(({ reason }) => reason === undefined)
    .toSorted((a, b) => b.worth - a.worth)
    .forEach((one, nth) => {
      if (one.worth < neededFor(nth, Math.log(length), firmness)) one.reason = 'uncertain';
    });
  return judged;
}

export function titleFor({ deed, before, own, ownBefore, due }: Unit): string | undefined {
  const resolved = withMeant(plainDeed(deed), own === '' ? before : [...before, own], meant);
  return resolved === undefined
    ? undefined
    : titleOf(resolved, due?.text, () => subjectOf(before, ownBefore, resolved));
}

/** What depends on something is not firm; to find out whether it is so is. */
const depending =
  /(?<!\b(?:see|check|know|ask|tell|find out|out|wonder|sure|as|even|test|verify|decide) )\b(?:if|unless)\b(?! (?:you (?:like|want|wish|can|could|don't mind)|possible|that's (?:ok|okay|fine|alright)|that helps|necessary|needed)\b)/iu;

/** What makes it no task, however likely it sounds. */
export function reasonOf(unit: Unit, title: string | undefined): PossibleReason | undefined {
  if (unit.refused) return 'refused';
  if (unit.isDone || idleTalk.test(unit.deed)) return 'in_meeting';
  if (shownHere.test(unit.deed) && !unit.due && unit.form !== 'label') return 'in_meeting';
  if (unit.form === 'proposal' && unit.owner === undefined) return 'suggestion';
  if (unit.form === 'offer' && !unit.accepted) return 'not_accepted';
  if (unit.owner === undefined) return 'no_owner';
  if (title === undefined) return 'unresolved';
  if (unit.form !== 'request' && !unit.accepted && depending.test(unit.quote)) return 'uncertain';
  return unit.weak && !unit.due && !unit.accepted ? 'uncertain' : undefined;
}

/** What tells how firm it is. */
export function signsOf(unit: Unit, length: number): Signs {
  const named = typeof unit.doer === 'object';
  return {
    length: Math.log(length),
    late: length > 0 ? unit.sentence / length : 0,
    form: unit.form,
    named,
    accepted: unit.accepted,
    due: unit.due !== undefined,
    deed: unit.deed,
    quote: unit.quote,
    weak: unit.weak,
    before: unit.before,
  };
}
