/** The texts of a passage that questions are compared with, and their packed vectors. */
import { describe, expect, it } from '@jest/globals';
import { comparedTexts, packedCosines, packVectors } from '../../../models/rules/knowledge/compared.ts';

const vector = (seed: number): Float32Array => {
  const values = Float32Array.from({ length: 512 }, (_, at) => Math.sin(seed * 97 + at * (seed + 1)));
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
};
const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * b[at]!, 0);

describe('the texts that a question is compared with', () => {
  it('comparedTexts returns the sentences, rows and column names of a passage, each once', () => {
    expect(comparedTexts('It is free. Order it in the app. It is free.')).toEqual([
      'It is free.',
      'Order it in the app.',
    ]);
    expect(comparedTexts('Product: Gold; Annual fee: 49 EUR\nProduct: Blue; Annual fee: 0 EUR')).toEqual([
      'Product: Gold; Annual fee: 49 EUR',
      'Product: Blue; Annual fee: 0 EUR',
      'Annual fee',
    ]);
  });

  it('comparedTexts returns at most 64 texts of a passage, and none of an empty one', () => {
    const many = Array.from({ length: 500 }, (_, at) => `Fact ${at} is true.`).join(' ');
    expect(comparedTexts(many)).toHaveLength(64);
    expect(comparedTexts('')).toEqual([]);
  });
});

describe('packed vectors', () => {
  it('the cosine with a packed vector differs from that with the original by less than 0.01', () => {
    const vectors = [1, 2, 3, 4].map(vector);
    const question = vector(2.01);
    const found = packedCosines(question, packVectors(vectors), 4)!;
    for (const [at, one] of vectors.entries()) expect(Math.abs(found[at]! - cosine(question, one))).toBeLessThan(0.01);
    expect(packVectors(vectors)).toHaveLength(4 * 512);
  });

  it('a vector of zeros can be packed, and its cosine is 0', () => {
    expect(packedCosines(vector(1), packVectors([new Float32Array(512)]), 1)).toEqual([0]);
    expect(packedCosines(vector(1), packVectors([]), 0)).toEqual([]);
  });

  it('packedCosines is undefined when the number or the length of the packed vectors does not match', () => {
    expect(packedCosines(vector(1), packVectors([vector(1)]), 2)).toBeUndefined();
    expect(packedCosines(vector(1), packVectors([new Float32Array(384)]), 1)).toBeUndefined();
  });
});
