/**
 * Extractive answers and offers, in the passages' own words. Embeddings decide which sentences are nearest to the
 * question.
 */
import { extract, maxSources, wordsSuffice, type ExtractiveAnswer } from './extractive.ts';
import type { AnswerAsk, AnswerOptions, Grounds, Turns, Written } from '../../intelligence.ts';
import { groundsOf } from '../../plain.ts';
import type { Embedding, LocalEmbedding } from '../../../clients/embedding/embedding.ts';
import { comparedTexts, packedCosines } from '../../../models/rules/knowledge/compared.ts';
import { distinctOffers, isNamed, offerOf, offerText, type Offer } from '../../../models/rules/knowledge/offers.ts';
import { passagesOf, type Passage } from '../../../models/rules/knowledge/retrieval.ts';
import type { Language } from '../../../models/rules/language/language.ts';
import { matcher, terms } from '../../../models/rules/language/words.ts';
import { plainReply } from '../../replytext.ts';

/**
 * The most sentences that are embedded for a question, when passages have no stored vectors of their sentences. Each
 * sentence takes 0.8 ms, and the first passages rarely have more sentences than this.
 */
const maxEmbedded = 8;
/** The number of the agent's last answers whose text is not repeated. */
const remembered = 2;

type Comparing = Pick<LocalEmbedding, 'asked' | 'sentences'>;
type Extracting = { embedding: Pick<Embedding, 'model'> & { local: Comparing | undefined } };
type Found = Pick<Grounds, 'asking' | 'degraded' | 'sentences'>;
/**
 * The cosine of the question with each compared sentence, by sentence. Undefined when the passages were found by their
 * words. Empty when embeddings found the passages, but their sentences need not or cannot be compared.
 */
type Closeness = ReadonlyMap<string, number> | undefined;

/** An answer from sentences of the passages or, with low confidence, an offer of passages. */
export async function answerFromSources(
  deps: Extracting,
  { found, mayOffer, ...asked }: AnswerAsk,
  { listener }: AnswerOptions = {},
): Promise<Written> {
  const by = { generated_by: 'extractive' } as const;
  if (found.confidence === 'low' && !mayOffer) return { text: undefined, used: [], withheld: true, by };
  const { closeness, ...made } = await closenessOf(
    deps,
    found,
    passagesOf(found).map(({ passage }) => passage),
  );
  const said = say(found, asked, closeness);
  if (!said) return { text: undefined, used: [], by, ...made };
  const { used, offers } = said;
  const text = plainReply(said.text, groundsOf(asked.body, passagesOf(found)));
  await listener?.piece(text);
  return { text, used, ...(offers && { offers }), by, ...made };
}

function say(
  found: Grounds,
  asked: { body: string; history: Turns; language: Language },
  closeness: Closeness,
): { text: string; used: string[]; offers?: Offer[] } | undefined {
  if (found.confidence !== 'low') return extractFrom(found, asked, closeness);
  const offers = offersFrom(found, closeness);
  return { text: offerText(offers, asked.language), used: offers.map(({ passage }) => passage), offers };
}

/** An answer from the best passage; undefined when no passage says anything about the question. */
function extractFrom(
  { asking, hits }: Grounds,
  { body, history, language }: { body: string; history: Turns; language: Language },
  closeness: Closeness,
): ExtractiveAnswer | undefined {
  const passages = hits.map(({ passage }) => passage);
  // A section that the customer asks for by its name may be quoted again, even if an earlier answer quoted it.
  const isAsked = passages[0] !== undefined && isNamed(asking, passages[0]);
  const said = isAsked ? [] : history.filter(({ role }) => role === 'ai').map((answer) => answer.body);
  return extract(asking, passages, { closeness, said: said.slice(-remembered), own: body, language });
}

/** The offers of passages that may help, each with the sentence, item or row that is nearest to the question. */
function offersFrom({ asking, offers }: Grounds, closeness: Closeness): Offer[] {
  const asked = matcher(terms(asking).map(({ stem }) => stem));
  const nearest = (passage: Passage): string | undefined => extract(asking, [passage], { closeness })?.quotes[0]?.text;
  return distinctOffers(
    offers.map(({ passage }) => offerOf(passage, nearest(passage), (name) => asked(name).size > 0)),
  );
}

/** `degraded`: the sentences should have been compared, but their embeddings were late or failed. */
async function closenessOf(
  { embedding }: Extracting,
  { asking, degraded, sentences }: Found,
  passages: readonly Passage[],
): Promise<{ closeness: Closeness; degraded?: true }> {
  const byMeaning = embedding.model !== undefined && !degraded;
  if (!byMeaning || embedding.local === undefined || wordsSuffice(asking, passages))
    return { closeness: byMeaning ? new Map() : undefined };
  try {
    return { closeness: await compare(embedding.local, asking, passages.slice(0, maxSources), sentences) };
  } catch {
    return { closeness: new Map(), degraded: true };
  }
}

/**
 * Compares the question with the passages' sentences by their stored vectors. Of passages without stored vectors, the
 * first `maxEmbedded` sentences are embedded.
 */
async function compare(
  local: Comparing,
  asking: string,
  passages: readonly Passage[],
  stored: Grounds['sentences'],
): Promise<Map<string, number>> {
  const [question, packed] = await Promise.all([local.asked(asking), stored(passages.map(({ id }) => id))]);
  const closeness = new Map<string, number>();
  const others: string[] = [];
  for (const { id, text } of passages) {
    const texts = comparedTexts(text);
    const vectors = packed.get(id);
    const cosines = vectors && packedCosines(question, vectors, texts.length);
    if (cosines === undefined) others.push(...texts);
    else for (const [at, one] of texts.entries()) closeness.set(one, cosines[at]!);
  }
  const missing = [...new Set(others)].filter((text) => !closeness.has(text)).slice(0, maxEmbedded);
  if (missing.length === 0) return closeness;
  for (const [at, vector] of (await local.sentences(missing)).entries())
    closeness.set(missing[at]!, dot(question, vector));
  return closeness;
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * b[at]!, 0);
