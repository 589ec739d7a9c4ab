/**
 * Chooses the passages that answer a question: ranks the candidates from the search index, judges their relevance, and
 * keeps only the passages of one authority tier (spec 4.7, authority rules). agent/knowledge/retrieve.ts runs the
 * search and reads the passages.
 */
import { authorities } from './authority.ts';
import type { Authority, SourceType } from './authority.ts';
import type { Asking, Reading } from '../language/asking.ts';
import { reachable } from './segments.ts';
import {
  aboveUsual,
  featuresOf,
  probabilityOf,
  scaleOf,
  wordsWeight,
  type Features,
  type Neighbours,
  type Scale,
} from './relevance.ts';
import { isTitle } from './units.ts';
import { matchWords, wordRule } from './wordmatch.ts';
import { matcher, terms } from '../language/words.ts';

/** A passage that lexical search, vector search, or both have found in the index. */
export type Candidate = {
  id: string;
  authority: Authority;
  /** BM25 score: positive and unbounded. Scores of different questions are not comparable. */
  text_score?: number;
  /**
   * The cosines of question and passage, one for each embedding model, -1 to 1;
   * undefined when the passage has no vector yet.
   */
  cosines?: readonly number[];
  /** Whether the conversation was about the passage's topic before this question. */
  topical?: boolean;
};

export type QuestionVector = {
  /**
   * The name of the embedding model, or of the platform's set of models. Vectors under different names are never
   * compared.
   */
  model: string;
  /** One unit-length vector for each embedding model of the set. */
  parts: readonly Float32Array[];
};

export type Meaning = QuestionVector & {
  /** The weight of each part's cosine; 0 when the part is not used. */
  weights: readonly number[];
};

/** The result of a search in the index. */
export type Proposed = {
  candidates: Candidate[];
  /**
   * For each passage of a sample (at most 256 passages with vectors): its cosines with the question, one for each
   * embedding model. They show which cosines are usual in the index. Empty when no passage has a vector.
   */
  background: readonly (readonly number[])[];
  /** How similar the passages of a sample are to each other; undefined when no passage has a vector. */
  neighbours?: Neighbours;
  /** True when the vectors could not be read and the candidates come from lexical search alone. */
  degraded?: boolean;
};

/** A chunk joined with its source, as MongoDB has them now. Answers are built from passages. */
export type Passage = {
  id: string;
  source_id: string;
  type: SourceType;
  /** The name of the source, for citations. */
  name: string;
  /** What customers see instead of a document's name. */
  title?: string;
  url?: string;
  heading: string;
  text: string;
  /** When the document's text was last changed; absent for web pages. */
  dated?: Date;
  segments: readonly string[];
  authority: Authority;
  /** The model whose vectors all passages of the source have. */
  embedded_by?: string;
};

/** How certain it is that the passages answer the question. */
export const confidences = ['high', 'low', 'none'] as const;
export type Confidence = (typeof confidences)[number];

/** A passage, the decision whether it is relevant, and all numbers behind the decision, for the `explain` output. */
export type Judged<P extends Passage = Passage> = {
  passage: P;
  candidate: Candidate;
  /**
   * The share of the question's content words that the passage has, weighted by rarity among the candidates: 0 to 1.
   */
  coverage: number;
  /** The passage's BM25 score relative to the best candidate's: 0 to 1. */
  strength: number;
  /** The features computed from embeddings; undefined when only words were compared. */
  features?: Features;
  /**
   * The relevance, 0 to 1; it sorts the passages and is the `score` of a cited source. With embeddings, it is the
   * probability that the passage answers.
   */
  relevance: number;
  relevant: boolean;
};

/** The passages that an answer may use: the hits, or the offers when confidence is low. */
export const passagesOf = <P extends Passage>({
  confidence,
  hits,
  offers,
}: {
  confidence: Confidence;
  hits: readonly Judged<P>[];
  offers: readonly Judged<P>[];
}): readonly Judged<P>[] => (confidence === 'low' ? offers : hits);

/** The maximum distances to the best passage, in z-score units (the unit of the feature `above`). */
const reach = {
  /**
   * A passage is relevant only within this distance of the best passage of all tiers. So a passage of a higher tier may
   * answer although a passage of a lower tier is slightly better.
   */
  tier: 1,
  /**
   * Passages within this distance of the best passage of their tier are also returned. Two passages that are nearly
   * equally relevant are often two halves of an answer, or only the reader knows which one is meant. The value was
   * chosen on the questions of a bank's customers. Of 41 questions whose best passage is wrong, a second passage
   * answers 26 (21 with a distance of 0.5). Of 166 questions whose best passage is right, 84 also get a second passage
   * (79 with 0.5).
   */
  hit: 0.6,
} as const;
/**
 * The bonus for passages of the conversation's topic; it is added to the feature `above`. `known`: the topic's passages
 * contain all words that name the question's subject, so the question stays with the topic. A question that names no
 * subject, such as "How do I use it?", also gets `known`. `other`: all other questions. `known` was chosen on follow-up
 * questions to public services. `other` is so low that no question about another subject gets a certain answer in the
 * sequences of test/fixtures/followups.json and test/chat/offers.test.ts.
 */
