/** Baseline summaries: the first sentences, the longest sentences, and LexRank (Erkan and Radev 2004) over tf-idf. */
import { contentStems, stemsOf } from './porter.ts';
import type { Said } from '../../models/rules/interviews/transcript.ts';
import { sentences } from '../../models/rules/language/sentences.ts';

/** Sentences with fewer words are left out. */
const minWords = 4;
const damping = 0.85;
const rounds = 30;
/** Two sentences are linked from this cosine similarity on. */
const linked = 0.1;

const sentencesOf = (said: readonly Said[]): string[] =>
  said.flatMap(({ text }) => sentences(text)).filter((text) => stemsOf(text).length >= minWords);

export const firstSentences = (said: readonly Said[], count: number): string =>
  sentencesOf(said).slice(0, count).join(' ');
export const longestFirst = (said: readonly Said[], count: number): string =>
  sentencesOf(said)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, count)
    .join(' ');

/** The sentences that are most similar to the others, best first, up to `words` words. */
export function lexRank(said: readonly Said[], words: number): string {
  const all = sentencesOf(said);
  const stems = all.map((text) => [...contentStems(text)]);
  const spread = new Map<string, number>();
  for (const stem of stems.flat()) spread.set(stem, (spread.get(stem) ?? 0) + 1);
  const weightOf = (stem: string): number => Math.log(all.length / spread.get(stem)!) ** 2;
  const size = stems.map((some) => Math.sqrt(some.reduce((total, stem) => total + weightOf(stem), 0)));
  const near = stems.map((some, at) => {
    const has = new Set(some);
    return stems.flatMap((others, other) => {
      const shared = others.reduce((total, stem) => total + (has.has(stem) ? weightOf(stem) : 0), 0);
      return other !== at && shared / (size[at]! * size[other]!) >= linked ? [other] : [];
    });
  });
  let ranks = all.map(() => 1 / all.length);
  for (let round = 0; round < rounds; round += 1) {
    const given = all.map(() => (1 - damping) / all.length);
    near.forEach((others, at) => {
      for (const other of others) given[other]! += (damping * ranks[at]!) / others.length;
    });
    ranks = given;
  }
  const chosen: number[] = [];
  let left = words;
  for (const [at] of [...ranks.entries()].toSorted(([, a], [, b]) => b - a)) {
    const length = all[at]!.split(/\s+/u).length;
    if (length > left) continue;
    chosen.push(at);
    left -= length;
  }
  return chosen
    .toSorted((a, b) => a - b)
    .map((at) => all[at]!)
    .join(' ');
}
