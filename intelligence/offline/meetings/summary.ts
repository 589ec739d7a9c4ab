/**
 * The summary of a meeting without a model: who spoke of what, and the sentences that tell most, in the transcript's own words.
 * It invents nothing. What a talk was about is told of English ones; of other languages sentences are quoted.
 */
import { tellingSentences, titleOf, utterancesOf, type Utterance } from './digest.ts';
import { cleaned } from './speech.ts';
import type { Meeting } from './reading.ts';
import { findTasks } from './tasks.ts';
import { topicsOf } from './topics.ts';
import {
  maxKeyPoints,
  shortSentences,
  shortWords,
  type SummaryMode,
} from '../../../models/rules/interviews/summary.ts';
import { participantsOf, type Said } from '../../../models/rules/interviews/transcript.ts';
import { languageOfFirst } from '../../../models/rules/language/language.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { actionItemOf } from '../../../models/rules/interviews/found.ts';

export type Summary = Record<SummaryMode, string> & {
  key_points: Record<SummaryMode, string[]>;
  action_items: string[];
};

/** A short summary of a long talk has so many parts and quotes so many sentences; they are this many words at most. */
const talk = { parts: 4, topics: 4, quotes: 2, quoteWords: 26, quoteStems: 6 } as const;
/** A sentence with fewer words that carry something is not quoted. */
const minStems = 3;
/** So many sentences of one speaker stand together at most. */
const maxRun = 3;
/** More sentences than fit into a summary. */
const maxQuoted = 60;
/** Of a talk in which all that could be quoted is less than this share of what was said, it is told what it was about. */
const tellingShare = 0.05;
/** A long summary has at most so many parts, each of so many sentences. */
const parts = { most: 8, sentences: 4, utterances: 12 } as const;

const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => word !== '').length;

/** `said`: at least one segment. */
export function summarizeMeeting(said: readonly Said[], meeting: Meeting): Summary {
  const utterances = utterancesOf(said);
  const points = (mode: SummaryMode): string[] =>
    tellingSentences(utterances, maxKeyPoints[mode]).map(({ text }) => standing(text));
  return {
    short: shortOf(utterances, said, meeting.startedAt),
    long: longOf(utterances, said, meeting.startedAt),
    key_points: { short: points('short'), long: points('long') },
    action_items: findTasks(said, meeting).tasks.map(actionItemOf),
  };
}

