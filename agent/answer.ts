/**
 * From a question to an answer from the knowledge base: retrieve, then the sources' own sentences, or the configured model's
 * words. It changes nothing but the list of questions that found no answer.
 */
import { retrieve, type RetrieveDeps, type Retrieval } from './retrieve.ts';
import type { Ai } from '../clients/ai/ai.ts';
import type { Embedding } from '../clients/embedding/embedding.ts';
import type { SearchReader } from '../clients/search/reader.ts';
import { recordCustomerGap } from '../models/chat/customergap.ts';
import { recordGap, type Asker } from '../models/knowledge/gap.ts';
import { findPassages } from '../models/knowledge/knowledge.ts';
import type { Authority } from '../models/rules/knowledge/authority.ts';
import { extract, nothingFound } from '../models/rules/knowledge/extractive.ts';
import { gapGroup, gapReason } from '../models/rules/knowledge/gap.ts';
import type { Mode } from '../models/rules/access/keys.ts';
import { plainReply } from '../models/rules/chat/replytext.ts';
import { contextualize } from '../models/rules/language/question.ts';
import { stillReachable, type Judged, type Passage } from '../models/rules/knowledge/retrieval.ts';
import { askedSegments } from '../models/rules/knowledge/segments.ts';
import { findSupportConfig, recentSupportConfig } from '../models/knowledge/supportconfig.ts';

export type AgentDeps = { search: SearchReader; ai: Ai; embedding: Embedding; clock: () => Date };

export type Turns = readonly { role: string; body: string }[];

export type Question = {
  orgId: string;
  mode: Mode;
  query: string;
  /** The segments it names, as given; none: everything may answer. */
  segments: readonly (string | undefined)[];
  history: Turns;
  /** Judge every candidate, also those too weak to matter, so that the whole ranking can be shown. */
  everything?: boolean | undefined;
  /** The customer and the message it came with; a question by a key has none. */
  asker?: Asker;
};

export type AnswerSource = { type: Passage['type']; id: string; name: string; url?: string; score: number };

/** How the passages were found. */
export type Found = {
  searched: string;
  /** Normalised; undefined: everything. */
  asked: string[] | undefined;
  strict: boolean;
  tier: Authority | undefined;
  retrieval: Retrieval<Passage>;
};

export type KnowledgeAnswer = {
  answer: string;
  sources: AnswerSource[];
  has_context: boolean;
  generated_by: 'extractive' | 'model';
} & Pick<Found, 'searched' | 'strict' | 'retrieval'>;

/** Reads and answers; an unanswered question is noted as a gap. @throws Problem MODEL_FAILED from a configured model. */
export async function answerQuestion(deps: AgentDeps, question: Question): Promise<KnowledgeAnswer> {
  const searched = contextualize(question.query, question.history);
  const ask = async (settings?: typeof findSupportConfig) => {
    const found = await findKnowledge(deps, question, searched, settings);
    const given = found.retrieval.hits.length === 0 ? undefined : await compose(deps, question, found);
    return { found, given, outdated: given !== undefined && (await isOutdated(deps, question, found)) };
  };
  let asked = await ask();
  if (asked.outdated) asked = await ask(findSupportConfig);
  const { found, outdated } = asked;
  const { strict, retrieval } = found;
  const given = outdated ? undefined : asked.given;
  if (!asked.given) await noteGap(deps, question, found);
  return {
    answer: given ? plainReply(given.text, groundsOf(question.query, retrieval.hits)) : nothingFound,
    sources: given ? sourcesOf(retrieval.hits, given.used) : [],
    has_context: given !== undefined,
    generated_by: deps.ai.model && retrieval.hits.length > 0 ? 'model' : 'extractive',
    searched,
    strict,
    retrieval,
  };
}

/**
 * What may answer, and how it was found; `searched` is the question as it is understood by itself. `settings`: a caller
 * that asks again because something has changed must not use cached settings.
 */
