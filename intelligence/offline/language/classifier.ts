/**
 * Classifies a customer's sentence in any language: a question, a greeting, a request for a human, and so on. Pure. One
 * linear model uses the sentence's embedding and its words. Another model uses only the words, for when there is no
 * embedding. `npm run calibrate` trains both from bench/calibrate/reading/ and stores the weights in classifier.json.
 */
import classifiers from './classifier.json' with { type: 'json' };
import { fold } from '../../../models/rules/language/words.ts';

/**
 * The less obvious classes. `tells`: a statement that asks nothing. `no_person`: mentions a person without asking for a
 * human. `signature`: the sender's name, place or device. `help`: asks for help without naming a subject.
 */
export const sentenceClasses = [
  'question',
  'tells',
  'no_person',
  'signature',
  'greeting',
  'help',
  'thanks',
  'farewell',
  'small_talk',
  'bot',
  'insult',
  'person',
] as const;
export type SentenceClass = (typeof sentenceClasses)[number];
/** Probabilities in the order of `sentenceClasses`. */
export type Classified = readonly number[];

/** Weights as signed bytes in base64, one row per class; a weight is its byte times the row's scale. */
export type Matrix = { width: number; scales: readonly number[]; bytes: string };
/** The weights of a linear model. */
export type Classifier = { bias: readonly number[]; words: Matrix; embedding?: Matrix };
export type Classifiers = { embedded: Required<Classifier>; words: Classifier };

/**
 * How a text becomes the features of a model. Features are hashed into `columns` columns; `pieces` are the lengths of
 * character n-grams.
 */
export type WordView = { columns: number; pieces: readonly number[] };
/**
 * The word features of each model. Next to an embedding a few columns are enough; without one, the model has more
 * columns and more n-gram lengths.
 */
export const wordViews = {
  embedded: { columns: 4_096, pieces: [4] },
  words: { columns: 16_384, pieces: [3, 4, 5] },
} as const satisfies Record<keyof Classifiers, WordView>;

/** The 32-bit FNV-1a hash of a text. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

const wordOrMark = /[\p{L}\p{M}\p{N}]+|[?？؟]/gu;
const longestWord = 40;

/** The columns of a text's features: words, pairs of neighbouring words, and character n-grams of words. */
export function columnsOf(text: string, view: WordView): number[] {
  const words = ['^', ...(fold(text).match(wordOrMark) ?? []).map((word) => word.slice(0, longestWord)), '$'];
  const columns = new Set<number>();
  const add = (feature: string): void => void columns.add(hash(feature) % view.columns);
  for (const [at, word] of words.entries()) {
    if (at > 0 && at < words.length - 1) add(`u${word}`);
    if (at + 1 < words.length) add(`b${word} ${words[at + 1]}`);
    const bounded = `<${word}>`;
    for (const length of view.pieces)
      for (let from = 0; from + length <= bounded.length; from += 1) add(`c${bounded.slice(from, from + length)}`);
  }
  return [...columns];
}

/**
 * The value of each word feature of a text. The scaling makes long and short texts weigh the same, and as much as an
 * embedding.
 */
export const shareOf = (columns: readonly number[]): number => 2 / Math.sqrt(Math.max(columns.length, 1));

const pictures = /\s*[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{FE0F}\u{200D}]+/gu;

/**
 * The form of a text that is embedded. Text in capitals becomes lower case, apostrophes are unified, and emoji next to
 * words are removed, because they do not change the meaning.
 */
export function asRead(text: string): string {
  const written = text.normalize('NFC').replaceAll('’', "'");
  const composed = written.replace(pictures, '').trim() || written;
  return composed.length > 1 && composed === composed.toUpperCase() ? composed.toLowerCase() : composed;
}

type Rows = Omit<Matrix, 'bytes'> & { weights: Int8Array };
const unpack = ({ bytes, ...matrix }: Matrix): Rows => ({
  ...matrix,
  weights: Int8Array.from(atob(bytes), (character) => character.charCodeAt(0)),
});
const embedded = {
  bias: classifiers.embedded.bias,
  words: unpack(classifiers.embedded.words),
  embedding: unpack(classifiers.embedded.embedding),
};
const words = { bias: classifiers.words.bias, words: unpack(classifiers.words.words) };

/** Classifies a sentence. `vector`: its embedding by the reading models; without it, only the words count. */
export function classify(text: string, vector?: Float32Array): Classified {
  const columns = columnsOf(text, vector === undefined ? wordViews.words : wordViews.embedded);
  const share = shareOf(columns);
  const head = vector === undefined ? words : embedded;
  const byWords = (row: number): number => {
    const from = row * head.words.width;
    return (
      columns.reduce((sum, column) => sum + head.words.weights[from + column]!, 0) * share * head.words.scales[row]!
    );
  };
  const byVector = (row: number, { width, weights, scales }: Rows): number =>
    vector!.reduce((sum, value, at) => sum + value * weights[row * width + at]!, 0) * scales[row]!;
  return softmax(
    head.bias.map((bias, row) => bias + byWords(row) + (vector === undefined ? 0 : byVector(row, embedded.embedding))),
  );
}

function softmax(scores: readonly number[]): number[] {
  const highest = Math.max(...scores);
  const raised = scores.map((score) => Math.exp(score - highest));
  const total = raised.reduce((sum, value) => sum + value, 0);
  return raised.map((value) => value / total);
}

/** The summed probability of the given classes. */
export const likelihood = (classified: Classified, ...classes: readonly SentenceClass[]): number =>
  classes.reduce((sum, name) => sum + classified[sentenceClasses.indexOf(name)]!, 0);

export const likeliest = (classified: Classified): SentenceClass =>
  sentenceClasses[classified.indexOf(Math.max(...classified))]!;
