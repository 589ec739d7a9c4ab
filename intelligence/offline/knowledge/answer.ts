/**
 * Extractive answers and offers, in the passages' own words. Embeddings decide which sentences are nearest to the
 * question.
 */
import { comparable, extract, wordsSuffice, type ExtractiveAnswer } from './extractive.ts';
import type { AnswerAsk, AnswerOptions, Grounds, Turns, Written } from '../../intelligence.ts';
import { groundsOf } from '../../plain.ts';
import type { Embedding } from '../../../clients/embedding/embedding.ts';
import { distinctOffers, isNamed, offerOf, offerText, type Offer } from '../../../models/rules/knowledge/offers.ts';
import { passagesOf, type Judged, type Passage } from '../../../models/rules/knowledge/retrieval.ts';
import type { Language } from '../../../models/rules/language/language.ts';
import { plainReply } from '../../replytext.ts';

/**
 * The most sentences that are embedded and compared with a question. Each takes 0.8 ms, and the first passages rarely
 * have more.
 */
const maxCompared = 8;
/** Sentences of this many of the agent's last answers are not repeated. */
const remembered = 2;

type Extracting = { embedding: Pick<Embedding, 'model' | 'local'> };
type Found = Pick<Grounds, 'asking' | 'degraded'>;

/** An answer from sentences of the passages or, with low confidence, an offer of passages. */
export async function answerFromSources(
  deps: Extracting,
  { found, mayOffer, ...asked }: AnswerAsk,
  { listener }: AnswerOptions = {},
): Promise<Written> {
  const by = { generated_by: 'extractive' } as const;
  if (found.confidence === 'low' && !mayOffer) return { text: undefined, used: [], withheld: true, by };
  const said = await say(deps, found, asked);
  if (!said) return { text: undefined, used: [], by };
  const { used, offers } = said;
  const text = plainReply(said.text, groundsOf(asked.body, passagesOf(found)));
  await listener?.piece(text);
  return { text, used, ...(offers && { offers }), by };
}

async function say(
  deps: Extracting,
  found: Grounds,
  asked: { body: string; history: Turns; language: Language },
): Promise<{ text: string; used: string[]; offers?: Offer[] } | undefined> {
  if (found.confidence !== 'low') return extractFrom(deps, found, found.hits, asked);
  const offers = await offersFrom(deps, found, found.offers);
  return { text: offerText(offers, asked.language), used: offers.map(({ passage }) => passage), offers };
}

/** An answer from the best passage; undefined when no passage says anything about the question. */
async function extractFrom(
  deps: Extracting,
  found: Found,
  hits: readonly Judged[],
  { body, history, language }: { body: string; history: Turns; language: Language },
): Promise<ExtractiveAnswer | undefined> {
  const passages = hits.map(({ passage }) => passage);
  const closeness = await closenessOf(deps, found, passages);
  // A section that the customer asks for by its name may be quoted again.
  const isAsked = passages[0] !== undefined && isNamed(found.asking, passages[0]);
  const said = isAsked ? [] : history.filter(({ role }) => role === 'ai').map((answer) => answer.body);
  return extract(found.asking, passages, { closeness, said: said.slice(-remembered), own: body, language });
}

/** The offers of passages that may help. A passage of table rows is offered with its nearest row. */
async function offersFrom(deps: Extracting, found: Found, offered: readonly Judged[]): Promise<Offer[]> {
  const passages = offered.map(({ passage }) => passage);
  const closeness = await closenessOf(deps, found, passages);
  return distinctOffers(
    passages.map((passage) => offerOf(passage, extract(found.asking, [passage], { closeness })?.quotes[0]?.text)),
  );
}

/**
 * The cosine of the question with sentences of the passages. Undefined when the passages were found lexically. Empty
 * when they were found by embeddings and their sentences need not or cannot be compared.
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