export async function findKnowledge(
  deps: Pick<AgentDeps, 'search' | 'embedding'>,
  { orgId, mode, segments, everything = false }: Pick<Question, 'orgId' | 'mode' | 'segments' | 'everything'>,
  searched: string,
  settings: typeof findSupportConfig = recentSupportConfig,
): Promise<Found> {
  const { kb_segment_strict: strict } = await settings(orgId);
  const asked = askedSegments(segments);
  const ask = { question: searched, asked, strict, everything };
  const retrieval = await retrieve(retrieveDeps(deps, orgId, mode), ask);
  return { searched, asked, strict, tier: retrieval.authority, retrieval };
}

/**
 * Whether a passage that a model was given has been removed, replaced or put out of reach, by its tags or by
 * `kb_segment_strict`, while it wrote, which takes seconds: what it wrote must not be shown then. The sources' own sentences are written at once.
 */
export async function isOutdated(
  { ai }: Pick<AgentDeps, 'ai'>,
  { orgId, mode }: Pick<Question, 'orgId' | 'mode'>,
  { retrieval: { hits }, asked }: Pick<Found, 'retrieval' | 'asked'>,
): Promise<boolean> {
  if (!ai.model) return false;
  const ids = hits.map(({ passage }) => passage.id);
  const [now, { kb_segment_strict: strict }] = await Promise.all([
    findPassages(orgId, mode, ids),
    findSupportConfig(orgId),
  ]);
  return now.filter((passage) => stillReachable(passage, { asked, strict })).length < ids.length;
}

function retrieveDeps({ search, embedding }: Pick<AgentDeps, 'search' | 'embedding'>, orgId: string, mode: Mode) {
  const { model } = embedding;
  const table = { org_id: orgId, mode };
  const deps: RetrieveDeps<Passage> = {
    search: (ask) => search.query(table, ask),
    hydrate: (ids) => findPassages(orgId, mode, ids),
    tiers: () => search.tiers(table),
    ...(model === undefined ? {} : { embed: async (text) => ({ model, parts: await embedding.question(text) }) }),
  };
  return deps;
}

/** Counts a question that found no answer, for those who keep the documents. */
export async function noteGap(
  deps: AgentDeps,
  { orgId, mode, query, asker }: Pick<Question, 'orgId' | 'mode' | 'query' | 'asker'>,
  { searched, asked, retrieval }: Found,
): Promise<void> {
  const open = { question: searched, asked: undefined, strict: false };
  const again = { ...retrieveDeps(deps, orgId, mode), embed: async (text: string) => retrieval.meanings.get(text) };
  const anywhere = asked !== undefined && (await retrieve(again, open)).hits.length > 0;
  const stems = retrieval.terms.map((t) => t.stem);
  const question = {
    question: query,
    group: gapGroup(stems, query),
    why: gapReason(retrieval.judged.length, anywhere),
    now: deps.clock(),
  };
  if (asker) await recordCustomerGap(orgId, mode, question, asker);
  else await recordGap(orgId, mode, question);
}

/** The text and the chunks it rests on; undefined when the passages do not answer after all. */
async function compose(
  { ai }: Pick<AgentDeps, 'ai'>,
  { query, history }: Pick<Question, 'query' | 'history'>,
  { retrieval }: Found,
): Promise<{ text: string; used: string[] } | undefined> {
  const passages = retrieval.hits.map(({ passage }) => passage);
  if (!ai.model) return extract(retrieval.asking, passages);
  const answer = await ai.answer({ question: query, history, hits: passages });
  return answer.has_context ? answer : undefined;
}

/** The texts that an address in an answer may come from. */
export const groundsOf = (question: string, hits: readonly Judged[]): string[] => [
  question,
  ...hits.flatMap(({ passage: { text, heading, url } }) => [heading, text, ...(url === undefined ? [] : [url])]),
];

/** The sources of the chunks an answer rests on, each once with its best score, best first. */
export function sourcesOf(hits: readonly Judged[], used: readonly string[]): AnswerSource[] {
  const sources = new Map<string, AnswerSource>();
  for (const { passage, relevance } of hits) {
    if (!used.includes(passage.id)) continue;
    const score = Math.max(Math.round(relevance * 1000) / 1000, sources.get(passage.source_id)?.score ?? 0);
    const { type, source_id: id, name, url } = passage;
    sources.set(id, { type, id, name, ...(url === undefined ? {} : { url }), score });
  }
  return [...sources.values()].sort((a, b) => b.score - a.score);
}
