/**
 * Trains the classifiers in intelligence/offline/language/classifier.json, which are softmax regressions. One uses the
 * vectors and words of the sentences in reading/. The other uses only words, of the sentences in reading/ and words/.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { joinedExamples, keyOf, readExamples, smallExamples, type Example } from './sentences.ts';
import {
  asRead,
  columnsOf,
  sentenceClasses,
  shareOf,
  wordViews,
  type Classifiers,
  type Matrix,
  type WordView,
} from '../../intelligence/offline/language/classifier.ts';

const path = join(import.meta.dirname, '../../intelligence/offline/language/classifier.json');
const fixtures = join(import.meta.dirname, '../../test/fixtures');
const classes = sentenceClasses.length;
/**
 * The strength of the L2 regularization, chosen on the training sentences and on development questions of real
 * customers (the folder BANKING). A lower value overfits to rare phrases; a higher one ignores them.
 */
const ridge = 3e-5;
const rounds = 250;
const stepSize = 6;
const momentum = 0.9;
/**
 * The first `until` numbers of a vector come from the first embedding model. Its vectors are close to each other, so
 * these numbers are multiplied by `by`.
 */
const spread = { until: 384, by: 3 };

type Row = { is: number; columns: Uint16Array; share: number; vector: Float64Array };
type Widths = { words: number; embedding: number };
type Weights = { bias: Float64Array; words: Float64Array; embedding: Float64Array };
const parts = ['bias', 'words', 'embedding'] as const;

/** Trains the classifiers and writes the file. `embed` computes the vectors of messages. */
export async function calibrateClassifiers(
  embed: (texts: readonly string[]) => Promise<Float32Array[]>,
): Promise<void> {
  const without = new Set((await heldOut()).map(keyOf));
  const examples = await readExamples('all', without);
  const joined = joinedExamples(examples);
  const every = [...examples, ...smallExamples(examples), ...joined];
  const counted = Map.groupBy(every, ({ is }) => is);
  console.log(`reading: ${every.length} sentences, ${[...counted].map(([is, of]) => `${is} ${of.length}`).join(', ')}`);
  const vectors = await embed(every.map(({ text }) => asRead(text)));
  const mean = meanOf(vectors);
  const rows = every.map((example, at) => rowOf(example, wordViews.embedded, { vector: vectors[at]!, mean }));
  const { bias, words, embedding } = train(rows, { words: wordViews.embedded.columns, embedding: mean.length });
  const applied = embedding.map((weight, at) => weight * spreadAt(at % mean.length));
  const shifted = bias.map(
    (start, k) => start - mean.reduce((sum, value, at) => sum + value * applied[k * mean.length + at]!, 0),
  );
  // Lower-case variants are left out: the word classifier ignores case, so they would only count sentences twice.
  const spoken = [...examples, ...joined, ...(await readExamples('words', without))];
  const alone = train(
    spoken.map((example) => rowOf(example, wordViews.words)),
    { words: wordViews.words.columns, embedding: 0 },
  );
  const classifiers: Classifiers = {
    embedded: {
      bias: rounded(shifted),
      words: toMatrix(words, wordViews.embedded.columns),
      embedding: toMatrix(applied, mean.length),
    },
    words: { bias: rounded(alone.bias), words: toMatrix(alone.words, wordViews.words.columns) },
  };
  await writeFile(path, await format(JSON.stringify(classifiers), { parser: 'json', printWidth: 120 }));
  console.log(`${path} is written.`);
}

/** The sentences on which the classifiers are evaluated. They are not trained on these sentences. */
async function heldOut(): Promise<string[]> {
  const texts = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : typeof value === 'object' ? Object.values(value ?? {}).flatMap(texts) : [];
  const files = ['reading.json', 'relevance.json', 'questions.json'];
  return (await Promise.all(files.map(async (name) => readFile(join(fixtures, name), 'utf8')))).flatMap((file) =>
    texts(JSON.parse(file)),
  );
}

function meanOf(vectors: readonly Float32Array[]): Float64Array {
  const mean = new Float64Array(vectors[0]!.length);
  for (const vector of vectors) for (let at = 0; at < mean.length; at += 1) mean[at]! += vector[at]! / vectors.length;
  return mean;
}

