/**
 * Whether a passage answers a question, judged by its words alone: for passages without a vector, and where there is no
 * embedding model. A logistic model over the same numbers answered fewer of the fixtures' questions (69 instead of 84 %) and more
 * of the bank customers' ones wrongly (28 instead of 10 %), so this stays a rule.
 */
import { matcher, terms } from '../language/words.ts';
import type { Term } from '../language/words.ts';

/**
 * The thresholds, set on the bank help centre in test/fixtures with 62 questions: of 40 that it answers, 39 kept their passage
 * (the other one shares no word with it); of 22 that it does not, none kept one. Not a held-out set. Both kinds in other
 * wordings, introductions before them too, are in test/fixtures/relevance.json.
 */
export const wordRule = {
  /** A passage that speaks of less than this share of the question does not answer it. */
  minCoverage: 0.42,
  /** Beside the best of all tiers: a passage that speaks of much less than another one is only marginally relevant. */
  coverageOfBest: 0.75,
  /** BM25 favours short passages, so a longer one in a higher tier may fall this far behind the best. */
  strengthOfBest: 0.35,
} as const;

/**
 * How rare a term is among the passages, times its own weight. A word that no candidate has is the rarest of all: if the
 * question is about it, nothing here answers.
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
  /** The greatest share of a question's content words, weighted by rarity, that the passage speaks of: 0 to 1. */
  coverage: number;
  /** Its BM25 score beside the best one's: 0 to 1. */
  strength: number;
  relevant: boolean;
};

/**
 * Compares each passage with the questions, each by itself, and with the best of all tiers. `telling`: the passages that say
 * which words are rare here.
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
