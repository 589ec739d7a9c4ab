/** Knowledge gaps: questions that the knowledge base could not answer, with the reason and the state of each. Pure. */

export const gapStatuses = ['open', 'acknowledged', 'resolved'] as const;
export type GapStatus = (typeof gapStatuses)[number];

/**
 * `out_of_segment`: passages of another segment could have answered. `not_relevant`: passages share words with the
 * question but do not answer it.
 */
export const gapReasons = ['nothing_found', 'not_relevant', 'out_of_segment'] as const;
export type GapReason = (typeof gapReasons)[number];

/**
 * The reason of a gap. `candidates`: the number of passages found. `anywhere`: whether the question finds a relevant
 * passage when segments are ignored.
 */
export function gapReason(candidates: number, anywhere: boolean): GapReason {
  if (anywhere) return 'out_of_segment';
  return candidates === 0 ? 'nothing_found' : 'not_relevant';
}

/**
 * Two questions count as the same when the cosine of their vectors (Universal Sentence Encoder) is at least this. Of
 * the pairs of real customer questions with a higher cosine, nine of ten have the same intent (390 questions of 38
 * intents, four languages).
 */
const sameQuestion = 0.77;

/** The ids of the known questions that count as the same as the question with this vector, the nearest first. */
export function sameQuestions(vector: Float32Array, known: ReadonlyMap<string, Float32Array>): string[] {
  const same: { id: string; cosine: number }[] = [];
  for (const [id, other] of known) {
    if (other.length !== vector.length) continue;
    let cosine = 0;
    for (let at = 0; at < other.length; at += 1) cosine += other[at]! * vector[at]!;
    if (cosine >= sameQuestion) same.push({ id, cosine });
  }
  return same.toSorted((a, b) => b.cosine - a.cosine).map(({ id }) => id);
}

/**
 * The text by which a question is grouped when it has no vector or is not near a known question (`sameQuestions`).
 * Questions with the same content words, in any order, get the same text.
 */
export function gapGroup(stems: readonly string[], question: string): string {
  return [...new Set(stems)].sort().join(' ') || question.trim().toLowerCase();
}
