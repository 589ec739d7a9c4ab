/** Centring takes the language out of vectors; embedded.test.ts and meaning.test.ts test the models themselves. */
import { describe, expect, it } from '@jest/globals';
import { centred, centredPart } from '../../clients/embedding/centring.ts';
import { dimensions, models } from '../../clients/embedding/vectors.ts';

const width = models.me5.dimensions;
const unit = (length: number): Float32Array => new Float32Array(length).fill(1 / Math.sqrt(length));
const german = 'Wie lange dauert eine Überweisung in ein anderes Land?';
const english = 'How long does a transfer to another country take?';

describe('centring', () => {
  it('centring leaves the me5 part of an embedding unchanged for text in English or an unknown language', () => {
    const part = unit(width);
    expect(centredPart(part, { kind: 'question', text: english })).toBe(part);
    expect(centredPart(part, { kind: 'passage', text: '42' })).toBe(part);
  });

  it('for text in another language than English, centring shifts only the part of an embedding from the model me5', () => {
    const vector = unit(dimensions);
    const moved = centred(vector, { kind: 'passage', text: german });
    expect(Math.hypot(...moved.slice(0, width))).toBeCloseTo(1, 5);
    expect(moved.slice(0, width)).not.toEqual(vector.slice(0, width));
    expect(moved.slice(width)).toEqual(vector.slice(width));
  });

  it('centring shifts the embedding of a question differently from that of a passage in the same language', () => {
    const [question, passage] = (['question', 'passage'] as const).map((kind) =>
      centredPart(unit(width), { kind, text: german }),
    );
    expect(question).not.toEqual(passage);
  });
});
