/**
 * Which passages answer a question: it ranks the candidates of the index, judges their relevance and keeps one
 * authority tier (spec 4.7, authority rules). agent/knowledge/retrieve.ts searches and reads them.
 */
import { authorities } from './authority.ts';
import type { Authority, SourceType } from './authority.ts';
import type { Asking, Reading } from '../language/asking.ts';
import { reachable } from './segments.ts';
import { aboveUsual, featuresOf, probabilityOf, wordsWeight, type Features, type Scale } from './relevance.ts';
import { matchWords, wordRule } from './wordmatch.ts';
import { terms } from '../language/words.ts';

/** A candidate from the index, found by the question's words, by its meaning, or by both. */
export type Candidate = {
  id: string;
  authority: Authority;
  /** BM25: positive, unbounded, comparable within one question only. */
  text_score?: number;
  /** The cosine of each part of the question's vector with the passage's, -1 to 1; undefined: the passage has no vector (yet). */
  cosines?: readonly number[];
};

/** A question's vector. */
export type QuestionVector = {
  /** The model that made it. Vectors of two models are never compared. */
  model: string;
  /** One vector of unit length for each embedding model. */
  parts: readonly Float32Array[];
};

/** A question's vector with the weights for comparing it. */
export type Meaning = QuestionVector & {
  /** The weight of each part's cosine in the search; 0: not used. */
  weights: readonly number[];
};

/** What a search found. */
export type Proposed = {
  candidates: Candidate[];
  /**
   * The cosines of the question's parts with a sample of the passages that have vectors, at most 256: what is usual in
   * this table. Empty without vectors.
   */
  background: readonly (readonly number[])[];
  /** The vectors could not be read, so words alone proposed. */
  degraded?: boolean;
};

/** A chunk joined with its source, both as the database has them now: what answers are made of. */
export type Passage = {
  id: string;
  source_id: string;
  type: SourceType;
  /** The source's name, for citations. */
  name: string;
  /** The URL of the source, for pages of a website. */
  url?: string;
  heading: string;
  text: string;
  /** When a document was uploaded; a page has no such time. */
  dated?: Date;
  segments: readonly string[];
  authority: Authority;
};

/** How sure it is that the passages answer. */
export const confidences = ['high', 'low', 'none'] as const;
export type Confidence = (typeof confidences)[number];

/** A judged passage, with every number of the decision, so that `explain` can show it. */
export type Judged<P extends Passage = Passage> = {
  passage: P;
  candidate: Candidate;
  /**
   * The share of the question's content words, weighted by rarity among the candidates, that the passage has: 0 to 1.
   */
  coverage: number;
  /** Its BM25 score relative to the best candidate's: 0 to 1. */
  strength: number;
  /** The features by meaning; undefined where words alone decide. */
  features?: Features;
  /** 0 to 1: the `score` of a source, and the order. By meaning, it is the probability that the passage answers. */
  relevance: number;
  relevant: boolean;
};

/** What an answer may be made of: what answers or, where that is not sure, what may help. */
export const passagesOf = <P extends Passage>({
  confidence,
  hits,
  offers,
}: {
  confidence: Confidence;
  hits: readonly Judged<P>[];
  offers: readonly Judged<P>[];
}): readonly Judged<P>[] => (confidence === 'low' ? offers : hits);

/** How far, in `above`, a passage may lie behind the best passage. */
const reach = {
  /** Behind the best of all tiers, to count as relevant: a higher tier may answer a little worse. */
  tier: 1,
  /** Behind the best of its own tier, to be passed on beside it: two near ones are often two halves of an answer. */
  hit: 0.5,
} as const;
/** How many passages of each tier are read: of those with a vector and of those without. */
const readOfTier = 8;
export const maxOffers = 3;

type Found<P extends Passage> = { passage: P; candidate: Candidate };

/** The id breaks ties so that the same question gives the same answer. */
function byScore(a: Candidate, b: Candidate): number {
  return (b.text_score ?? 0) - (a.text_score ?? 0) || (a.id < b.id ? -1 : 1);
}

/** Most relevant first. */
function byRelevance(a: Judged, b: Judged): number {
  return b.relevance - a.relevance || byScore(a.candidate, b.candidate);
}

/** How far a candidate lies above what is usual, if it can be compared by meaning. */
function aboveOf(scale: Scale | undefined, { cosines, text_score = 0 }: Candidate): number | undefined {
  return scale === undefined || cosines === undefined ? undefined : aboveUsual(scale, { cosines, text_score });
}

/** A passage that answers because the question names it, and not because a search found it. */
export const chosen = <P extends Passage>(passage: P): Judged<P> => ({
  passage,
  candidate: { id: passage.id, authority: passage.authority },
  coverage: 1,
  strength: 0,
  relevance: 1,
  relevant: true,
});