const spreadAt = (at: number): number => (at < spread.until ? spread.by : 1);

type Meant = { vector: Float32Array; mean: Float64Array };
const unknown: Meant = { vector: new Float32Array(), mean: new Float64Array() };

function rowOf({ is, text }: Example, view: WordView, { vector, mean } = unknown): Row {
  const columns = columnsOf(text, view);
  return {
    is: sentenceClasses.indexOf(is),
    columns: Uint16Array.from(columns),
    share: shareOf(columns),
    vector: Float64Array.from(vector, (value, at) => (value - mean[at]!) * spreadAt(at)),
  };
}

/**
 * Gradient descent with Nesterov momentum. A class is weighted by the square root of its size. `widths.embedding` 0
 * means words only.
 */
function train(rows: readonly Row[], widths: Widths): Weights {
  const make = (): Weights => ({
    bias: new Float64Array(classes),
    words: new Float64Array(classes * widths.words),
    embedding: new Float64Array(classes * widths.embedding),
  });
  const [weights, speed, ahead] = [make(), make(), make()];
  const importance = importanceOf(rows);
  for (let round = 0; round < rounds; round += 1) {
    const slope = make();
    for (const part of parts)
      for (let i = 0; i < weights[part].length; i += 1) ahead[part][i] = weights[part][i]! + momentum * speed[part][i]!;
    for (const row of rows) addSlope(slope, row, ahead, widths, importance[row.is]!);
    for (const part of parts)
      for (let i = 0; i < weights[part].length; i += 1) {
        const decay = part === 'bias' ? 0 : ridge * ahead[part][i]!;
        speed[part][i] = momentum * speed[part][i]! - stepSize * (slope[part][i]! + decay);
        weights[part][i]! += speed[part][i]!;
      }
  }
  return weights;
}

function importanceOf(rows: readonly Row[]): number[] {
  const sizes = sentenceClasses.map((_, is) => rows.filter((row) => row.is === is).length);
  const total = sizes.reduce((sum, size) => sum + Math.sqrt(size), 0);
  return sizes.map((size) => 1 / Math.sqrt(size) / total);
}

function addSlope(slope: Weights, row: Row, { bias, words, embedding }: Weights, widths: Widths, much: number): void {
  const { is, columns, share, vector } = row;
  const scores = Float64Array.from(bias);
  for (let k = 0; k < classes; k += 1) {
    let sum = 0;
    for (let i = 0; i < columns.length; i += 1) sum += words[k * widths.words + columns[i]!]! * share;
    const from = k * widths.embedding;
    for (let i = 0; i < widths.embedding; i += 1) sum += embedding[from + i]! * vector[i]!;
    scores[k]! += sum;
  }
  const highest = Math.max(...scores);
  const raised = scores.map((score) => Math.exp(score - highest));
  const total = raised.reduce((sum, value) => sum + value, 0);
  for (let k = 0; k < classes; k += 1) {
    const off = (raised[k]! / total - (is === k ? 1 : 0)) * much;
    slope.bias[k]! += off;
    for (let i = 0; i < columns.length; i += 1) slope.words[k * widths.words + columns[i]!]! += off * share;
    const from = k * widths.embedding;
    for (let i = 0; i < widths.embedding; i += 1) slope.embedding[from + i]! += off * vector[i]!;
  }
}

const round = (value: number): number => Number(value.toPrecision(5));
const rounded = (values: Float64Array): number[] => Array.from(values, round);

function toMatrix(weights: Float64Array, width: number): Matrix {
  const scales: number[] = [];
  const bytes = new Int8Array(weights.length);
  for (let k = 0; k < classes; k += 1) {
    const row = weights.subarray(k * width, (k + 1) * width);
    const scale = round(row.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127 || 1);
    bytes.set(
      Array.from(row, (value) => Math.round(value / scale)),
      k * width,
    );
    scales.push(scale);
  }
  return { width, scales, bytes: Buffer.from(bytes.buffer).toString('base64') };
}
