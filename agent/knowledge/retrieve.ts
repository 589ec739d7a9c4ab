/**
 * Retrieves the passages that may answer a message: searches the index, reads the candidates again from the database,
 * and has models/rules/knowledge/retrieval.ts judge them. The functions that search, read and embed are arguments
 * (`RetrieveDeps`).
 */
import type { Query } from '../../clients/knowledge/search/reader.ts';
import { authorities, type Authority } from '../../models/rules/knowledge/authority.ts';
import {
  bestReading,
  crowdedOut,
  distinct,
  isAbout,
  nearestOf,
  sourceOf,
  stillReachable,
  worthReading,
  type Answered,
  type Candidate,
  type Confidence,
  type Judged,
  type Meaning,
  type Passage,
  type Proposed,
  type QuestionVector,
} from '../../models/rules/knowledge/retrieval.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { partWeights, scaleOf, type Scale } from '../../models/rules/knowledge/relevance.ts';
import { segmentFilter, type SegmentFilter } from '../../models/rules/knowledge/segments.ts';
import { languageOf } from '../../models/rules/language/language.ts';
import type { Asking } from '../../models/rules/language/asking.ts';
import { terms, type Term } from '../../models/rules/language/words.ts';

export type RetrieveDeps<P extends Passage> = {
  /** Candidates in any order, at most `limit` by words and `limit` by embeddings. */
  search(query: Query): Promise<Proposed>;
  /** The given passages that still exist in this organization and mode, in any order. */
  hydrate(ids: string[]): Promise<P[]>;
  /**
   * The authority tiers that have any chunks. The function is called only when a search may have hidden candidates of
   * higher tiers. Without the function, all tiers are tried.
   */
  tiers?: () => Promise<Authority[]>;
  /** Embeds a question. When it fails, the search is lexical only and `degraded` is set. */
  embed?: (question: string) => Promise<QuestionVector | undefined>;
  /** The packed vectors of passages' sentences, for passages that have them. */
  sentences: (ids: readonly string[]) => Promise<ReadonlyMap<string, Int8Array>>;
};

export type RetrieveAsk = {
  question: string;
  /**
   * The searches for the question, in the order to try them. Without `askings`, the question itself is searched for.
   */
  askings?: readonly Asking[];
  /** Earlier turns of the conversation to which the question may refer, the newest first. */
  context?: readonly string[];
  /** The segments to search: the result of `askedSegments`. */
  asked: readonly string[] | undefined;
  strict: boolean;
  /**
   * The number of candidates that the index returns by words, and by embeddings. 20 is enough for an answer, with room
   * for candidates that are gone or excluded.
   */
  limit?: number;
  /** Whether to read every candidate, even one too weak to matter, for `explain` and for measuring rankings. */
  everything?: boolean;
};

export type Retrieval<P extends Passage> = {
  /** `high`: the hits answer the question. `low`: the offers may help. `none`: no passage answers or may help. */
  confidence: Confidence;
  /** The passages that answer, most relevant first. Empty when nothing relevant or only offers were found. */
  hits: Judged<P>[];
  /** With low confidence, at most three nearest passages, the nearest first; else empty. */
  offers: Judged<P>[];
  authority: Authority | undefined;
  /** The part of the message that the hits answer. */
  asking: string;
  /** All judged candidates, the most relevant first. */
  judged: Judged<P>[];
  /** The minimum probabilities for an answer and for an offer; undefined when the search is lexical only. */
  thresholds: { answer: number; offer: number } | undefined;
  filter: SegmentFilter | undefined;
  terms: Term[];
  /** The embeddings of the texts that were searched for, if they were computed. */
  meanings: ReadonlyMap<string, Meaning | undefined>;
  /** Whether embeddings should have been used but were unavailable. */
  degraded: boolean;
  /** Reads the packed vectors of passages' sentences, for passages that have them. */
  sentences(ids: readonly string[]): Promise<ReadonlyMap<string, Int8Array>>;
};

/**
 * The most searches for one text. The index may still return passages that are deleted in MongoDB, so each further
 * search excludes the passages that MongoDB did not have.
 */
const maxRounds = 3;
/** The maximum number of hits. */
const maxHits = 8;
/** The number of candidates by words, and by embeddings, in the search for the passage that a conversation is about. */
const nearTopic = 8;

/**
 * Searches for the sentences of a message that ask something. If nothing is found, or it is unclear which sentence
 * matters, the whole message is searched for. A message of one sentence takes one search, any other message at most
 * two.
 */
export async function retrieve<P extends Passage>(deps: RetrieveDeps<P>, ask: RetrieveAsk): Promise<Retrieval<P>> {
  const filter = segmentFilter(ask.asked, ask.strict);
  // The language is detected in the whole message, because one sentence may be too short.
  const english = languageOf(ask.question) === 'en';
  const meanings = new Map<string, Meaning | undefined>();
  let best: (Answered<P> & { scale: Scale | undefined }) | undefined;
  let degraded = false;
  const topic = await topicBefore(deps, ask.context ?? [], filter, english);
  for (const asking of ask.askings ?? [asItStands(ask.question)]) {
    if (best?.settles === true && best.hits.length > 0) break;
    const made =
      best?.settles === true ? { meaning: undefined, degraded: false } : await embedOrNot(deps, asking.text, english);
    meanings.set(asking.text, made.meaning);
    const search = { text: asking.text, meaning: made.meaning, filter, topic, limit: ask.limit ?? 20 };
    const found = await candidatesFor(deps, ask, search);
    degraded ||= made.degraded || found.degraded;
    const next = bestReading(asking, found.standing, { scale: found.scale, wordsAnswer: deps.embed === undefined });
    if (best === undefined || next.worth > best.worth) best = { ...next, scale: found.scale };
  }
  const { hits, offers, authority, reading, judged, scale } = best!;
  return {
    confidence: hits.length > 0 ? 'high' : offers.length > 0 ? 'low' : 'none',
    hits: hits.slice(0, maxHits),
    offers,
    authority,
    asking: reading.text,
    judged,
    thresholds: scale && { answer: scale.calibration.answer, offer: scale.calibration.offer },
    filter,
    terms: terms(best!.text),
    meanings,
    degraded,
    sentences: deps.sentences,
  };
}

