/**
 * Judges by words alone whether a passage answers a question. These rules apply to passages without a vector, and when
 * there is no embedding model. The rules use fixed thresholds, which were better than a logistic model over the same
 * numbers. The thresholds answered 84 % of the fixtures' questions (the model 69 %), and gave wrong answers to 10 % of
 * the bank customers' questions (the model 28 %).
 */
import { matcher, terms } from '../language/words.ts';
import type { Term } from '../language/words.ts';

/**
 * Thresholds, chosen on the bank help centre in test/fixtures with 62 questions (not a held-out set). With them, 39 of
 * the 40 answerable questions find their passage; the remaining question shares no word with its passage. None of the
 * 22 unanswerable questions finds a passage.
 */
export const wordRule = {
  /** The minimum share of the question's words that a passage must have. */
  minCoverage: 0.42,
  /**
   * The minimum share of the question's words, relative to the share of the best passage of all tiers. A passage with
   * far fewer of the words is only loosely related.
   */
  coverageOfBest: 0.75,
  /**
   * The minimum BM25 score, relative to the highest score of all passages. It is low because BM25 prefers short
   * passages, and a longer passage of a higher tier must not be lost.
   */
  strengthOfBest: 0.35,
} as const;

/**
 * The weight of each term: its rarity among the passages, times its own weight. A word that no passage has weighs the
 * most. No passage covers that weight, so a question about such a word seldom reaches `minCoverage`.
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
  /**
   * The share of the question's content words that occur in the passage, weighted by rarity: 0 to 1. For several
   * questions, the highest share.
   */
  coverage: number;
  /** The passage's BM25 score relative to the highest score of all passages: 0 to 1. */
  strength: number;
  relevant: boolean;
};

/**
 * Compares each passage with each question, and with the best passage of all tiers. `telling` marks the passages in
 * which words are counted to find out how rare they are.
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