const topicBonus = { known: 1.5, other: 0.4 } as const;
/** Of each authority tier, at most this many passages with a vector are read, and at most this many without. */
const readOfTier = 8;
/** An answer offers at most this many passages. */
export const maxOffers = 3;

type Found<P extends Passage> = { passage: P; candidate: Candidate };

/**
 * Sorts candidates by BM25 score, the highest first. The id breaks ties, so that the same question always gives the
 * same answer.
 */
function byScore(a: Candidate, b: Candidate): number {
  return (b.text_score ?? 0) - (a.text_score ?? 0) || (a.id < b.id ? -1 : 1);
}

function byRelevance(a: Judged, b: Judged): number {
  return b.relevance - a.relevance || byScore(a.candidate, b.candidate);
}

/**
 * By how much a candidate's score exceeds the score of a usual passage, in z-score units; undefined without a vector or
 * a scale.
 */
function aboveOf(
  scale: Scale | undefined,
  { cosines, text_score = 0, topical = false }: Candidate,
  bonus: number = topicBonus.other,
): number | undefined {
  if (scale === undefined || cosines === undefined) return undefined;
  return aboveUsual(scale, { cosines, text_score }) + (topical ? bonus : 0);
}

const wordsOf = ({ name, heading, text }: Passage): string => `${name}\n${heading}\n${text}`;

/** The bonus (`topicBonus`) that passages of the conversation's topic get for these questions. */
function bonusOf(questions: readonly string[], found: readonly Found<Passage>[]): number {
  const named = questions.flatMap((text) => terms(text)).filter(({ weight }) => weight === 1);
  const speaksOf = matcher(named.map(({ stem }) => stem));
  const ofTopic = found.filter(({ candidate }) => candidate.topical);
  const spoken = new Set(ofTopic.flatMap(({ passage }) => [...speaksOf(wordsOf(passage))]));
  return named.every(({ stem }) => spoken.has(stem)) ? topicBonus.known : topicBonus.other;
}

/** The result for a passage that the search did not find, but whose offer the customer has accepted. */
export const chosen = <P extends Passage>(passage: P): Judged<P> => ({
  passage,
  candidate: { id: passage.id, authority: passage.authority },
  coverage: 1,
  strength: 0,
  relevance: 1,
  relevant: true,
});

/**
 * Judges the passages against every question and sorts them by relevance. With a scale, passages that have a vector are
 * judged by embeddings, and all other passages by words.
 */
export function judge<P extends Passage>(
  questions: readonly string[],
  found: readonly Found<P>[],
  scale?: Scale,
): Judged<P>[] {
  const candidates = found.map(({ candidate }) => candidate);
  const telling = new Set(worthReading(candidates, scale).map(({ id }) => id));
  const words = matchWords(
    questions,
    found.map(({ passage, candidate: { text_score = 0 } }) => ({
      text: wordsOf(passage),
      score: text_score,
      telling: telling.has(passage.id),
    })),
  );
  const bonus = bonusOf(questions, found);
  const best = Math.max(...candidates.map((candidate) => aboveOf(scale, candidate, bonus) ?? -Infinity));
  return found
    .map(({ passage, candidate }, at): Judged<P> => {
      const { coverage, strength, relevant } = words[at]!;
      const judged = { passage, candidate, coverage, strength };
      const above = aboveOf(scale, candidate, bonus);
      if (scale === undefined || above === undefined)
        return { ...judged, relevance: (coverage + strength) / 2, relevant };
      const features = featuresOf(scale, above, coverage);
      const relevance = probabilityOf(scale.calibration, features);
      const near = features.above >= best - reach.tier;
      return { ...judged, features, relevance, relevant: near && relevance >= scale.calibration.answer };
    })
    .sort((a, b) => (scale === undefined ? byScore(a.candidate, b.candidate) : byRelevance(a, b)));
}

export type Tiered<J> = {
  /** The tier whose passages answer; undefined when no passage is relevant. */
  authority: Authority | undefined;
  /** The best passage of the tier and the passages nearly as good, most relevant first. */
  hits: J[];
};

/**
 * Keeps only passages of the highest tier that has a relevant passage. The best passage alone decides whether there is
 * an answer. So the probability `offer` is enough for other passages of the tier that are nearly as good.
 */
