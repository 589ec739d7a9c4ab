/**
 * The record of a turn, which members see next to the answer: the searched question, the retrieved passages, and what
 * wrote the answer.
 */
import type { Found } from '../knowledge/find.ts';
import type { Written, WrittenBy } from '../../intelligence/intelligence.ts';
import { passagesOf, type Confidence } from '../../models/rules/knowledge/retrieval.ts';

/** How an answer was made, for members. `ms`: durations in milliseconds. */
export type TurnRecord = Omit<WrittenBy, 'generated_by'> & {
  /** The question as it was searched for; null when no documents were searched. */
  searched: string | null;
  retrieved: { source_id: string; chunk_id: string; name: string; score: number; relevant: boolean; used: boolean }[];
  /** Ids of the passages that were available for the answer. */
  shown: string[];
  tools: { tool: string; outcome: string }[];
  /** How certain it was that the passages answer the question; null when no documents were searched. */
  confidence: Confidence | null;
  tier: string | null;
  strict: boolean | null;
  segments: readonly string[];
  /** `fixed`: one of the agent's fixed sentences. */
  generated_by: WrittenBy['generated_by'] | 'fixed';
  /**
   * Whether an embedding was late or refused. Passages that are found without embeddings are only offered, as a
   * possible help.
   */
  degraded: boolean;
  attempts: number;
  ms: { retrieve: number; answer: number; total: number };
};

/**
 * The result of a turn with documents. `retrieved`: when the passages were found (monotonic clock). `written`:
 * undefined when there were no passages to write from.
 */
export type Made = { found: Found; retrieved: number; written: Written | undefined };

/** `began`: when the turn began (monotonic clock). `degraded`: the message was read without embeddings. */
export function recordOf(
  { segments, attempt, degraded = false }: { segments: readonly string[]; attempt: number; degraded?: boolean },
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
    tier: retrieval?.authority ?? null,
    strict: made?.found.strict ?? null,
    segments,
    ...made?.written?.by,
    generated_by: made?.written?.text === undefined ? 'fixed' : made.written.by.generated_by,
    degraded: degraded || retrieval?.degraded === true || made?.written?.degraded === true,
    attempts: attempt,
    ms: { ...times, total: ms(began, now) },
  };
}
