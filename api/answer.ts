/** Answers a question from the knowledge base: retrieve, then the sources' own sentences, or the configured model's words. */
import type { Context } from './context.ts';
import { recordGap } from '../models/gap.ts';
import { findPassages } from '../models/knowledge.ts';
import { extract, nothingFound } from '../models/rules/extractive.ts';
import { gapGroup, gapReason } from '../models/rules/gap.ts';
import type { Mode } from '../models/rules/keys.ts';
import { contextualize, retrieve, type Judged, type RetrieveDeps } from '../models/rules/retrieval.ts';
import type { Passage, Retrieval } from '../models/rules/retrieval.ts';
import { askedSegments } from '../models/rules/segments.ts';
import { recentSupportConfig } from '../models/supportconfig.ts';

export type Question = {
  orgId: string;
  mode: Mode;
  query: string;
  /** The segments it names, as given; none: everything may answer. */
  segments: readonly (string | undefined)[];
  history: { role: 'customer' | 'ai' | 'agent' | 'system'; body: string }[];
  /** Judge every candidate, also those too weak to matter, so that the whole ranking can be shown. */
  everything?: boolean | undefined;
};

export type KnowledgeAnswer = {
  answer: string;
  sources: { type: Passage['type']; id: string; name: string; url?: string; score: number }[];
  has_context: boolean;
  generated_by: 'extractive' | 'model';
  /** How it was found. */
  searched: string;
  strict: boolean;
  retrieval: Retrieval<Passage>;
};

/** Reads and answers; an unanswered question is noted as a gap. @throws Problem MODEL_FAILED from a configured model. */
export async function answerQuestion(
  ctx: Pick<Context, 'search' | 'ai' | 'clock' | 'log'>,
  question: Question,
): Promise<KnowledgeAnswer> {
  const { orgId, mode, query, history } = question;
  const { kb_segment_strict: strict } = await recentSupportConfig(orgId);
  const table = { org_id: orgId, mode };
  const deps: RetrieveDeps<Passage> = {
    search: (ask) => ctx.search.query(table, ask),
    hydrate: (ids) => findPassages(orgId, mode, ids),
    tiers: () => ctx.search.tiers(table),
    ...(ctx.ai.embeddingModel ? { embed: async (text) => (await ctx.ai.embed([text]))[0] } : {}),
  };
  const searched = contextualize(query, history);
  const asked = askedSegments(question.segments);
  const retrieval = await retrieve(deps, {
    question: searched,
    asked,
    strict,
    everything: question.everything ?? false,
  });
  const given = retrieval.hits.length === 0 ? undefined : await compose(ctx, question, searched, retrieval.hits);
  if (!given) {
    const anywhere =
      asked !== undefined &&
      (await retrieve(deps, { question: searched, asked: undefined, strict: false })).hits.length > 0;
    const why = gapReason(retrieval.judged.length, anywhere);
    await recordGap(orgId, mode, {
      question: query,
      group: gapGroup(
        retrieval.terms.map((t) => t.stem),
        query,
      ),
      why,
      now: ctx.clock(),
    });
  }
  return {
    answer: given?.text ?? nothingFound,
    sources: given ? sourcesOf(retrieval.hits, given.used) : [],
    has_context: given !== undefined,
    generated_by: ctx.ai.model && retrieval.hits.length > 0 ? 'model' : 'extractive',
    searched,
    strict,
    retrieval,
  };
}

/** The text and the chunks it rests on; undefined when the passages do not answer after all. */
async function compose(
  ctx: Pick<Context, 'ai'>,
  { query, history }: Question,
  searched: string,
  hits: Judged[],
): Promise<{ text: string; used: string[] } | undefined> {
  const passages = hits.map(({ passage }) => passage);
  if (!ctx.ai.model) return extract(searched, passages);
  const answer = await ctx.ai.answer({ question: query, history, hits: passages });
  return answer.has_context ? answer : undefined;
}

/** The sources of the chunks an answer rests on, each once with its best score, best first. */
function sourcesOf(hits: Judged[], used: readonly string[]): KnowledgeAnswer['sources'] {
  const sources = new Map<string, KnowledgeAnswer['sources'][number]>();
  for (const { passage, relevance } of hits) {
    if (!used.includes(passage.id)) continue;
    const score = Math.max(Math.round(relevance * 1000) / 1000, sources.get(passage.source_id)?.score ?? 0);
    const { type, source_id: id, name, url } = passage;
    sources.set(id, { type, id, name, ...(url === undefined ? {} : { url }), score });
  }
  return [...sources.values()].sort((a, b) => b.score - a.score);
}