export function selectTier<J extends Judged>(judged: readonly J[], offer = Infinity): Tiered<J> {
  const authority = authorities.find((tier) =>
    judged.some(({ relevant, passage }) => relevant && passage.authority === tier),
  );
  const ofTier = judged.filter(({ passage }) => passage.authority === authority);
  const above = ofTier.flatMap(({ relevant, features }) => (relevant && features ? [features.above] : []));
  const least = above.length === 0 ? Infinity : Math.max(...above) - reach.hit;
  const mayHelp = ({ relevance, passage }: J): boolean => relevance >= offer && !isTitle(passage.text);
  return {
    authority,
    hits: ofTier
      .filter((item) =>
        item.features === undefined ? item.relevant : item.features.above >= least && (item.relevant || mayHelp(item)),
      )
      .toSorted(byRelevance),
  };
}

/**
 * The passages to offer when no passage answers with certainty, one per heading. They are the passages in `first`, and
 * then the most relevant passages if the best passage has at least the probability `offer`.
 */
export function selectOffers<J extends Judged>(judged: readonly J[], offer: number, first: readonly J[] = []): J[] {
  const near = judged.filter(({ features }) => features !== undefined).toSorted(byRelevance);
  const best = near.find(({ passage }) => !isTitle(passage.text));
  const likely = best !== undefined && best.relevance >= offer ? near : [];
  const headings = new Map<string, J>();
  for (const item of [...first, ...likely]) {
    const name = `${item.passage.source_id}\n${item.passage.heading}`;
    if (!isTitle(item.passage.text) && !headings.has(name)) headings.set(name, item);
  }
  return [...headings.values()].slice(0, maxOffers);
}

/**
 * The result for one reading (a possible interpretation) of a message. Of several readings, the one with the highest
 * `worth` wins.
 */
export type Answered<P extends Passage> = Omit<Asking, 'readings'> &
  Tiered<Judged<P>> & { reading: Reading; judged: Judged<P>[]; offers: Judged<P>[]; worth: number };

/**
 * Judges the passages for each reading of a message, and returns the reading with the highest `worth`. `wordsAnswer`:
 * whether passages that were judged by words alone may answer. Otherwise such passages are only offered, because half
 * of the answers from them are wrong.
 */
export function bestReading<P extends Passage>(
  { readings, ...asking }: Asking,
  found: readonly Found<P>[],
  { scale, wordsAnswer }: { scale?: Scale | undefined; wordsAnswer: boolean },
): Answered<P> {
  const read = readings.map((reading): Answered<P> => {
    const judged = judge(reading.questions, found, scale);
    const offer = scale?.calibration.offer ?? Infinity;
    const { hits: likely } = selectTier(judged, offer);
    const mayAnswer = wordsAnswer ? judged : judged.filter(({ features }) => features !== undefined);
    const tiered = selectTier(mayAnswer, offer);
    const offers = tiered.hits.length > 0 ? [] : selectOffers(judged, offer, likely);
    const worth = scale === undefined ? worthOfWords(reading, likely) : worthOfMeaning(judged, tiered.hits);
    return { ...asking, ...tiered, reading, judged, offers, worth };
  });
  return read.reduce((best, next) => (next.worth > best.worth ? next : best));
}

/** The worth of a reading without embeddings: it is high for a high share of matched words and for a long reading. */
function worthOfWords({ text }: Reading, hits: readonly Judged[]): number {
  const said = terms(text).reduce((sum, { weight }) => sum + weight, 0);
  return Math.max(-1, ...hits.map(({ coverage }) => said * coverage ** 2));
}

/**
 * The worth of a reading with embeddings: a reading with an answer beats a reading without one, and of two answers the
 * more probable one wins.
 */
function worthOfMeaning(judged: readonly Judged[], hits: readonly Judged[]): number {
  const likely = judged.filter(({ features }) => features !== undefined).map(({ relevance }) => relevance);
  return hits.length > 0 ? 1 + Math.max(...hits.map(({ relevance }) => relevance)) : Math.max(-1, ...likely);
}

/**
 * Whether the asker may still see a passage. The check uses the passage's current segments, which may have changed
 * since the passage was indexed. `asked` comes from `askedSegments`.
 */
export const stillReachable = (
  { segments }: Passage,
  { asked, strict }: { asked: readonly string[] | undefined; strict: boolean },
): boolean => reachable({ segments, asked, strict });

/** The source id in a passage id (`source:generation:ordinal`). */
export const sourceOf = (id: string): string => id.slice(0, id.indexOf(':'));