const asItStands = (text: string): Asking => ({ text, readings: [{ text, questions: [text] }], settles: true });

/**
 * The candidates of a search that may be shown. The index only proposes candidates. Candidates that were deleted,
 * belong to another organization or lie outside the requested segments are removed here. A removed candidate took the
 * place of another candidate, and its source may have a newer generation (version of its chunks) by now. So the search
 * is repeated without the removed candidates.
 */
async function candidatesFor<P extends Passage>(
  deps: RetrieveDeps<P>,
  ask: RetrieveAsk,
  search: Omit<ProposeAsk, 'without'>,
): Promise<{ standing: { passage: P; candidate: Candidate }[]; scale: Scale | undefined; degraded: boolean }> {
  /**
   * The generations (versions of a source's chunks) that the next search excludes, by source. While a new generation is
   * not published yet, it is excluded. Once it is published, the old generation is excluded instead. So each search
   * replaces the entry of a source.
   */
  const without = new Map<string, string[]>();
  let standing: { passage: P; candidate: Candidate }[] = [];
  let scale: Scale | undefined;
  let degraded = false;
  for (let round = 1; round <= maxRounds; round += 1) {
    const found = await propose(deps, { ...search, without: [...without.values()].flat() });
    ({ scale, degraded } = found);
    const candidates = ask.everything === true ? found.candidates : worthReading(found.candidates, scale);
    const passages = new Map(
      (await deps.hydrate(candidates.map(({ id }) => id))).map((passage) => [passage.id, passage]),
    );
    standing = candidates.flatMap((candidate) => {
      const passage = passages.get(candidate.id);
      if (passage === undefined || !stillReachable(passage, ask)) return [];
      return [{ passage, candidate: passage.embedded_by === search.meaning?.model ? candidate : byWords(candidate) }];
    });
    if (standing.length === candidates.length) break;
    const kept = new Set(standing.map(({ passage }) => passage.id));
    const dropped = candidates.flatMap(({ id }) => (kept.has(id) ? [] : [id.slice(0, id.lastIndexOf(':'))]));
    for (const [source, names] of Map.groupBy(new Set(dropped), sourceOf)) without.set(source, names);
  }
  return { standing, scale, degraded };
}

/**
 * While a source is still being embedded, its candidates are judged by their words only, because a better passage of
 * the source may have no vector yet.
 */
const byWords = ({ id, authority, text_score, topical }: Candidate): Candidate => ({
  id,
  authority,
  ...defined({ text_score, topical }),
});

/** `topic`: the id of the passage that the conversation was about. */
type ProposeAsk = Omit<Query, 'authority'> & { topic: string | undefined };
type Found = { candidates: Candidate[]; scale: Scale | undefined; degraded: boolean };

/** The candidates of one search, and those of higher authority tiers that the search may have hidden. */
async function propose<P extends Passage>(deps: RetrieveDeps<P>, { topic, ...ask }: ProposeAsk): Promise<Found> {
  const { candidates, degraded = false, ...compared } = await deps.search(ask);
  const scale = ask.meaning && scaleOf(ask.meaning.weights, compared);
  const found = [...candidates];
  const hidden = crowdedOut(found, ask.limit, scale);
  const existing = hidden.length === 0 ? [] : ((await deps.tiers?.()) ?? authorities);
  for (const authority of hidden)
    if (existing.includes(authority)) found.push(...(await deps.search({ ...ask, authority })).candidates);
  const all = distinct(found).map((one) =>
    topic !== undefined && isAbout(topic, one.id) ? { ...one, topical: true } : one,
  );
  return { candidates: all, scale, degraded };
}

/** The weight of a turn, as a share of the weight of the next newer one. */
const fading = 0.7;

/**
 * The id of the passage that a conversation was about before this question, found with the weighted mean of its turns'
 * vectors. Undefined without vectors.
 */
async function topicBefore<P extends Passage>(
  deps: RetrieveDeps<P>,
  context: readonly string[],
  filter: SegmentFilter | undefined,
  english: boolean,
): Promise<string | undefined> {
  if (context.length === 0) return undefined;
  const turns = await Promise.all(context.map(async (text) => embedOrNot(deps, text, english)));
  const [first, ...others] = turns.map(({ meaning }) => meaning);
  if (first === undefined || others.includes(undefined)) return undefined;
  const weights = context.map((_, at) => fading ** at);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const parts = first.parts.map((part, at) =>
    part.map(
      (_, index) =>
        turns.reduce((sum, { meaning }, turn) => sum + weights[turn]! * meaning!.parts[at]![index]!, 0) / total,
    ),
  );
  const meaning = { ...first, parts };
  const found = await deps.search({ text: context.join(' '), meaning, filter, without: [], limit: nearTopic });
  return nearestOf(found, meaning, context.length);
}

async function embedOrNot(
  deps: Pick<RetrieveDeps<Passage>, 'embed'>,
  question: string,
  english: boolean,
): Promise<{ meaning: Meaning | undefined; degraded: boolean }> {
  try {
    const vector = await deps.embed?.(question);
    return { meaning: vector && { ...vector, weights: partWeights(vector.parts.length, english) }, degraded: false };
  } catch {
    return { meaning: undefined, degraded: true };
  }
}
