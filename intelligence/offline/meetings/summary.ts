/**
 * Summarizes a meeting without a model: who discussed what, and the most informative sentences, verbatim. A short
 * summary names topics only for long conversations in English; otherwise it only quotes.
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
  type SummaryText,
} from '../../../models/rules/interviews/summary.ts';
import { participantsOf, type Said } from '../../../models/rules/interviews/transcript.ts';
import { languageOfFirst } from '../../../models/rules/language/language.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { actionItemOf } from '../../../models/rules/interviews/found.ts';

/**
 * A short summary of a long conversation has at most this many parts, topics per part and quotes. A quote has at most
 * `quoteWords` words and at least `quoteStems` stems.
 */
const talk = { parts: 4, topics: 4, quotes: 2, quoteWords: 26, quoteStems: 6 } as const;
/** A sentence with fewer stems is not quoted. */
const minStems = 3;
/** At most this many sentences of one speaker are quoted in a row. */
const maxRun = 3;
/** The number of sentences to choose quotes from; more than fit into a summary. */
const maxQuoted = 60;
/** If a short summary has less than this share of the transcript's words, it names topics besides quotes. */
const tellingShare = 0.05;
/**
 * The bounds of a long summary: the number of parts, the quoted sentences of each, and the number of transcript
 * sentences for which one part is made.
 */
const parts = { most: 8, sentences: 4, utterances: 12 } as const;

const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => word !== '').length;

/** `said`: the transcript, which has at least one segment. */
export function summarizeMeeting(said: readonly Said[], meeting: Meeting, mode: SummaryMode): SummaryText {
  const utterances = utterancesOf(said);
  return {
    summary: { short: shortOf, long: longOf }[mode](utterances, said, meeting.startedAt),
    key_points: tellingSentences(utterances, maxKeyPoints[mode]).map(({ text }) => standing(text)),
    action_items: findTasks(said, meeting).tasks.map(actionItemOf),
  };
}

/** Normalizes a quote to exactly one sentence, so that the number of sentences of a summary is known. */
function standing(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  const closed = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u.test(line)
    ? line
    : `${line.replace(/(?<![\s,;:–—-])[\s,;:–—-]+$/u, '')}.`;
  return closed.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** Words that link a sentence to what other people said before. */
const leadIn = /^(?:(?:yeah|yes|yep|okay|ok|so|and|well|but|then|right|alright|now|oh|exactly|agreed)[,.]?\s+)+/iu;

const greeting =
  /\b(?:good (?:morning|afternoon|evening)|thanks for (?:joining|coming)|goodbye|bye)\b|^(?:hi|hello|hey|thanks|thank you|welcome|hallo|guten|danke|bonjour|merci|hola|gracias)\b/iu;

/**
 * Whether a text is one sentence, both by `sentences` and by a split after each full stop, question and exclamation
 * mark.
 */
const isOne = (text: string): boolean =>
  sentences(text).length === 1 && text.split(/(?<![.!?…])[.!?…]+["'”)]*\s+/u).length === 1;

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
  // With too few sentences, facts about the transcript fill the summary.
  while (told.length < shortSentences.min) told.push(facts.shift()!);
  return told.join(' ');
}

/**
 * The topics of each part of a long conversation, and the most informative quotes. Undefined when too few topics are
 * found.
 */
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

/** The main speaker of a part, if they said more than half of it; otherwise the two who said most. */
function speakersOf(block: readonly Utterance[]): string {
  const said = new Map<string, number>();
  for (const { speaker, text } of block) said.set(speaker, (said.get(speaker) ?? 0) + wordsIn(text));
  const all = [...said.values()].reduce((sum, count) => sum + count, 0);
  const [first, second] = [...said].toSorted(([, a], [, b]) => b - a);
  return !second || first![1] > all / 2 ? plainName(first![0]) : `${plainName(first![0])} and ${plainName(second[0])}`;
}

/**
 * Quotes the most informative sentences that fit into `words` words, in transcript order. They are joined into at most
 * `most` lines such as `Ann: one; another.`.
 */
function quotesOf(whole: readonly Utterance[], words: number, most: number): string[] {
  const chosen: Utterance[] = [];
  let left = words;
  let speaker: string | undefined;
  for (const one of tellingSentences(whole, maxQuoted, 'ranked')) {
    // The speaker's name counts as words too.
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

/** Joins the lines into at most `most` sentences; the shortest neighbours are joined first. */
function joinedTo(most: number, lines: readonly string[]): string[] {
  const joined = [...lines];
  while (joined.length > most) {
    const sizes = joined.slice(1).map((line, at) => line.length + joined[at]!.length);
    const at = sizes.indexOf(Math.min(...sizes));
    joined.splice(at, 2, `${joined[at]!}; ${joined[at + 1]!}`);
  }
  return joined.map((line) => `${line}.`);
}

/** The sentence without its final punctuation, for use inside another sentence. */
const inner = (text: string): string => text.replace(/[.!…。！\s]+$/u, '');

const plainName = (name: string): string => name.replace(/[.!?…\s]+/gu, ' ').trim() || 'Somebody';

/** Sentences that are true of any meeting: enough for the minimum length of a short summary (`shortSentences.min`). */
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

/** The long summary, part by part in the order of the meeting: a title, and who said what. */
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