/** The number of passages before and after the passage `topic` that also belong to the topic of the conversation. */
const topicReach = 6;
const ordinalOf = (id: string): number => Number(id.slice(id.lastIndexOf(':') + 1));

/** Whether the passage `id` belongs to the topic of a conversation that was about the passage `topic`. */
export const isAbout = (topic: string, id: string): boolean =>
  sourceOf(id) === sourceOf(topic) && Math.abs(ordinalOf(id) - ordinalOf(topic)) <= topicReach;

/** Whether the passage `id` directly follows the passage `before` in its document. */
export const isNext = (before: string, id: string): boolean =>
  id === `${before.slice(0, before.lastIndexOf(':') + 1)}${ordinalOf(before) + 1}`;

/**
 * The id of the passage that is nearest to earlier turns of a conversation. `turns`: the number of these turns. The
 * search text joins all turns, so the BM25 score is divided by their number.
 */
export function nearestOf(
  { candidates, ...compared }: Proposed,
  { weights }: Meaning,
  turns: number,
): string | undefined {
  const scale = scaleOf(weights, compared);
  const scored = candidates.flatMap(({ id, cosines, text_score = 0 }) =>
    scale === undefined || cosines === undefined
      ? []
      : [{ id, above: aboveUsual(scale, { cosines, text_score: text_score / turns }) }],
  );
  return scored.toSorted((a, b) => b.above - a.above)[0]?.id;
}

/**
 * The tiers that must be searched separately: tiers above the lowest tier in `found` that have no candidate in `found`.
 * A separate search is needed only when the first search was cut off at `limit`, and a candidate beyond the limit could
 * still be relevant.
 */
export function crowdedOut(found: readonly Candidate[], limit: number, scale?: Scale): Authority[] {
  const hidden = scale === undefined ? hidesByWords(found, limit) : hidesByMeaning(found, limit, scale);
  if (!hidden) return [];
  const lowest = authorities.findLastIndex((tier) => found.some(({ authority }) => authority === tier));
  return authorities.slice(0, lowest).filter((tier) => !found.some(({ authority }) => authority === tier));
}

function hidesByWords(found: readonly Candidate[], limit: number): boolean {
  const scores = found.flatMap(({ text_score }) => (text_score === undefined ? [] : [text_score]));
  return scores.length >= limit && Math.min(...scores) >= wordRule.strengthOfBest * Math.max(...scores);
}

/**
 * Whether a candidate beyond the limit could still be relevant. Such a candidate has neither a better vector score nor
 * a better lexical score than the last candidates that were returned. So the sum of these two scores bounds its score.
 */
function hidesByMeaning(found: readonly Candidate[], limit: number, scale: Scale): boolean {
  const last = (values: readonly number[]): number | undefined => values.toSorted((a, b) => b - a)[limit - 1];
  const compared = found.flatMap(({ cosines }) => (cosines === undefined ? [] : [aboveUsual(scale, { cosines })]));
  const furthest = last(compared);
  if (furthest === undefined) return hidesByWords(found, limit);
  const words = last(found.flatMap(({ text_score }) => (text_score === undefined ? [] : [text_score]))) ?? 0;
  const best = Math.max(...found.map((candidate) => aboveOf(scale, candidate) ?? -Infinity));
  return furthest + wordsWeight * words >= best - reach.tier || hidesByWords(found, limit);
}

/** Removes duplicates: two searches, or an index with duplicate rows, may return a chunk twice. */
export function distinct(found: readonly Candidate[]): Candidate[] {
  const byId = new Map<string, Candidate>();
  for (const candidate of found) byId.set(candidate.id, { ...candidate, ...byId.get(candidate.id) });
  return [...byId.values()];
}

/**
 * The candidates that could still be relevant, limited per tier. The passages of all other candidates are not read from
 * the database.
 */
export function worthReading(found: readonly Candidate[], scale?: Scale): Candidate[] {
  const best = Math.max(0, ...found.map(({ text_score }) => text_score ?? 0));
  const compared = found
    .map((candidate) => ({ candidate, above: aboveOf(scale, candidate) }))
    .sort((a, b) => (b.above ?? 0) - (a.above ?? 0) || byScore(a.candidate, b.candidate));
  return authorities.flatMap((tier) => {
    const ofTier = compared.filter(({ candidate }) => candidate.authority === tier);
    const byMeaning = ofTier.filter(({ above }) => above !== undefined);
    const byWords = ofTier.filter(
      ({ above, candidate: { text_score = 0 } }) =>
        above === undefined && text_score > 0 && text_score >= wordRule.strengthOfBest * best,
    );
    return [...byMeaning.slice(0, readOfTier), ...byWords.slice(0, readOfTier)].map(({ candidate }) => candidate);
  });
}
