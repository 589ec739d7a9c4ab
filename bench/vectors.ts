/**
 * Synthetic vectors with the shape of the embedded models' vectors: clustered by subject, and spread over fewer
 * directions than they have dimensions. The same name gives the same vector in every process.
 */
import { widths } from '../clients/embedding/vectors.ts';
import { randomNumbers } from '../test/kit/random.ts';

/** The model name under which these vectors are stored, as if a model had computed them. */
export const givenModel = 'given-1';

/** The number of subjects, and the number of directions in which texts of one subject differ. */
const clusters = 400;
const rank = 24;
/** The distance of a text from the centre of its subject, and of a question from its text. */
const spread = 0.7;
const off = 0.35;

function seeded(seed: number): () => number {
  const random = randomNumbers(seed);
  return () => random() - 0.5;
}

const random = seeded(3);
const many = (count: number): Float32Array => Float32Array.from({ length: count }, random);
const middles = Array.from({ length: clusters }, () => many(rank));
const directions = widths.map((width) => Array.from({ length: rank }, () => many(width)));

/** The vector for this point, as one part of length 1 for each embedding model. */
const partsAt = (place: Float32Array): Float32Array[] =>
  directions.map((of, part) => {
    const values = new Float32Array(widths[part]!);
    for (const [at, direction] of of.entries())
      for (let index = 0; index < values.length; index += 1) values[index]! += place[at]! * direction[index]!;
    const length = Math.hypot(...values);
    return values.map((value) => value / length);
  });

/** The point of a text, by the text's number. */
function placeOf(text: number): Float32Array {
  const own = seeded(text * 2_654_435 + 17);
  const middle = middles[Math.floor((own() + 0.5) * clusters)]!;
  return middle.map((value) => value + spread * own());
}

export const passageVector = (text: number): Float32Array =>
  Float32Array.from(partsAt(placeOf(text)).flatMap((part) => Array.from(part)));

/**
 * The vector parts of a question about a text. `asking`: the number of the question's wording, since different wordings
 * have different vectors.
 */
export function questionParts(text: number, asking: number): Float32Array[] {
  const own = seeded(asking * 40_503 + 29);
  return partsAt(placeOf(text).map((value) => value + off * own()));
}

/**
 * Vectors like those of real passages: each is a mixture of two real ones, so that all are as similar to each other as
 * real ones are. The same number gives the same vector.
 */
export function mixturesOf(real: readonly Float32Array[]): (number: number) => Float32Array {
  return (number) => {
    const own = seeded(number * 69_069 + 5);
    const [one, other] = [own, own].map((draw) => real[Math.floor((draw() + 0.5) * real.length)]!);
    const share = 0.5 + 0.6 * own();
    const mixed = one!.map((value, at) => share * value + (1 - share) * other![at]!);
    let from = 0;
    for (const width of widths) {
      const part = mixed.subarray(from, (from += width));
      const length = Math.hypot(...part);
      for (const [at, value] of part.entries()) part[at] = value / length;
    }
    return mixed;
  };
}

/** The numbers of the text and of the wording that a benchmark's question refers to. */
export function numbersOf(question: string): { text: number; asking: number } {
  let hash = 7;
  for (const letter of question) hash = Math.imul(hash, 31) + letter.codePointAt(0)!;
  return { text: Math.abs(hash) % 100_000, asking: Math.abs(hash) % 9_973 };
}
