/** Answers and offers in the passages' own words: which sentences are nearest to the question is asked of the embedded models. */
import { comparable, extract, wordsSuffice, type ExtractiveAnswer } from './extractive.ts';
import type { AnswerAsk, AnswerOptions, Grounds, Turns, Written } from '../../intelligence.ts';
import { groundsOf } from '../../plain.ts';
import type { Embedding } from '../../../clients/embedding/embedding.ts';
import { distinctOffers, isNamed, offerOf, offerText, type Offer } from '../../../models/rules/knowledge/offers.ts';
import { passagesOf, type Judged, type Passage } from '../../../models/rules/knowledge/retrieval.ts';
import type { Language } from '../../../models/rules/language/language.ts';
import { plainReply } from '../../../models/rules/language/replytext.ts';

/** Sentences compared with a question at most: 0.8 ms each, and the first passages have no more. */
const maxCompared = 8;
/** Of the agent's answers before, these are not said again. */
const remembered = 2;

type Extracting = { embedding: Pick<Embedding, 'model' | 'local'> };
type Found = Pick<Grounds, 'asking' | 'degraded'>;

/** An answer in the passages' own sentences or, where none surely answers, what they offer. */
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
