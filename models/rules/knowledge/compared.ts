/**
 * Lists the texts of a passage with which a question is compared by meaning, and packs their vectors for storage. Pure.
 * The vectors are computed when the passage is embedded, so that at search time only the question must be embedded.
 */
import { unitsOf } from './units.ts';

/**
 * The version of the compared texts and of their vectors; stored vectors of another version are not used. Change it
 * whenever `comparedTexts` returns other texts or the embedding model makes other vectors.
 */
export const sentencesName = 'use-2';

/**
 * The texts of a passage to compare with a question: its sentences, list items and table rows, and the names of its
 * columns. There are at most `maxTexts` of them; nearly every passage has fewer.
 */
export function comparedTexts(text: string): string[] {
  const units = unitsOf(text);
  const columns = units.flatMap(({ cells }) => cells.slice(1).map(({ name }) => name));
  const texts = new Set([...units.map((unit) => unit.text), ...columns.filter((name) => name !== '')]);
  return [...texts].slice(0, maxTexts);
}
const maxTexts = 64;

/** The largest number that a signed byte can hold. */
const most = 127;

/**
 * Packs vectors with equally many numbers into one byte per number. Each vector is scaled so that its largest absolute
 * number becomes `most`. The scale is not stored, because a cosine does not depend on it.
 */
export function packVectors(vectors: readonly Float32Array[]): Int8Array {
  const width = vectors[0]?.length ?? 0;
  const packed = new Int8Array(vectors.length * width);
  for (const [at, vector] of vectors.entries()) {
    const largest = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    if (largest > 0)
      packed.set(
        vector.map((value) => Math.round((value / largest) * most)),
        at * width,
      );
  }
  return packed;
}

/**
 * The cosines of the unit-length vector `unit` with the packed vectors. Undefined when `packed` does not hold `count`
 * vectors with as many numbers as `unit`.
 */
export function packedCosines(unit: Float32Array, packed: Int8Array, count: number): number[] | undefined {
  const width = unit.length;
  if (packed.length !== count * width) return undefined;
  return Array.from({ length: count }, (_, at) => {
    let sum = 0;
    let square = 0;
    for (let i = 0, from = at * width; i < width; i += 1) {
      const value = packed[from + i]!;
      sum += unit[i]! * value;
      square += value * value;
    }
    return square === 0 ? 0 : sum / Math.sqrt(square);
  });
}
