/**
 * Which passages answer a question: candidates of the index are ranked, judged for relevance and cut to one authority tier
 * (spec 4.7, authority rules). agent/retrieve.ts searches and reads them.
 */
import { authorities } from './authority.ts';
import type { Authority, SourceType } from './authority.ts';
import type { Asking, Reading } from '../language/question.ts';
import { reachable } from './segments.ts';
import { matcher, terms } from '../language/words.ts';
import type { Term } from '../language/words.ts';

/** What the index proposes: found by the question's words, by its meaning, or by both. */
export type Candidate = {
  id: string;
  authority: Authority;
  /** BM25: positive, unbounded, comparable within one question only. */
  text_score?: number;
  /** From 1. */
  text_rank?: number;
  /** The cosine of each part of the question's vector with the passage's, -1 to 1; undefined: the passage has no vector (yet). */
  cosines?: readonly number[];
};

/** A question's vector. */
export type Meaning = {
  /** What made it. Vectors of two models are never compared. */
  model: string;
  /** Side by side, one an embedding model, each of unit length. */
  parts: readonly Float32Array[];
  /** How much the cosine of each part counts when passages are sought; 0: not at all. */
  weights: readonly number[];
};

/** A vector of length 1. */
export function unit(vector: readonly number[] | Float32Array): Float32Array {
  const values = Float32Array.from(vector);
  const length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}

/** What a search found. */
export type Proposed = {
  candidates: Candidate[];
  /**
   * The cosines of the question's parts with a sample of the passages that have vectors, at most 256: what is usual here.
   * Empty without vectors.
   */
  background: readonly (readonly number[])[];
  /** The vectors could not be read, so words alone proposed. */
  degraded?: boolean;
};

/** A chunk joined with its source, both as the database has them now: the material of an answer. */
export type Passage = {
  id: string;
  source_id: string;
  type: SourceType;
  /** The source's name, for citations. */
  name: string;
  /** Where people can read it, of a website. */
  url?: string;
  heading: string;
  text: string;
  segments: readonly string[];
  authority: Authority;
};

/** How sure it is that what was found answers. */
export const confidences = ['high', 'low', 'none'] as const;
export type Confidence = (typeof confidences)[number];

/** What was made of one passage; every number of the decision is here, so that `explain` can show it. */
export type Judged<P extends Passage = Passage> = {
  passage: P;
  candidate: Candidate;
  /** Reciprocal rank fusion of its ranks by words and by meaning. */
  fused: number;
  /** Share of the question's content words, weighted by rarity among the candidates, that the passage speaks of: 0 to 1. */
  coverage: number;
  /** Its BM25 score beside the best candidate's: 0 to 1. */
  strength: number;
  /** 0 to 1: what `score` of a source shows, and the order within a tier. */
  relevance: number;
  relevant: boolean;
};

/**
 * The thresholds of relevance, set on the bank help centre in test/fixtures with 62 questions: of 40 that it answers, 39 kept
 * their passage (the other one shares no word with it); of 22 that it does not, none kept one. Not a held-out set. Both kinds
 * in other wordings, introductions before them too, are in test/fixtures/relevance.json.
 */
const relevanceRule = {
  /** A passage that speaks of less than this share of the question does not answer it. */
  minCoverage: 0.42,
  /** Beside the best of all tiers: a passage that speaks of much less than another one is only marginally relevant. */
  coverageOfBest: 0.75,
  /** BM25 favours short passages, so a longer one in a higher tier may fall this far behind the best. */
  strengthOfBest: 0.35,
  /** Without the question's words, meaning alone decides: the cosine similarity it takes … */
  minSimilarity: 0.5,
  /** … and how near to the most similar candidate it has to be. */
  similarityOfBest: 0.85,
} as const;

/** The customary constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009). */
const fusionConstant = 60;

/** How near a passage is to the question by meaning: the mean of the parts' cosines. */
const similarityOf = ({ cosines = [] }: Candidate): number | undefined =>
  cosines.length === 0 ? undefined : cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;

