/** Answers and offers in the passages' own words: which sentences are nearest to the question is asked of the embedded models. */
import type { AgentDeps, Turns } from './deps.ts';
import type { Retrieval } from './retrieve.ts';
import { comparable, extract, wordsSuffice, type ExtractiveAnswer } from '../../models/rules/knowledge/extractive.ts';
import { distinctOffers, isNamed, offerOf, offerText, type Offer } from '../../models/rules/knowledge/offers.ts';
import type { Judged, Passage } from '../../models/rules/knowledge/retrieval.ts';
import type { Language } from '../../models/rules/language/language.ts';

/** Sentences compared with a question at most: 0.8 ms each, and the first passages have no more. */
const maxCompared = 8;
/** Of the agent's answers before, these are not said again. */
const remembered = 2;

type Extracting = Pick<AgentDeps, 'embedding'>;
type Found = Pick<Retrieval<Passage>, 'asking' | 'degraded'>;

/** What an answer may be made of: what answers or, where that is not sure, what may help. */
export const passagesOf = ({ confidence, hits, offers }: Retrieval<Passage>): Judged[] =>
  confidence === 'low' ? offers : hits;

/** What is said, and the chunks it rests on. */
export type Said = { text: string; used: string[]; offers?: Offer[] };

/** An answer in the passages' own sentences or, where none surely answers, what they offer. */
export async function sayExtractive(
  deps: Pick<AgentDeps, 'embedding'>,
  retrieval: Retrieval<Passage>,
  asked: { body: string; history: Turns; language: Language },
): Promise<Said | undefined> {
  if (retrieval.confidence !== 'low') return extractFrom(deps, retrieval, retrieval.hits, asked);
  const offers = await offersFrom(deps, retrieval, retrieval.offers);
  return { text: offerText(offers, asked.language), used: offers.map(({ passage }) => passage), offers };
}

/** The sentences of the best passage; undefined when none says anything of the question. */
async function extractFrom(
  deps: Extracting,
  found: Found,
  hits: readonly Judged[],
  { body, history, language }: { body: string; history: Turns; language: Language },
): Promise<ExtractiveAnswer | undefined> {
  const passages = hits.map(({ passage }) => passage);
  const closeness = await closenessOf(deps, found, passages);
  // Who asks for a section by its name is shown it, also once more.
  const isAsked = passages[0] !== undefined && isNamed(found.asking, passages[0]);
  const said = isAsked ? [] : history.filter(({ role }) => role === 'ai').map((answer) => answer.body);
  return extract(found.asking, passages, { closeness, said: said.slice(-remembered), own: body, language });
}

/** What is offered of passages that may help; a passage of rows is offered by the row that comes nearest. */
async function offersFrom(deps: Extracting, found: Found, offered: readonly Judged[]): Promise<Offer[]> {
  const passages = offered.map(({ passage }) => passage);
  const closeness = await closenessOf(deps, found, passages);
  return distinctOffers(
    passages.map((passage) => offerOf(passage, extract(found.asking, [passage], { closeness })?.quotes[0]?.text)),
  );
}

/**
 * How close the question is to sentences of the passages. Undefined where words found them; empty where meaning did, and the
 * sentences need not or cannot be compared.
 */
async function closenessOf(
  { embedding }: Extracting,
  { asking, degraded }: Found,
  passages: readonly Passage[],
): Promise<ReadonlyMap<string, number> | undefined> {
  const byMeaning = embedding.model !== undefined && !degraded;
  const compares = byMeaning && embedding.local !== undefined && !wordsSuffice(asking, passages);
  const texts = compares ? comparable(passages, maxCompared) : [];
  if (!byMeaning || texts.length === 0 || !embedding.local) return byMeaning ? new Map() : undefined;
  try {
    const [question, ...sentences] = await embedding.local.sentences([asking, ...texts]);
    return new Map(texts.map((text, at) => [text, dot(question!, sentences[at]!)]));
  } catch {
    return new Map();
  }
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * b[at]!, 0);
