/**
 * Answers a question from the knowledge base: reads it, retrieves passages, writes an answer, and checks that the
 * passages still exist. Its only side effect is to record questions without an answer.
 */
import type { AgentDeps } from './deps.ts';
import { findKnowledge, isOutdated, type Found, type Question } from './find.ts';
import { noteGap } from './gaps.ts';
import type { AnswerAsk, AnswerOptions, GeneratedBy, Written } from '../../intelligence/intelligence.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import type { Offer } from '../../models/rules/knowledge/offers.ts';
import { passagesOf, type Judged, type Passage } from '../../models/rules/knowledge/retrieval.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type AnswerSource = {
  type: Passage['type'];
  id: string;
  name: string;
  title?: string;
  url?: string;
  score: number;
};

export type KnowledgeAnswer = {
  answer: string;
  sources: AnswerSource[];
  has_context: boolean;
  /** Set when there is an answer. `low`: passages are offered that may help. */
  confidence?: 'high' | 'low';
  offers?: Offer[];
  generated_by: GeneratedBy;
  /** Why the configured model did not write the answer. */
  model_error?: string | undefined;
  /**
   * Whether an embedding was late or refused. Passages that are found without embeddings are only offered, as a
   * possible help.
   */
  degraded: boolean;
} & Pick<Found, 'searched' | 'strict' | 'retrieval'>;

/** Answers a question; a question without an answer is recorded as a gap. */
export async function answerQuestion(deps: AgentDeps, question: Question): Promise<KnowledgeAnswer> {
  const understood = await deps.intelligence.read({ body: question.query, history: question.history });
  const ask = async (settings?: typeof findSupportConfig) => {
    const found = await findKnowledge(deps, { ...question, body: question.query }, understood, { settings });
    const asks = { ...question, body: question.query, language: understood.language, mayOffer: true };
    const written = await writeAnswer(deps, asks, found);
    return { found, written, outdated: takesTime(written) && (await isOutdated(question, found)) };
  };
  let asked = await ask();
  if (asked.outdated) asked = await ask(findSupportConfig);
  const { found, written, outdated } = asked;
  const { strict, retrieval } = found;
  const given = outdated || written?.text === undefined ? undefined : written;
  // A courtesy or a request for a human is not a gap in the documents.
  const isGap = written?.text === undefined && question.tried !== true && understood.intent === 'question';
  if (isGap) await noteGap(deps, question, found);
  return {
    answer: given?.text ?? ownSentences.nothingFound[understood.language],
    sources: given ? sourcesOf(passagesOf(retrieval), given.used) : [],
    has_context: given !== undefined,
    ...(given && (given.offers ? { confidence: 'low', offers: given.offers } : { confidence: 'high' })),
    generated_by: written?.by.generated_by ?? 'extractive',
    model_error: written?.by.model_error,
    degraded: understood.degraded || retrieval.degraded || written?.degraded === true,
    searched: understood.searched,
    strict,
    retrieval,
  };
}

/** Writes the answer from the found passages; undefined when no passage may answer. */
export async function writeAnswer(
  { intelligence }: AgentDeps,
  { orgId, body, history, language, situation, mayOffer }: Omit<AnswerAsk, 'found'> & { orgId: string },
  { retrieval }: Found,
  options: AnswerOptions = {},
): Promise<Written | undefined> {
  if (retrieval.confidence === 'none') return undefined;
  const ask = { body, history, language, situation, mayOffer, found: retrieval };
  return intelligence.answer(ask, { ...options, about: { org_id: orgId } });
}

/** Whether writing took long enough for documents to change. A model takes seconds, even when it fails. */
export const takesTime = (written: Written | undefined): boolean =>
  written?.text !== undefined && (written.by.generated_by === 'model' || written.by.model_error !== undefined);

/** The sources of the used chunks, each once with its best score, best first. */
export function sourcesOf(hits: readonly Judged[], used: readonly string[]): AnswerSource[] {
  const sources = new Map<string, AnswerSource>();
  for (const { passage, relevance } of hits) {
    if (!used.includes(passage.id)) continue;
    const score = Math.max(Math.round(relevance * 1000) / 1000, sources.get(passage.source_id)?.score ?? 0);
    const { type, source_id: id, name, title, url } = passage;
    sources.set(id, { type, id, name, ...defined({ title, url }), score });
  }
  return [...sources.values()].sort((a, b) => b.score - a.score);
}