/**
 * Judges every passage against each question and against the best of all tiers, most relevant first. With a scale,
 * passages with a vector are judged by meaning and the others by words.
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
    found.map(({ passage: { id, name, heading, text }, candidate: { text_score = 0 } }) => ({
      text: `${name}\n${heading}\n${text}`,
      score: text_score,
      telling: telling.has(id),
    })),
  );
  const best = Math.max(...candidates.map((candidate) => aboveOf(scale, candidate) ?? -Infinity));
  return found
    .map(({ passage, candidate }, at): Judged<P> => {
      const { coverage, strength, relevant } = words[at]!;
      const judged = { passage, candidate, coverage, strength };
      if (scale === undefined || candidate.cosines === undefined)
        return { ...judged, relevance: (coverage + strength) / 2, relevant };
      const { cosines, text_score = 0 } = candidate;
      const features = featuresOf(scale, { cosines, text_score }, coverage);
      const relevance = probabilityOf(scale.calibration, features);
      const near = features.above >= best - reach.tier;
      return { ...judged, features, relevance, relevant: near && relevance >= scale.calibration.answer };
    })
    .sort((a, b) => (scale === undefined ? byScore(a.candidate, b.candidate) : byRelevance(a, b)));
}

export type Tiered<J> = {
  /** The tier that answers; undefined when nothing is relevant. */
  authority: Authority | undefined;
  /** The best passage of the tier and those nearly as good, most relevant first. */
  hits: J[];
};

/** The highest tier with a relevant passage answers alone: nothing from lower tiers is passed on. */
export function selectTier<J extends Judged>(judged: readonly J[]): Tiered<J> {
  const relevant = judged.filter((item) => item.relevant);
  const authority = authorities.find((tier) => relevant.some((item) => item.passage.authority === tier));
  const hits = relevant.filter((item) => item.passage.authority === authority).sort(byRelevance);
  const best = Math.max(...hits.map(({ features }) => features?.above ?? -Infinity));
  return {
    authority,
    hits: hits.filter(({ features }) => features === undefined || features.above >= best - reach.hit),
  };
}

/** The nearest passages, one per heading: the offers when none surely answers. */
export function selectOffers<J extends Judged>(judged: readonly J[], offer: number): J[] {
  const near = judged.filter(({ features }) => features !== undefined).sort(byRelevance);
  if (near[0] === undefined || near[0].relevance < offer) return [];
  const headings = new Map<string, J>();
  for (const item of near) {
    const name = `${item.passage.source_id}\n${item.passage.heading}`;
    if (!headings.has(name)) headings.set(name, item);
  }
  return [...headings.values()].slice(0, maxOffers);
}

/**
 * The reading of a message that is answered best, with its answer. `worth`: how good it is, compared with the other
 * readings.
 */
export type Answered<P extends Passage> = Omit<Asking, 'readings'> &
  Tiered<Judged<P>> & { reading: Reading; judged: Judged<P>[]; offers: Judged<P>[]; worth: number };

/** Judges the passages for each reading of a message and takes the best. */
export function bestReading<P extends Passage>(
  { readings, ...asking }: Asking,
  found: readonly Found<P>[],
  scale?: Scale,
): Answered<P> {
  const read = readings.map((reading): Answered<P> => {
    const judged = judge(reading.questions, found, scale);
    const tiered = selectTier(judged);
    const offers = tiered.hits.length > 0 ? [] : selectOffers(judged, scale?.calibration.offer ?? Infinity);
    const worth = scale === undefined ? worthOfWords(reading, tiered.hits) : worthOfMeaning(judged, tiered.hits);
    return { ...asking, ...tiered, reading, judged, offers, worth };
  });
  return read.reduce((best, next) => (next.worth > best.worth ? next : best));
}

/** A high share of the question's words must be found, and more words count more. */
function worthOfWords({ text }: Reading, hits: readonly Judged[]): number {
  const said = terms(text).reduce((sum, { weight }) => sum + weight, 0);
  return Math.max(-1, ...hits.map(({ coverage }) => said * coverage ** 2));
}

/** An answer is worth more than none; between two answers, the more likely one is. */
function worthOfMeaning(judged: readonly Judged[], hits: readonly Judged[]): number {
  const likely = judged.filter(({ features }) => features !== undefined).map(({ relevance }) => relevance);
  return hits.length > 0 ? 1 + Math.max(...hits.map(({ relevance }) => relevance)) : Math.max(-1, ...likely);
}

/** Whether the asker may see a passage in its present state. `asked`: from `askedSegments`. */
export const stillReachable = (
  { segments }: Passage,
  { asked, strict }: { asked: readonly string[] | undefined; strict: boolean },
): boolean => reachable({ segments, asked, strict });

/**
 * The higher tiers that the first search may have hidden: it returned as many as it may, none of that tier is among
 * them, and one that was left out could still be relevant. A second search costs almost nothing where the tiers differ.
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
 * A passage that was left out is no nearer by meaning than the last of those returned, and matches no better by words.
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

/** Removes duplicates: two searches, or an index that was written twice, may return a chunk more than once. */
export function distinct(found: readonly Candidate[]): Candidate[] {
  const byId = new Map<string, Candidate>();
  for (const candidate of found) byId.set(candidate.id, { ...candidate, ...byId.get(candidate.id) });
  return [...byId.values()];
}

/** Candidates that could still be relevant, some of each tier: the rest need not be read from the database. */
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
