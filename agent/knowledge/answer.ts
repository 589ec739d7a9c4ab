/**
 * From a question to an answer from the knowledge base: read it, retrieve, write, and look again whether what was written from still
 * stands. It changes nothing but the list of questions that found no answer.
 */
import type { AgentDeps } from './deps.ts';
import { retrieve, type RetrieveDeps, type Retrieval } from './retrieve.ts';
import type { GeneratedBy, Turns, Written } from '../../intelligence/intelligence.ts';
import { vectorsName } from '../../clients/embedding/vectors.ts';
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

export type Question = {
  orgId: string;
  mode: Mode;
  query: string;
  /** The segments it names, as given; none: everything may answer. */
  segments: readonly (string | undefined)[];
  history: Turns;
  /** Judge every candidate, also those too weak to matter, so that the whole ranking can be shown. */
  everything?: boolean | undefined;
  /** Whether a member tries it out, which makes no gap. */
  tried?: boolean;
};

export type AnswerSource = { type: Passage['type']; id: string; name: string; url?: string; score: number };

/** Passages shown beside a gap. */
const maxNear = 3;
/** Passages of one heading that answer when it is asked for. */
const maxNamed = 3;

/** How the passages were found. */
export type Found = {
  searched: string;
  /** What of it is searched for, in the order in which to try it. */
  askings: readonly Asking[];
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
  /** Of an answer. `low`: passages are offered that may help. */
  confidence?: 'high' | 'low';
  offers?: Offer[];
  generated_by: GeneratedBy;
  /** Why a configured model did not write it. */
  model_error?: string | undefined;
} & Pick<Found, 'searched' | 'strict' | 'retrieval'>;

/** Reads and answers; an unanswered question is noted as a gap. */
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
  // A courtesy or a call for a person that comes here by mistake is no question that the documents lack.
  const isGap = written?.text === undefined && question.tried !== true && understood.intent === 'question';
  if (isGap) await noteGap(deps, question, found);
  return {
    answer: given?.text ?? ownSentences.nothingFound[understood.language],
    sources: given ? sourcesOf(passagesOf(retrieval), given.used) : [],
    has_context: given !== undefined,
    ...(given && (given.offers ? { confidence: 'low', offers: given.offers } : { confidence: 'high' })),
    generated_by: written?.by.generated_by ?? 'extractive',
    model_error: written?.by.model_error,
    searched: understood.searched,
    strict,
    retrieval,
  };
}

export type FindOptions = {
  /** A caller that asks again because something has changed must not use cached settings. */
  settings?: typeof findSupportConfig | undefined;
  /** A passage that was offered, which the message asks for. */
  offered?: Offer | undefined;
};

/**
 * What may answer, and how it was found; `understood`: the message as it is understood by itself. A message that is the heading of
 * a passage, as one that was offered, is answered by that passage.
 */
export async function findKnowledge(
  deps: Pick<AgentDeps, 'search' | 'embedding'>,
  question: Pick<Question, 'orgId' | 'mode' | 'segments' | 'everything'> & { body: string },
  { searched, askings }: Pick<Found, 'searched' | 'askings'>,
  { settings = recentSupportConfig, offered }: FindOptions = {},
): Promise<Found> {
  const { orgId, mode, segments, everything = false, body } = question;
  const { kb_segment_strict: strict } = await settings(orgId);
  const asked = askedSegments(segments);
  const ask = { question: searched, askings, asked, strict, everything };
  const retrieval = await retrieve(retrieveDeps(deps, orgId, mode), ask);
  const named = retrieval.judged.filter(({ passage }) =>
    offered ? passage.id === offered.passage : isNamed(body, passage),
  );
  if (offered && named.length === 0) {
    const [passage] = await findPassages(orgId, mode, [offered.passage]);
    if (passage && stillReachable(passage, { asked, strict })) named.push(chosen(passage));
  }
  if (named.length > 0) Object.assign(retrieval, answeredBy(named, offered?.question ?? body));
  return { searched, askings, asked, strict, tier: retrieval.authority, retrieval };
}

/** A section that was asked for by its name answers, however it was found. */
function answeredBy(named: readonly Judged[], asking: string): Partial<Retrieval<Passage>> {
  const hits = named.slice(0, maxNamed).map((judged) => ({ ...judged, relevant: true }));
  return { confidence: 'high', hits, offers: [], authority: hits[0]!.passage.authority, asking };
}

/**
 * Whether a passage that was written from has been removed, replaced or put out of reach, by its tags or by
 * `kb_segment_strict`, while the answer was written: it must not be shown then.
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
    ...(model === undefined ? {} : { embed: async (text) => ({ model, parts: await embedding.question(text) }) }),
  };
  return deps;
}

/**
 * Counts a question that found no answer, for those who keep the documents. `record`: what stores it, where more than the
 * question is counted.
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

/** What a question means, as gaps are compared; undefined without the embedded models. */
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

/** For those who keep the documents: what comes nearest to a question that found no answer. */
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

/** Whether an answer took long enough for the documents to change: a model takes seconds, and also one that then failed. */
const takesTime = (written: Written | undefined): boolean =>
  written?.text !== undefined && (written.by.generated_by === 'model' || written.by.model_error !== undefined);

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
