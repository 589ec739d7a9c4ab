/**
 * Answers a question from the knowledge base: reads it, retrieves passages, writes an answer, and checks that the
 * passages still exist. Its only side effect is to record questions without an answer.
 */
import type { AgentDeps } from './deps.ts';
import { retrieve, type RetrieveDeps, type Retrieval } from './retrieve.ts';
import type { GeneratedBy, Turns, Written } from '../../intelligence/intelligence.ts';
import { vectorsName } from '../../clients/embedding/vectors.ts';
import { findSentences } from '../../models/knowledge/chunk.ts';
import { findGroup, recordGap, type Asked, type QuestionVector } from '../../models/knowledge/gap.ts';
import { findPassages } from '../../models/knowledge/knowledge.ts';
import type { Authority } from '../../models/rules/knowledge/authority.ts';
import { gapGroup, gapReason } from '../../models/rules/knowledge/gap.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import type { Language } from '../../models/rules/language/language.ts';
import type { Asking } from '../../models/rules/language/asking.ts';
import { isNamed, type Offer } from '../../models/rules/knowledge/offers.ts';
import {
  chosen,
  passagesOf,
  stillReachable,
  type Judged,
  type Passage,
} from '../../models/rules/knowledge/retrieval.ts';
import { askedSegments } from '../../models/rules/knowledge/segments.ts';
import { findSupportConfig, recentSupportConfig } from '../../models/integrations/supportconfig.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type Question = {
  orgId: string;
  mode: Mode;
  query: string;
  /** The segments in the question, as given. Empty: all segments are searched. */
  segments: readonly (string | undefined)[];
  history: Turns;
  /** Whether to judge every candidate, also those too weak to matter, so that the whole ranking can be shown. */
  everything?: boolean | undefined;
  /** Whether a member only tries the question out; such a question is not recorded as a gap. */
  tried?: boolean;
};

export type AnswerSource = { type: Passage['type']; id: string; name: string; url?: string; score: number };

/** The number of passages shown with a gap. */
const maxNear = 3;
/** The most passages of one heading in the answer to a question for that heading. */
const maxNamed = 3;

/** The retrieved passages, and how they were found. */
export type Found = {
  searched: string;
  /** The searches for the question, in the order to try them. */
  askings: readonly Asking[];
  /** Earlier turns to which the question may refer. */
  context: readonly string[];
  /** The normalized segments; undefined: all. */
  asked: string[] | undefined;
  strict: boolean;
  tier: Authority | undefined;
  retrieval: Retrieval<Passage>;
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
  /** Whether an embedding was late or refused, so that words alone decided where it is missing. */
  degraded: boolean;
} & Pick<Found, 'searched' | 'strict' | 'retrieval'>;

