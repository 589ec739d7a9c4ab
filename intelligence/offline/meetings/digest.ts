/**
 * Condenses a transcript without adding words: chooses the most informative sentences, and a phrase as a title. Pure.
 */
import type { Said } from '../../../models/rules/interviews/transcript.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { fold, terms } from '../../../models/rules/language/words.ts';

/** A sentence of a transcript, its speaker, and its index among all sentences. */
export type Utterance = { speaker: string; text: string; at: number; stems: readonly string[] };

/**
 * The length of a useful sentence, in characters. Shorter sentences are hardly informative, and longer ones hardly fit
 * into a summary, so both count less.
 */
const usefulLength = { min: 25, max: 320 } as const;
/** The most sentences that are considered; a longer transcript is sampled evenly. */
const maxUtterances = 4_000;

export function utterancesOf(said: readonly Pick<Said, 'speaker' | 'text'>[]): Utterance[] {
  const all = said.flatMap(({ speaker, text }) => sentences(text).map((sentence) => ({ speaker, text: sentence })));
  const step = Math.max(1, all.length / maxUtterances);
  const taken = step === 1 ? all : Array.from({ length: maxUtterances }, (_, n) => all[Math.floor(n * step)]!);
  return taken.map(({ speaker, text }, at) => ({ speaker, text, at, stems: terms(text).map(({ stem }) => stem) }));
}

/** Words that announce decisions: en, de, fr, es. */
const decisive =
  /(?<!\p{L})(?:decid\w+|decision|agree\w*|approved?|deadline|budget|instead|from now on|let's say|so we (?:go|stay|keep)|in summary|to sum up|conclusion|beschlossen|entschieden|einig\w*|frist|décid\p{L}+|d'accord|échéance|decidi\w+|acord\w+|plazo)(?!\p{L})/iu;
/** English words that describe problems and their causes. */
const trouble =
  /\b(?:no|not|never|nobody|none|problem|wrong|broken|only|still|because|cause|since|failed|lost)\b|n['’]t\b/iu;
const number =
  /\p{N}|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred|thousand|half|percent)\b/iu;
const smallTalk =
  /^(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|ok(?:ay)?|yes|no|sure|great|bye|goodbye|see you|can you hear|how are you|hallo|guten|danke|tschüss|bonjour|merci|au revoir|hola|gracias|adiós)\b/iu;
