/**
 * Removes the influence of the language from vectors. The model me5 puts texts of one language near each other,
 * whatever they say: a single German document was the nearest one to most German questions. So the me5 part of a vector
 * is moved when the text is not English. The shift is the difference between the mean vectors of English and of the
 * text's language. `npm run calibrate -- languages` measures the means. Pure.
 */
import shifts from './languageshifts.json' with { type: 'json' };
import { models, type EmbeddingText } from './vectors.ts';
import { languageOf } from '../../models/rules/language/language.ts';

/**
 * For each language and kind of text, the vector that `centredPart` subtracts from the me5 part of the text's vector:
 * 384 numbers as float16, in base64.
 */
export type LanguageShifts = Record<string, Record<EmbeddingText['kind'], string>>;

export const encoded = (shift: Float32Array): string => Buffer.from(Float16Array.from(shift).buffer).toString('base64');

function decoded(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  return Float32Array.from(new Float16Array(bytes.buffer));
}

const known = new Map(
  Object.entries(shifts as LanguageShifts).map(([language, { question, passage }]) => [
    language,
    { question: decoded(question), passage: decoded(passage) },
  ]),
);

/**
 * The me5 part of a text's vector, moved by the shift of the text's language and scaled to unit length. Unchanged for
 * English and for languages without a shift.
 */
export function centredPart(part: Float32Array, { kind, text }: Pick<EmbeddingText, 'kind' | 'text'>): Float32Array {
  const shift = known.get(languageOf(text) ?? 'en')?.[kind];
  if (shift === undefined) return part;
  const moved = part.map((value, at) => value - shift[at]!);
  const length = Math.hypot(...moved);
  return moved.map((value) => value / length);
}

/** The whole vector of a text, with its me5 part moved by `centredPart`. */
export function centred(vector: Float32Array, text: Pick<EmbeddingText, 'kind' | 'text'>): Float32Array {
  const width = models.me5.dimensions;
  const whole = Float32Array.from(vector);
  whole.set(centredPart(vector.slice(0, width), text));
  return whole;
}