/** Answers a question; a question without an answer is recorded as a gap. */
export async function answerQuestion(deps: AgentDeps, question: Question): Promise<KnowledgeAnswer> {
  const understood = await deps.intelligence.read({ body: question.query, history: question.history });
  const ask = async (settings?: typeof findSupportConfig) => {
    const found = await findKnowledge(deps, { ...question, body: question.query }, understood, { settings });
    const written = await write(deps, question, found, understood.language);
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

export type FindOptions = {
  /** A caller that retries after a change must not use cached settings. */
  settings?: typeof findSupportConfig | undefined;
  /** An earlier offer that the message accepts. */
  offered?: Offer | undefined;
};

/**
 * Retrieves the passages that may answer. A message that equals the heading of a passage, or accepts an offered
 * passage, is answered by that passage. `searched` and `askings`: from the read message.
 */
export async function findKnowledge(
  deps: Pick<AgentDeps, 'search' | 'embedding'>,
  question: Pick<Question, 'orgId' | 'mode' | 'segments' | 'everything'> & { body: string },
  { searched, askings, context }: Pick<Found, 'searched' | 'askings' | 'context'>,
  { settings = recentSupportConfig, offered }: FindOptions = {},
): Promise<Found> {
  const { orgId, mode, segments, everything = false, body } = question;
  const { kb_segment_strict: strict } = await settings(orgId);
  const asked = askedSegments(segments);
  const ask = { question: searched, askings, context, asked, strict, everything };
  const retrieval = await retrieve(retrieveDeps(deps, orgId, mode), ask);
  const named = retrieval.judged.filter(({ passage }) =>
    offered ? passage.id === offered.passage : isNamed(body, passage),
  );
  if (offered && named.length === 0) {
    const [passage] = await findPassages(orgId, mode, [offered.passage]);
    if (passage && stillReachable(passage, { asked, strict })) named.push(chosen(passage));
  }
  if (named.length > 0) Object.assign(retrieval, answeredBy(named, offered?.question ?? body));
  return { searched, askings, context, asked, strict, tier: retrieval.authority, retrieval };
}

/** A section that the customer asks for by its name counts as the answer, however it was found. */
function answeredBy(named: readonly Judged[], asking: string): Partial<Retrieval<Passage>> {
  const hits = named.slice(0, maxNamed).map((judged) => ({ ...judged, relevant: true }));
  return { confidence: 'high', hits, offers: [], authority: hits[0]!.passage.authority, asking };
}

/**
 * Whether a passage of the answer was deleted, replaced, or excluded by its tags or by `kb_segment_strict` while the
 * answer was written. The answer must not be shown then.
 */
export async function isOutdated(
  { orgId, mode }: Pick<Question, 'orgId' | 'mode'>,
  { retrieval, asked }: Pick<Found, 'retrieval' | 'asked'>,
): Promise<boolean> {
  const ids = passagesOf(retrieval).map(({ passage }) => passage.id);
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
    sentences: (ids) => findSentences(orgId, mode, ids),
    ...(model === undefined ? {} : { embed: async (text) => ({ model, parts: await embedding.question(text) }) }),
  };
  return deps;
}

/**
 * Records a question without an answer, for the people who maintain the documents. `record`: stores it; by default the
 * question only.
 */
export async function noteGap(
  deps: AgentDeps,
  { orgId, mode, query }: Pick<Question, 'orgId' | 'mode' | 'query'>,
  { searched, askings, asked, retrieval }: Found,
  record: (orgId: string, mode: Mode, asked: Asked) => Promise<unknown> = recordGap,
): Promise<void> {
  const open = { question: searched, askings, asked: undefined, strict: false };
  const again = { ...retrieveDeps(deps, orgId, mode), embed: async (text: string) => retrieval.meanings.get(text) };
  const anywhere = asked !== undefined && (await retrieve(again, open)).hits.length > 0;
  const stems = retrieval.terms.map((t) => t.stem);
  const meaning = await meaningOfGap(deps, searched);
  const known = meaning && (await findGroup(orgId, mode, meaning));
  const question = {
    question: query,
    group: known ?? gapGroup(stems, query),
    why: gapReason(retrieval.judged.length, anywhere),
    near: nearestIn(retrieval),
    meaning,
    now: deps.clock(),
  };
  await record(orgId, mode, question);
}

/** The question's embedding, by which gaps are grouped; undefined without an embedding model. */
async function meaningOfGap(
  { embedding }: Pick<AgentDeps, 'embedding'>,
  question: string,
): Promise<QuestionVector | undefined> {
  try {
    const [vector] = (await embedding.local?.sentences([question])) ?? [];
    return vector && { model: vectorsName, vector };
  } catch {
    return undefined;
  }
}

/** The passages nearest to a question without an answer, for the people who maintain the documents. */
const nearestIn = ({ judged }: Retrieval<Passage>) =>
  judged
    .toSorted((a, b) => b.relevance - a.relevance)
    .slice(0, maxNear)
    .map(({ passage, relevance }) => ({ chunk_id: passage.id, score: Math.round(relevance * 1000) / 1000 }));

/** Undefined when there is nothing to write from. */
async function write(
  { intelligence }: AgentDeps,
  { query: body, history, orgId }: Question,
  { retrieval }: Found,
  language: Language,
): Promise<Written | undefined> {
  if (retrieval.confidence === 'none') return undefined;
  const ask = { body, history, language, found: retrieval, mayOffer: true };
  return intelligence.answer(ask, { about: { org_id: orgId } });
}

/** Whether writing took long enough for documents to change. A model takes seconds, even when it fails. */
const takesTime = (written: Written | undefined): boolean =>
  written?.text !== undefined && (written.by.generated_by === 'model' || written.by.model_error !== undefined);

/** The sources of the used chunks, each once with its best score, best first. */
export function sourcesOf(hits: readonly Judged[], used: readonly string[]): AnswerSource[] {
  const sources = new Map<string, AnswerSource>();
  for (const { passage, relevance } of hits) {
    if (!used.includes(passage.id)) continue;
    const score = Math.max(Math.round(relevance * 1000) / 1000, sources.get(passage.source_id)?.score ?? 0);
    const { type, source_id: id, name, url } = passage;
    sources.set(id, { type, id, name, ...defined({ url }), score });
  }
  return [...sources.values()].sort((a, b) => b.score - a.score);
}