/** Matches a sentence that begins with a pronoun, so that it does not name what it is about. */
const pointing = /^(?:(?:and|so|but|yeah|well|okay)[,.]? )*(?:it|they|he|she|that|this|those|these)\b/iu;
/** A promise becomes a task, so it counts less in a summary. */
const promised = /\b(?:I['’]ll|I will|I['’]m going to|can you|could you|please|let['’]s)\b/iu;

/** Scores sentences: words that many sentences share, numbers, decisions and problems raise the score. */
function weigh(utterances: readonly Utterance[]): number[] {
  const spread = new Map<string, number>();
  for (const { stems } of utterances) for (const stem of stems) spread.set(stem, (spread.get(stem) ?? 0) + 1);
  return utterances.map(({ text, stems }) => {
    if (stems.length === 0) return 0;
    let weight = stems.reduce((sum, stem) => sum + 1 + 0.3 * Math.log(spread.get(stem)!), 0);
    if (number.test(text)) weight += 2;
    if (decisive.test(text)) weight += 1;
    if (trouble.test(text)) weight += 1;
    if (promised.test(text)) weight -= 1;
    if (smallTalk.test(text)) weight -= 1.5;
    if (pointing.test(text)) weight -= 0.5;
    if (/[?？]$/u.test(text)) weight -= 4;
    weight = Math.max(0.01, weight) / Math.sqrt(text.split(/\s+/u).length);
    return text.length < usefulLength.min || text.length > usefulLength.max ? weight * 0.4 : weight;
  });
}

/**
 * The `count` most informative sentences, without near duplicates; in transcript order (`said`), or best first
 * (`ranked`).
 */
export function tellingSentences(
  utterances: readonly Utterance[],
  count: number,
  order: 'said' | 'ranked' = 'said',
): Utterance[] {
  const weights = weigh(utterances);
  const left = utterances.map((utterance, index) => ({ utterance, weight: weights[index]! }));
  const chosen: Utterance[] = [];
  while (chosen.length < count && left.length > 0) {
    let best = 0;
    for (let index = 1; index < left.length; index += 1) if (left[index]!.weight > left[best]!.weight) best = index;
    const [{ utterance }] = left.splice(best, 1) as [(typeof left)[number]];
    chosen.push(utterance);
    const likeness = likenessTo(utterance);
    for (const other of left) other.weight *= 1 - likeness(other.utterance);
  }
  return order === 'ranked' ? chosen : chosen.toSorted((a, b) => a.at - b.at);
}

/** The share of the shorter sentence's stems that the other sentence contains too. */
function likenessTo(one: Utterance): (other: Utterance) => number {
  const has = new Set(one.stems);
  return (other) => {
    const smaller = Math.min(one.stems.length, other.stems.length);
    if (smaller === 0) return fold(one.text) === fold(other.text) ? 1 : 0;
    return other.stems.filter((stem) => has.has(stem)).length / smaller;
  };
}

/** Runs of consecutive subject words: `budget for marketing` gives `budget` and `marketing`. */
function phrasesOf(text: string): string[][] {
  const runs: string[][] = [[]];
  for (const piece of text.split(/([^\p{L}\p{M}\p{N}'’&-]+)/u)) {
    if (/^\s+$/u.test(piece)) continue;
    const carries = /\p{L}/u.test(piece) && terms(piece).some(({ weight }) => weight === 1);
    if (carries) runs.at(-1)!.push(piece);
    else runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}

const maxTitleWords = 6;
/**
 * A title is made from at most this many sentences, because a meeting's subject comes up early. The limit also bounds
 * the computing time.
 */
const titleSentences = 400;

/**
 * The consecutive subject words that best name a transcript. Each word counts by its frequency and by the number of
 * subject words next to it. Undefined when no words fit.
 */
export function titleOf(utterances: readonly Utterance[]): string | undefined {
  const runs = utterances
    .filter(({ text }) => !smallTalk.test(text))
    .slice(0, titleSentences)
    .flatMap(({ text }) => phrasesOf(text));
  const known = new Map<string, { said: number; beside: number }>();
  const keyOf = (word: string): string => terms(word)[0]?.stem ?? fold(word);
  for (const run of runs)
    for (const word of run) {
      const entry = known.get(keyOf(word)) ?? { said: 0, beside: 0 };
      known.set(keyOf(word), { said: entry.said + 1, beside: entry.beside + run.length - 1 });
    }
  const scored = new Map<string, { words: string[]; score: number }>();
  for (const run of runs) {
    const words = run.slice(0, maxTitleWords);
    const worth = words.reduce((sum, word) => {
      const { said, beside } = known.get(keyOf(word))!;
      // A word that occurs once counts little, even with many neighbours.
      return sum + Math.log2(said) * (1 + beside / said) + 0.1;
    }, 0);
    const key = words.map(keyOf).join(' ');
    const standing = scored.get(key);
    if (standing) standing.score += worth;
    else scored.set(key, { words, score: worth });
  }
  const [first, ...others] = [...scored.values()].toSorted((a, b) => b.score - a.score);
  if (!first) return undefined;
  const named = new Set(first.words.map(keyOf));
  const second = others.find(({ words }) => !words.some((word) => named.has(keyOf(word))));
  const alone = first.words.join(' ');
  const title = first.words.length > 1 || !second ? alone : `${alone}, ${second.words.join(' ')}`;
  return title.slice(0, 120).replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}