/** As a sentence that stands by itself, so that sentences that are put together stay as many as they were. */
function standing(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  const closed = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u.test(line) ? line : `${line.replace(/[\s,;:–—-]+$/u, '')}.`;
  return closed.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** What joins a sentence to what others said before it. */
const leadIn = /^(?:(?:yeah|yes|yep|okay|ok|so|and|well|but|then|right|alright|now|oh|exactly|agreed)[,.]?\s+)+/iu;

/** A greeting or thanks. */
const greeting =
  /\b(?:good (?:morning|afternoon|evening)|thanks for (?:joining|coming)|goodbye|bye)\b|^(?:hi|hello|hey|thanks|thank you|welcome|hallo|guten|danke|bonjour|merci|hola|gracias)\b/iu;

/** Whether a reader sees one sentence, with whatever rule sentences are counted. */
const isOne = (text: string): boolean => sentences(text).length === 1 && text.split(/[.!?…]+["'”)]*\s+/u).length === 1;

function shortOf(utterances: readonly Utterance[], said: readonly Said[], startedAt: Date): string {
  const whole = utterances
    .map((one) => ({ ...one, text: standing(cleaned(one.text).replace(leadIn, '')) }))
    .filter(
      ({ text, stems }) => isOne(text) && !/[?？]$/u.test(text) && !greeting.test(text) && stems.length >= minStems,
    );
  const spoken = utterances.reduce((sum, { text }) => sum + wordsIn(text), 0);
  const isLong =
    spoken * tellingShare > shortWords && languageOfFirst(said.slice(0, 20).map(({ text }) => text)) === 'en';
  const told = (isLong ? talkOf(utterances, whole) : undefined) ?? quotesOf(whole, shortWords, shortSentences.max);
  const facts = factsOf(said, startedAt);
  // Fewer sentences than a summary has: the record itself says the rest.
  while (told.length < shortSentences.min) told.push(facts.shift()!);
  return told.join(' ');
}

/** What each part of a long talk was about, and what was said that tells most. Undefined where too little has a name. */
function talkOf(utterances: readonly Utterance[], whole: readonly Utterance[]): string[] | undefined {
  const size = Math.ceil(utterances.length / talk.parts);
  const blocks = Array.from({ length: talk.parts }, (_, n) => utterances.slice(n * size, (n + 1) * size));
  const topics = topicsOf(
    blocks.map((block) => block.map(({ text }) => cleaned(text))),
    talk.topics,
  );
  if (topics.some((found) => found.length < 2)) return undefined;
  const lines = blocks.map(
    (block, at) => `${at === 0 ? '' : 'Then '}${speakersOf(block)} discussed ${listed(topics[at]!)}.`,
  );
  const left = shortWords - lines.reduce((sum, line) => sum + wordsIn(line), 0);
  const short = whole.filter(({ text, stems }) => wordsIn(text) <= talk.quoteWords && stems.length >= talk.quoteStems);
  return [...lines, ...quotesOf(short, left, talk.quotes)];
}

/** Who spoke most of it: one who said more than half, else two. */
function speakersOf(block: readonly Utterance[]): string {
  const said = new Map<string, number>();
  for (const { speaker, text } of block) said.set(speaker, (said.get(speaker) ?? 0) + wordsIn(text));
  const all = [...said.values()].reduce((sum, count) => sum + count, 0);
  const [first, second] = [...said].toSorted(([, a], [, b]) => b - a);
  return !second || first![1] > all / 2 ? plainName(first![0]) : `${plainName(first![0])} and ${plainName(second[0])}`;
}

/**
 * The sentences that tell most, as many as `words` allow, in at most `most` sentences: `Ann: one; another.` In the order in
 * which they were said.
 */
function quotesOf(whole: readonly Utterance[], words: number, most: number): string[] {
  const chosen: Utterance[] = [];
  let left = words;
  let speaker: string | undefined;
  for (const one of tellingSentences(whole, maxQuoted, 'ranked')) {
    // The name of whoever says it is a word, too.
    const size = wordsIn(one.text) + wordsIn(one.speaker);
    if (size > left) continue;
    chosen.push(one);
    left -= size;
  }
  const runs: Utterance[][] = [];
  for (const one of chosen.toSorted((a, b) => a.at - b.at)) {
    if (one.speaker === speaker && runs.at(-1)!.length < maxRun) runs.at(-1)!.push(one);
    else runs.push([one]);
    speaker = one.speaker;
  }
  return joinedTo(
    most,
    runs.map((run) => `${plainName(run[0]!.speaker)}: ${run.map(({ text }) => inner(text)).join('; ')}`),
  );
}

/** Lines in at most `most` sentences; neighbours that are the shortest together are joined. */
function joinedTo(most: number, lines: readonly string[]): string[] {
  const joined = [...lines];
  while (joined.length > most) {
    const sizes = joined.slice(1).map((line, at) => line.length + joined[at]!.length);
    const at = sizes.indexOf(Math.min(...sizes));
    joined.splice(at, 2, `${joined[at]!}; ${joined[at + 1]!}`);
  }
  return joined.map((line) => `${line}.`);
}

/** A sentence inside another one. */
const inner = (text: string): string => text.replace(/[.!…。！\s]+$/u, '');

const plainName = (name: string): string => name.replace(/[.!?…\s]+/gu, ' ').trim() || 'Somebody';

/** What is known of any meeting, in sentences: as many as a short summary must have. */
function factsOf(said: readonly Said[], startedAt: Date): string[] {
  const names = participantsOf(said).map(({ name }) => plainName(name));
  const who = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} others` : listed(names);
  return [
    `${who} spoke.`,
    `The transcript has ${said.length} ${said.length === 1 ? 'segment' : 'segments'}.`,
    `The meeting began on ${startedAt.toISOString().slice(0, 10)}.`,
    `It was recorded as text.`,
  ];
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** Part by part, in the order of the meeting: what each was about, and who said what of it. */
function longOf(utterances: readonly Utterance[], said: readonly Said[], startedAt: Date): string {
  const count = Math.min(parts.most, Math.max(1, Math.ceil(utterances.length / parts.utterances)));
  const size = Math.ceil(utterances.length / count);
  const blocks = Array.from({ length: count }, (_, n) => utterances.slice(n * size, (n + 1) * size));
  const told = blocks
    .filter((block) => block.length > 0)
    .map((block, index) => {
      const lines = tellingSentences(block, parts.sentences).map(
        ({ speaker, text }) => `- ${speaker}: ${standing(text)}`,
      );
      return [`${index + 1}. ${titleOf(block) ?? block[0]!.text.slice(0, 80)}`, ...lines].join('\n');
    });
  return [factsOf(said, startedAt).slice(0, 3).join(' '), ...told].join('\n\n');
}
