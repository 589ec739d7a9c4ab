/** Whether a message is about what a tool does. Pure: by the words they share, or by how near a model of meaning puts them. */
import calibration from './fitting.json' with { type: 'json' };
import { stem, terms } from '../../../models/rules/language/words.ts';
import { titleOf } from '../../../models/rules/mcp/tool.ts';

/** What is compared with a message. */
export const describedAs = ({ tool_name, description }: { tool_name: string; description: string }): string =>
  `${titleOf(tool_name)}. ${description}`.slice(0, 500);

/** From which fit on a tool is meant, with and without further evidence, and how much better than the next one it has to be. */
export type Bounds = { withArguments: number; alone: number; step: number };

/**
 * By the share of shared words, and by the cosine of the Universal Sentence Encoder. A tool that needs nothing from the message
 * has no further evidence that it is meant, so it has to fit better. `npm run calibrate -- tools` makes the numbers.
 */
export const fitting: Readonly<Record<'words' | 'meaning', Bounds>> = calibration;

/** The share of the message's subject that the description names, by weight; tokens with digits are arguments, no subject. */
export function wordFit(message: string, description: string): number {
  const told = new Set(terms(description, 200).map((term) => term.stem));
  const asked = terms(message.replace(/\S*\d\S*/gu, ' ')).filter((term) => term.weight >= 1);
  const all = asked.reduce((sum, { weight }) => sum + weight, 0);
  if (all === 0) return 0;
  return (
    asked
      .filter((term) => told.has(term.stem) || told.has(stem(term.stem)))
      .reduce((sum, { weight }) => sum + weight, 0) / all
  );
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, normA, normB] = [0, 0, 0];
  for (let at = 0; at < a.length; at += 1) {
    dot += a[at]! * b[at]!;
    normA += a[at]! ** 2;
    normB += b[at]! ** 2;
  }
  return dot === 0 ? 0 : dot / Math.sqrt(normA * normB);
}

/** The best of these, if it is better than the next one by a clear step; two that fit alike are in doubt. */
export function clearlyBest<T>(candidates: readonly { item: T; fit: number }[], step: number): T | undefined {
  const [best, next] = candidates.toSorted((a, b) => b.fit - a.fit);
  return best && (!next || best.fit - next.fit >= step) ? best.item : undefined;
}
