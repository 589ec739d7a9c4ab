/** Questions the knowledge base could not answer: why, and what became of them. Pure. */

export const gapStatuses = ['open', 'acknowledged', 'resolved'] as const;
export type GapStatus = (typeof gapStatuses)[number];

/** `out_of_segment`: another segment could have answered. `not_relevant`: passages share words but not the point. */
export const gapReasons = ['nothing_found', 'not_relevant', 'out_of_segment'] as const;
export type GapReason = (typeof gapReasons)[number];

/** `anywhere`: whether the same question without its segments finds something relevant. */
export function gapReason(candidates: number, anywhere: boolean): GapReason {
  if (anywhere) return 'out_of_segment';
  return candidates === 0 ? 'nothing_found' : 'not_relevant';
}

/** Wordings of one question meet here: the same content words in any order. */
export function gapGroup(stems: readonly string[], question: string): string {
  return [...new Set(stems)].sort().join(' ') || question.trim().toLowerCase();
}
