/** Knowledge gaps: questions that the knowledge base could not answer, with the reason and the state of each. Pure. */

export const gapStatuses = ['open', 'acknowledged', 'resolved'] as const;
export type GapStatus = (typeof gapStatuses)[number];

/**
 * `out_of_segment`: another segment could have answered. `not_relevant`: passages share words with the question but do
 * not answer it.
 */
export const gapReasons = ['nothing_found', 'not_relevant', 'out_of_segment'] as const;
export type GapReason = (typeof gapReasons)[number];

/**
 * `candidates`: the number of passages found. `anywhere`: whether the question finds a relevant passage when segments
 * are ignored.
 */
export function gapReason(candidates: number, anywhere: boolean): GapReason {
  if (anywhere) return 'out_of_segment';
  return candidates === 0 ? 'nothing_found' : 'not_relevant';
}

/**
 * Two questions count as the same when the cosine of their vectors (Universal Sentence Encoder) is at least this. Nine
 * of ten pairs of real customer questions above it have the same intent (390 questions of 38 intents, four languages).
 */
const sameQuestion = 0.77;

/**
 * The group of the known question with the nearest vector; undefined when none is similar enough to be the same
 * question.
 */
export function nearestGroup(
  vector: Float32Array,
  known: readonly { group: string; vector: Float32Array }[],
): string | undefined {
  let best = { group: undefined as string | undefined, cosine: sameQuestion };
  for (const { group, vector: other } of known) {
    if (other.length !== vector.length) continue;
    const cosine = other.reduce((sum, x, at) => sum + x * vector[at]!, 0);
    if (cosine >= best.cosine) best = { group, cosine };
  }
  return best.group;
}

/** The group of a question without vectors: questions with the same content words, in any order, form one group. */
export function gapGroup(stems: readonly string[], question: string): string {
  return [...new Set(stems)].sort().join(' ') || question.trim().toLowerCase();
}