/** Ranks from 1 by a value, of those that have it. */
function ranksBy(all: readonly Candidate[], value: (one: Candidate) => number | undefined): Map<string, number> {
  const having = all.filter((one) => value(one) !== undefined);
  having.sort((a, b) => (value(b) ?? 0) - (value(a) ?? 0) || (a.id < b.id ? -1 : 1));
  return new Map(having.map(({ id }, index) => [id, index + 1]));
}

/** Reciprocal rank fusion, by id. Without vectors it keeps the order of the text ranks. */
export function fuse(candidates: readonly Candidate[]): Map<string, number> {
  const byMeaning = ranksBy(candidates, similarityOf);
  const part = (rank: number | undefined): number => (rank === undefined ? 0 : 1 / (fusionConstant + rank));
  return new Map(candidates.map(({ id, text_rank }) => [id, part(text_rank) + part(byMeaning.get(id))]));
}

/** Best first; the id breaks ties so that the same question gives the same answer. */
function byFusion<T extends { candidate: Candidate; fused: number }>(a: T, b: T): number {
  return b.fused - a.fused || (a.candidate.id < b.candidate.id ? -1 : 1);
}

/**
 * How rare a term is among the passages, times its own weight. A word that no candidate has is the rarest of all: if the
 * question is about it, nothing here answers.
 */
export function termWeights(question: readonly Term[], seen: readonly ReadonlySet<string>[]): Map<string, number> {
  return new Map(
    question.map(({ stem, weight }) => {
      const having = seen.filter((stems) => stems.has(stem)).length;
      return [stem, weight * Math.log(1 + (seen.length + 1) / (having + 0.5))];
    }),
  );
}

function share(asked: readonly Term[], weights: ReadonlyMap<string, number>, stems: ReadonlySet<string>): number {
  let all = 0;
  let covered = 0;
  for (const { stem } of asked) {
    const weight = weights.get(stem) ?? 0;
    all += weight;
    if (stems.has(stem)) covered += weight;
  }
  return all === 0 ? 0 : covered / all;
}

/** Judges every passage against the questions, each by itself, and against the best of all tiers. In order of fusion. */
export function judge<P extends Passage>(
  texts: readonly string[],
  found: readonly { passage: P; candidate: Candidate }[],
): Judged<P>[] {
  const questions = texts.map((text) => terms(text));
  const asked = questions.flat();
  const speaksOf = matcher(asked.map((term) => term.stem));
  const seen = found.map(({ passage }) => speaksOf(`${passage.name}\n${passage.heading}\n${passage.text}`));
  const weights = termWeights(asked, seen);
  const coverages = seen.map((stems) => questions.map((question) => share(question, weights, stems)));
  const best = {
    coverages: questions.map((_, at) => Math.max(0, ...coverages.map((each) => each[at] ?? 0))),
    text: Math.max(0, ...found.map(({ candidate }) => candidate.text_score ?? 0)),
    similarity: Math.max(0, ...found.map(({ candidate }) => similarityOf(candidate) ?? 0)),
  };
  const fused = fuse(found.map(({ candidate }) => candidate));
  return found
    .map(({ passage, candidate }, index): Judged<P> => {
      const each = coverages[index] ?? [];
      const coverage = Math.max(0, ...each);
      const strength = best.text > 0 ? (candidate.text_score ?? 0) / best.text : 0;
      const similarity = similarityOf(candidate) ?? 0;
      const byWords =
        each.some(
          (share, at) =>
            share >= Math.max(relevanceRule.minCoverage, relevanceRule.coverageOfBest * (best.coverages[at] ?? 0)),
        ) && strength >= relevanceRule.strengthOfBest;
      const byMeaning =
        similarity >= Math.max(relevanceRule.minSimilarity, relevanceRule.similarityOfBest * best.similarity);
      const relevance = Math.max((coverage + strength) / 2, byMeaning ? similarity : 0);
      return {
        passage,
        candidate,
        fused: fused.get(candidate.id) ?? 0,
        coverage,
        strength,
        relevance,
        relevant: byWords || byMeaning,
      };
    })
    .sort(byFusion);
}

