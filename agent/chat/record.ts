/** The record of a turn, which members see beside the answer: what was searched, what was found, and what wrote it. */
import type { Found } from '../knowledge/answer.ts';
import type { Written, WrittenBy } from '../../intelligence/intelligence.ts';
import { passagesOf, type Confidence } from '../../models/rules/knowledge/retrieval.ts';

/** How an answer came about, for members. Times in ms. */
export type TurnRecord = Omit<WrittenBy, 'generated_by'> & {
  /** The question as it was searched; null: no document was asked. */
  searched: string | null;
  retrieved: { source_id: string; chunk_id: string; name: string; score: number; relevant: boolean; used: boolean }[];
  /** Ids of the passages that were there to answer from. */
  shown: string[];
  /** The tools that were called for it. */
  tools: { tool: string; outcome: string }[];
  /** How sure it was that they answer; null: no document was asked. */
  confidence: Confidence | null;
  tier: string | null;
  strict: boolean | null;
  segments: readonly string[];
  /** `fixed`: one of the agent's own sentences. */
  generated_by: WrittenBy['generated_by'] | 'fixed';
  attempts: number;
  ms: { retrieve: number; answer: number; total: number };
};

/**
 * What a turn with documents has made by its end. `retrieved`: when they were found, on the monotonic clock. `written`: undefined
 * where there was nothing to write from.
 */
export type Made = { found: Found; retrieved: number; written: Written | undefined };

/** `began`: when the turn began, on the monotonic clock. */
export function recordOf(
  { segments, attempt }: { segments: readonly string[]; attempt: number },
  began: number,
  made?: Made,
  tools: TurnRecord['tools'] = [],
): TurnRecord {
  const now = performance.now();
  const ms = (from: number, to: number): number => Math.round((to - from) * 10) / 10;
  const times = { retrieve: made ? ms(began, made.retrieved) : 0, answer: made ? ms(made.retrieved, now) : 0 };
  const retrieval = made?.found.retrieval;
  return {
    searched: made?.found.searched ?? null,
    retrieved: (retrieval?.judged ?? []).map(({ passage, relevance, relevant }) => ({
      source_id: passage.source_id,
      chunk_id: passage.id,
      name: passage.name,
      score: Math.round(relevance * 1000) / 1000,
      relevant,
      used: made?.written?.used.includes(passage.id) ?? false,
    })),
    shown: (retrieval ? passagesOf(retrieval) : []).map(({ passage }) => passage.id),
    tools,
    confidence: retrieval?.confidence ?? null,
    tier: made?.found.tier ?? null,
    strict: made?.found.strict ?? null,
    segments,
    ...made?.written?.by,
    generated_by: made?.written?.text === undefined ? 'fixed' : made.written.by.generated_by,
    attempts: attempt,
    ms: { ...times, total: ms(began, now) },
  };
}
