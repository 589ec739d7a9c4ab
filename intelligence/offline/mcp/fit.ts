/** Measures how well a message matches a tool's description, by shared words or by embeddings. Pure. */
import calibration from './fitting.json' with { type: 'json' };
import { stem, terms } from '../../../models/rules/language/words.ts';
import { titleOf } from '../../../models/rules/mcp/tool.ts';

/** The text of a tool that is compared with a message. */
export const describedAs = ({ tool_name, description }: { tool_name: string; description: string }): string =>
  `${titleOf(tool_name)}. ${description}`.slice(0, 500);

/**
 * `withArguments`, `alone`: the minimum match of a tool whose arguments the customer gave, and of any other tool, which
 * lacks this evidence. `step`: the minimum lead over the second-best tool.
 */
export type Bounds = { withArguments: number; alone: number; step: number };

/**
 * The bounds for a match by the share of shared words (`words`), and by the cosine of Universal Sentence Encoder
 * embeddings (`meaning`). `npm run calibrate -- tools` computes the numbers.
 */
export const fitting: Readonly<Record<'words' | 'meaning', Bounds>> = calibration;

/**
 * The weighted share of the message's subject words that the description contains. Tokens with digits are arguments, so
 * they do not count.
 */
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

/** The best candidate if it leads the second best by `step`; undefined when two match about equally. */
export function clearlyBest<T>(candidates: readonly { item: T; fit: number }[], step: number): T | undefined {
  const [best, next] = candidates.toSorted((a, b) => b.fit - a.fit);
  return best && (!next || best.fit - next.fit >= step) ? best.item : undefined;
}
