/**
 * The summary of a meeting: what is asked of one, and the one that is made without a language model, of the transcript's
 * own sentences and of what the record itself says. Pure.
 */
import { actionItems, tellingSentences, titleOf, utterancesOf, type Utterance } from './digest.ts';
import { participantsOf, type Said } from './transcript.ts';
import { sentences } from '../language/sentences.ts';

export const summaryModes = ['short', 'long'] as const;
export type SummaryMode = (typeof summaryModes)[number];

export type SummaryText = { summary: string; key_points: string[]; action_items: string[] };

/** A short summary has this many sentences, whoever writes it. */
export const shortSentences = { min: 4, max: 6 } as const;
const wantedSentences = 5;
const maxKeyPoints = { short: 5, long: 12 } as const;
/** A long summary has at most so many parts, each of so many sentences. */
const parts = { most: 8, sentences: 4, utterances: 12 } as const;

/** What is wrong with a summary, in a sentence for whoever wrote it; undefined when it is right. */
export function summaryProblem(mode: SummaryMode, { summary }: SummaryText): string | undefined {
  const count = sentences(summary).length;
  if (count === 0) return 'the summary is empty.';
  if (mode === 'long') return undefined;
  const { min, max } = shortSentences;
  return count >= min && count <= max ? undefined : `the summary has ${count} sentences, not ${min} to ${max}.`;
}

export type Summarized = { startedAt: Date; said: readonly Said[] };

/** `said`: at least one segment. */
export function extractSummary(mode: SummaryMode, { startedAt, said }: Summarized): SummaryText {
  const utterances = utterancesOf(said);
  return {
    summary: mode === 'short' ? shortOf(utterances, said, startedAt) : longOf(utterances, said, startedAt),
    key_points: tellingSentences(utterances, maxKeyPoints[mode]).map(({ text }) => text),
    action_items: actionItems(utterances),
  };
}

/** As a sentence that stands by itself, so that sentences that are put together stay as many as they were. */
function standing(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  const closed = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u.test(line) ? line : `${line.replace(/[\s,;:–—-]+$/u, '')}.`;
  return closed.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** Whether a reader sees one sentence, with whatever rule sentences are counted. */
const isOne = (text: string): boolean => sentences(text).length === 1 && text.split(/[.!?…]+["'”)]*\s+/u).length === 1;

function shortOf(utterances: readonly Utterance[], said: readonly Said[], startedAt: Date): string {
  const whole = utterances.map((one) => ({ ...one, text: standing(one.text) })).filter(({ text }) => isOne(text));
  const chosen = tellingSentences(whole, wantedSentences).map(({ text }) => text);
  const facts = factsOf(said, startedAt);
  // Fewer sentences than a summary has: the record itself says the rest.
  while (chosen.length < shortSentences.min) chosen.push(facts.shift()!);
  return chosen.join(' ');
}

/** What is known of any meeting, in sentences: as many as a short summary must have. */
function factsOf(said: readonly Said[], startedAt: Date): string[] {
  const names = participantsOf(said).map(({ name }) => name.replace(/[.!?…\s]+/gu, ' ').trim() || 'Somebody');
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