export type Tiered<J> = {
  /** The tier that answers; undefined when nothing is relevant. */
  authority: Authority | undefined;
  /** Its relevant passages, most relevant first. */
  hits: J[];
};

/** The highest tier with a relevant passage answers alone: nothing of the lower ones is handed on. */
export function selectTier<J extends Judged>(judged: readonly J[]): Tiered<J> {
  const relevant = judged.filter((item) => item.relevant);
  const authority = authorities.find((tier) => relevant.some((item) => item.passage.authority === tier));
  const hits = relevant.filter((item) => item.passage.authority === authority);
  return { authority, hits: hits.sort((a, b) => b.relevance - a.relevance || byFusion(a, b)) };
}

/** What a message, read in the way that is answered best, was answered with. `worth`: how much of how long a text was found. */
export type Answered<P extends Passage> = Omit<Asking, 'readings'> &
  Tiered<Judged<P>> & { reading: Reading; judged: Judged<P>[]; worth: number };

/** Judges the passages for each reading of a message and takes the best: most of what it says, and of much rather than of little. */
export function bestReading<P extends Passage>(
  { readings, ...asking }: Asking,
  found: readonly { passage: P; candidate: Candidate }[],
): Answered<P> {
  const read = readings.map((reading) => {
    const judged = judge(reading.questions, found);
    const tiered = selectTier(judged);
    const said = terms(reading.text).reduce((sum, { weight }) => sum + weight, 0);
    const worth = Math.max(-1, ...tiered.hits.map(({ coverage }) => said * coverage ** 2));
    return { ...asking, ...tiered, reading, judged, worth };
  });
  return read.reduce((best, next) => (next.worth > best.worth ? next : best));
}

/** Whether a passage, as it is now, may be shown to the one who asked. `asked`: from `askedSegments`. */
export const stillReachable = (
  { segments }: Passage,
  { asked, strict }: { asked: readonly string[] | undefined; strict: boolean },
): boolean => reachable({ segments, asked, strict });

/**
 * The higher tiers that the first search may have hidden: it came back full, its last hit is still strong enough to be
 * relevant, and there is none of that tier among them. Rare, so the second search costs next to nothing on average.
 */
export function crowdedOut(found: readonly Candidate[], limit: number): Authority[] {
  const scores = found.flatMap(({ text_score }) => (text_score === undefined ? [] : [text_score]));
  if (scores.length < limit) return [];
  if (Math.min(...scores) < relevanceRule.strengthOfBest * Math.max(...scores)) return [];
  const lowest = authorities.findLastIndex((tier) => found.some(({ authority }) => authority === tier));
  return authorities.slice(0, lowest).filter((tier) => !found.some(({ authority }) => authority === tier));
}

/** Two searches, or an index that was fed twice, may name a chunk more than once: each once, ranked anew. */
export function distinct(found: readonly Candidate[]): Candidate[] {
  const byId = new Map<string, Candidate>();
  for (const candidate of found) {
    const known = byId.get(candidate.id);
    byId.set(candidate.id, known === undefined ? candidate : { ...candidate, ...known });
  }
  const all = [...byId.values()];
  const ranks = ranksBy(all, ({ text_score }) => text_score);
  return all.map((candidate) => {
    const rank = ranks.get(candidate.id);
    return { ...candidate, ...(rank === undefined ? {} : { text_rank: rank }) };
  });
}

/** Candidates that could still be relevant, at most eight of each tier: the rest need not be read from the database. */
export function worthReading(found: readonly Candidate[]): Candidate[] {
  const best = Math.max(0, ...found.map(({ text_score }) => text_score ?? 0));
  const near = found.filter(
    ({ text_score = 0, cosines }) => cosines !== undefined || text_score >= relevanceRule.strengthOfBest * best,
  );
  const fused = fuse(found);
  const ordered = near.sort((a, b) => (fused.get(b.id) ?? 0) - (fused.get(a.id) ?? 0));
  return authorities.flatMap((tier) => ordered.filter(({ authority }) => authority === tier).slice(0, 8));
}
