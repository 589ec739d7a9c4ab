/**
 * From a message to the passages that may answer it: searched in the index, read again from the database, then judged by
 * models/rules/knowledge/retrieval.ts. Searching, reading and embedding are arguments.
 */
import { authorities, type Authority } from '../../models/rules/knowledge/authority.ts';
import {
  bestReading,
  crowdedOut,
  distinct,
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
import { partWeights, scaleOf, type Scale } from '../../models/rules/knowledge/relevance.ts';
import { segmentFilter, type SegmentFilter } from '../../models/rules/knowledge/segments.ts';
import { languageOf } from '../../models/rules/language/language.ts';
import type { Asking } from '../../models/rules/language/asking.ts';
import { terms, type Term } from '../../models/rules/language/words.ts';

export type SearchAsk = {
  text: string;
  meaning: Meaning | undefined;
  filter: SegmentFilter | undefined;
  /** Only candidates of this tier. */
  authority?: Authority;
  /** No candidates of these: ids of passages without their last part, a source and one processing of it. */
  without: readonly string[];
  limit: number;
};

export type RetrieveDeps<P extends Passage> = {
  /** Candidates in any order, at most `limit` for each of text and meaning. */
  search(ask: SearchAsk): Promise<Proposed>;
  /** The passages that still exist in this organization and mode; order and gaps don't matter. */
  hydrate(ids: string[]): Promise<P[]>;
  /** The tiers that have any chunk at all; asked only when a search came back full of one. Without it, all are tried. */
  tiers?: () => Promise<Authority[]>;
  /** The question's vector. When it fails the question is answered by its words alone, and `degraded` says so. */
  embed?: (question: string) => Promise<QuestionVector | undefined>;
};

export type RetrieveAsk = {
  question: string;
  /** What the question asks, in the order in which to try it; without it the question is searched for as it stands. */
  askings?: readonly Asking[];
  /** From `askedSegments`. */
  asked: readonly string[] | undefined;
  strict: boolean;
  /** Candidates of each kind asked of the index. 20 is what an answer can use, with room for what is gone or out of reach. */
  limit?: number;
  /** Passages handed on at most. */
  maxHits?: number;
  /** Read every candidate, also those too weak to matter, for `explain` and for measuring rankings. */
  everything?: boolean;
};

export type Retrieval<P extends Passage> = {
  /** `high`: the hits answer. `low`: `offers` may help. `none`: nothing here does. */
  confidence: Confidence;
  /** What answers, most relevant first; empty: nothing relevant was found, or nothing but offers. */
  hits: Judged<P>[];
  /** With low confidence the passages that come nearest, at most three, the nearest first; else none. */
  offers: Judged<P>[];
  authority: Authority | undefined;
  /** What of the message they answer. */
  asking: string;
  /** Everything that was judged, the most relevant first. */
  judged: Judged<P>[];
  /** The probabilities from which on a passage answers or is offered; undefined where words alone decide. */
  thresholds: { answer: number; offer: number } | undefined;
  filter: SegmentFilter | undefined;
  terms: Term[];
  /** The vectors of what was searched for, where they were made. */
  meanings: ReadonlyMap<string, Meaning | undefined>;
  /** The question should have been compared by meaning too, and could not. */
  degraded: boolean;
};

/** Searches for one text at most. Each further one leaves out the candidates that the database no longer had. */
const maxRounds = 3;

/**
 * Searches for what a message asks and, where that finds nothing or it is not known which sentence matters, for all that it
 * says. One search for a message of one sentence, else two at most.
 */
export async function retrieve<P extends Passage>(deps: RetrieveDeps<P>, ask: RetrieveAsk): Promise<Retrieval<P>> {
  const filter = segmentFilter(ask.asked, ask.strict);
  // The message tells its language more surely than one sentence of it.
  const english = languageOf(ask.question) === 'en';
  const meanings = new Map<string, Meaning | undefined>();
  let best: (Answered<P> & { scale: Scale | undefined }) | undefined;
  let degraded = false;
  for (const asking of ask.askings ?? [asItStands(ask.question)]) {
    if (best?.settles === true && best.hits.length > 0) break;
    const made =
      best?.settles === true ? { meaning: undefined, degraded: false } : await embedOrNot(deps, asking.text, english);
    meanings.set(asking.text, made.meaning);
    const search = { text: asking.text, meaning: made.meaning, filter, limit: ask.limit ?? 20 };
    const found = await candidatesFor(deps, ask, search);
    degraded ||= made.degraded || found.degraded;
    const next = bestReading(asking, found.standing, found.scale);
    if (best === undefined || next.worth > best.worth) best = { ...next, scale: found.scale };
  }
  const { hits, offers, authority, reading, judged, scale } = best!;
  return {
    confidence: hits.length > 0 ? 'high' : offers.length > 0 ? 'low' : 'none',
    hits: hits.slice(0, ask.maxHits ?? 8),
    offers,
    authority,
    asking: reading.text,
    judged,
    thresholds: scale && { answer: scale.calibration.answer, offer: scale.calibration.offer },
    filter,
    terms: terms(best!.text),
    meanings,
    degraded,
  };
}

const asItStands = (text: string): Asking => ({ text, readings: [{ text, questions: [text] }], settles: true });

/**
 * The candidates of a search that may be shown. The index only proposes: a candidate that was deleted, belongs to another
 * organization or lies outside the asked segments is dropped here. A dropped candidate took the place of another one and may
 * have been replaced since the search, so the search is repeated without it.
 */
async function candidatesFor<P extends Passage>(
  deps: RetrieveDeps<P>,
  ask: RetrieveAsk,
  search: Omit<SearchAsk, 'authority' | 'without'>,
): Promise<{ standing: { passage: P; candidate: Candidate }[]; scale: Scale | undefined; degraded: boolean }> {
  /** Of each source the generations dropped last: a new one may be dropped before it is published, and the old one after. */
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
      return passage !== undefined && stillReachable(passage, ask) ? [{ passage, candidate }] : [];
    });
    if (standing.length === candidates.length) break;
    const kept = new Set(standing.map(({ passage }) => passage.id));
    const dropped = candidates.flatMap(({ id }) => (kept.has(id) ? [] : [id.slice(0, id.lastIndexOf(':'))]));
    for (const [source, names] of Map.groupBy(new Set(dropped), (name) => name.slice(0, name.indexOf(':'))))
      without.set(source, names);
  }
  return { standing, scale, degraded };
}

type Found = { candidates: Candidate[]; scale: Scale | undefined; degraded: boolean };

/** The candidates of one search, and of the higher tiers that it may have hidden. */
async function propose<P extends Passage>(deps: RetrieveDeps<P>, ask: Omit<SearchAsk, 'authority'>): Promise<Found> {
  const { candidates, background, degraded = false } = await deps.search(ask);
  const scale = ask.meaning && scaleOf(ask.meaning.weights, background);
  const found = [...candidates];
  const hidden = crowdedOut(found, ask.limit, scale);
  const existing = hidden.length === 0 ? [] : ((await deps.tiers?.()) ?? authorities);
  for (const authority of hidden)
    if (existing.includes(authority)) found.push(...(await deps.search({ ...ask, authority })).candidates);
  return { candidates: distinct(found), scale, degraded };
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
