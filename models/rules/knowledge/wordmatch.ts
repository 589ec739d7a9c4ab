/**
 * Whether a passage answers a question, judged by its words alone: for passages without a vector, and where there is no
 * embedding model. A logistic model over the same numbers answered fewer of the fixtures' questions (69 instead of 84 %) and more
 * of the bank customers' ones wrongly (28 instead of 10 %), so this stays a rule.
 */
import { matcher, terms } from '../language/words.ts';
import type { Term } from '../language/words.ts';

/**
 * The thresholds, chosen on the bank help centre in test/fixtures with 62 questions, which is not a held-out set: 39 of
 * the 40 answerable ones kept their passage (the other shares no word with it), and none of the 22 others kept one.
 * test/fixtures/relevance.json has both kinds in other words.
 */
export const wordRule = {
  /** A passage with less than this share of the question's words does not answer it. */
  minCoverage: 0.42,
  /**
   * Relative to the best passage of all tiers: one that has far fewer of the question's words is only loosely related.
   */
  coverageOfBest: 0.75,
  /** BM25 prefers short passages, so a longer one in a higher tier may score this far below the best. */
  strengthOfBest: 0.35,
} as const;

/**
 * How rare a term is among the passages, times its own weight. A word that no passage has counts as the rarest: a
 * question about it has no answer here.
 */
export function termWeights(question: readonly Term[], seen: readonly ReadonlySet<string>[]): Map<string, number> {
  return new Map(
    question.map(({ stem, weight }) => {
      const having = seen.filter((stems) => stems.has(stem)).length;
      return [stem, weight * Math.log(1 + (seen.length + 1) / (having + 0.5))];
    }),
  );
}

function share(asked: readonly Term[], weights: ReadonlyMap<string, number>, stems: ReadonlySet<string>): number {
  let all = 0;
  let covered = 0;
  for (const { stem } of asked) {
    const weight = weights.get(stem) ?? 0;
    all += weight;
    if (stems.has(stem)) covered += weight;
  }
  return all === 0 ? 0 : covered / all;
}

export type WordMatch = {
  /** The greatest share of a question's content words, weighted by rarity, that the passage has: 0 to 1. */
  coverage: number;
  /** Its BM25 score relative to the best one: 0 to 1. */
  strength: number;
  relevant: boolean;
};

/**
 * Compares each passage with each question and with the best of all tiers. `telling`: the passages by which a word's
 * rarity is judged.
 */
export function matchWords(
  questions: readonly string[],
  passages: readonly { text: string; score: number; telling: boolean }[],
): WordMatch[] {
  const asked = questions.map((text) => terms(text));
  const all = asked.flat();
  const speaksOf = matcher(all.map(({ stem }) => stem));
  const seen = passages.map(({ text }) => speaksOf(text));
  const weights = termWeights(
    all,
    seen.filter((_, at) => passages[at]!.telling),
  );
  const shares = seen.map((stems) => asked.map((question) => share(question, weights, stems)));
  const bestShares = asked.map((_, at) => Math.max(0, ...shares.map((each) => each[at]!)));
  const bestScore = Math.max(0, ...passages.map(({ score }) => score));
  const enough = (value: number, at: number): boolean =>
    value >= Math.max(wordRule.minCoverage, wordRule.coverageOfBest * bestShares[at]!);
  return passages.map(({ score }, at) => {
    const strength = bestScore > 0 ? score / bestScore : 0;
    const relevant = shares[at]!.some(enough) && strength >= wordRule.strengthOfBest;
    return { coverage: Math.max(0, ...shares[at]!), strength, relevant };
  });
}
