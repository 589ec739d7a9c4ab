/** Finds all candidates for tasks in an English transcript, and applies later replies to them. Pure. */
import { answerReader } from './answers.ts';
import { reader, type Commitment } from './commitments.ts';
import { addDate, answer, callOff, joined, markDone, takeUp } from './dialogue.ts';
import type { Due } from './due.ts';
import { namesOf, someoneNamed } from './people.ts';
import {
  addressedIn,
  dueIn,
  ownerOf,
  urgencyOf,
  type Meeting,
  type Place,
  type Reading,
  type Unit,
} from './reading.ts';
import { cleaned } from './speech.ts';
import { calledOff, doneHere } from './words.ts';
import { extractionBounds } from '../../../models/rules/interviews/found.ts';
import { participantsOf, type Said } from '../../../models/rules/interviews/transcript.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { terms } from '../../../models/rules/language/words.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** The most characters of a sentence; a longer sentence is hardly speech, so no commitment is looked for in it. */
const maxClause = 600;
/** The number of earlier sentences that are searched for what a pronoun refers to. */
const remembered = 10;

/** All candidates for tasks, after later replies. `length`: the number of sentences in the transcript. */
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
      // Pronouns may also refer to the earlier part of the same sentence.
      const own = clean.slice(0, Math.max(0, clean.indexOf(clause)));
      const place = { segment, at, sentence, first, clause, whole: clean, raw, before, own, after };
      // A commitment without an object refers to an earlier task candidate.
      if (commitment.points && takeUp(reading, commitment, segment, at, place)) continue;
      const unit = unitOf(reading, commitment, place);
      if (!joined(reading, unit)) reading.units.push(unit);
    }
    reading.said.push(clean.slice(0, maxClause));
    addDate(reading, clean, at);
    if (calledOff.test(clean)) callOff(reading, at);
    if (doneHere.test(clean)) markDone(reading, segment, at);
  });
}

/** After these words, the rest of the sentence is hypothetical or reported speech. */
const supposing = /\b(?:if|unless|in case|said|says|wrote|was like)\b/iu;
const clauseEnd =
  /(?<!(?:^|\band,? )\p{Lu}[\p{L}'’-]*)(?:,\s*(?:and|but|so|then)|;|,|\s+and,?|\s+but|\s+then)\s+(?=(?:I|we|you|[\p{Lu}][\p{L}'’-]+(?:\s[\p{Lu}][\p{L}'’-]+)?)(?:['’]ll|['’]re gonna|\s+(?:will|need to|needs to|have to|has to|must|should|am going to|is going to|are going to|gonna|can you)\b)|(?:can|could|would) you\b|please\s|[\p{Lu}][\p{L}'’-]+,\s+(?:can|could|would|will|please)\b)/u;

/** The commitments in a sentence; a sentence with two promises has two. */
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

function unitOf(reading: Reading, commitment: Commitment, place: Place): Unit {
  const { segment, at, sentence, clause, whole, raw, before, own, after } = place;
  const { form, doer, deed, weak } = commitment;
  // A short following sentence may state the due date and the urgency.
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
    ...defined({ owner }),
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

const addedDue = (reading: Reading, addition: string): Due | undefined =>
  /^(?:(?:by|before|until|no later than|due)\b|(?:the )?deadline\b|(?:it|this|that|they)(?:'s| is|'re| are) due\b|(?:I|we) need (?:it|this|that|them) (?:by|before|until|on)\b)/iu.test(
    addition,
  )
    ? dueIn(reading, addition)
    : undefined;

/** Whether two names mean the same person. Comparisons are cached. */
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
