/**
 * Computes clients/embedding/languageshifts.json: how far the vectors that the model me5 (multilingual-e5-small) makes
 * of texts in another language are, on average, from those of English texts.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readExamples } from './sentences.ts';
import { encoded, type LanguageShifts } from '../../clients/embedding/centring.ts';
import type { EmbeddingText } from '../../clients/embedding/vectors.ts';
import { languages } from '../../models/rules/language/language.ts';

const path = join(import.meta.dirname, '../../clients/embedding/languageshifts.json');
/**
 * The number of sentences used of each language, taken evenly from its list. With twice as many, no mean vector moves
 * by more than 0.02.
 */
const sentences = 200;

/** `embed`: the me5 vectors of texts. */
export async function calibrateLanguages(
  embed: (texts: readonly EmbeddingText[]) => Promise<Float32Array[]>,
): Promise<void> {
  const byLanguage = Map.groupBy(await readExamples('all', new Set()), ({ language }) => language);
  const meanOf = async (language: string, kind: EmbeddingText['kind']): Promise<Float32Array> => {
    const all = byLanguage.get(language)!;
    const step = Math.max(1, Math.ceil(all.length / sentences));
    const vectors = await embed(all.filter((_, at) => at % step === 0).map(({ text }) => ({ kind, text })));
    return vectors[0]!.map((_, at) => vectors.reduce((sum, vector) => sum + vector[at]!, 0) / vectors.length);
  };
  const english = { question: await meanOf('en', 'question'), passage: await meanOf('en', 'passage') };
  const shifts: LanguageShifts = {};
  for (const language of languages.filter((each) => each !== 'en')) {
    const shift = async (kind: EmbeddingText['kind']): Promise<Float32Array> =>
      (await meanOf(language, kind)).map((value, at) => value - english[kind][at]!);
    shifts[language] = { question: encoded(await shift('question')), passage: encoded(await shift('passage')) };
    console.log(`languages: ${language}`);
  }
  await writeFile(path, `${JSON.stringify(shifts, null, 2)}\n`);
  console.log(`${path} is written.`);
}
