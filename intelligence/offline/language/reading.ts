/** Reads a message: its intent, its language, and the texts to search for. */
import { asRead, classify } from './classifier.ts';
import {
  clausesOf,
  followUp,
  mayFollow,
  sentencesForIntent,
  sentencesOf,
  understand,
  type Sentence,
  type Understood,
} from './question.ts';
import type { ReadMessage, Turns } from '../../intelligence.ts';
import type { Embedding, LocalEmbedding } from '../../../clients/embedding/embedding.ts';
import { languageOfFirst } from '../../../models/rules/language/language.ts';

type ReadingDeps = {
  embedding: Pick<Embedding, 'model'> & { local: Pick<LocalEmbedding, 'reading'> | undefined };
};

/** The question that a message refers to is looked for in this many earlier messages of the customer. */
const rememberedQuestions = 3;

/**
 * The number of turns before a message, of customer and agent, to which it may refer. Larger numbers found no more
 * passages.
 */
const rememberedTurns = 4;

/**
 * Reads a message in its conversation; `history` is oldest first. With embeddings, the retrieval compares the earlier
 * turns with the documents. Without embeddings, a message that names too little is joined with the customer's last
 * question.
 */
export async function readMessage(deps: ReadingDeps, text: string, history: Turns): Promise<ReadMessage> {
  const before = history.filter(({ role }) => role === 'customer' || role === 'user').map(({ body }) => body);
  const language = languageOfFirst([text, ...before.toReversed()]);
  const { intent, askings, degraded } = await readAlone(deps, text);
  const byMeaning = deps.embedding.model !== undefined;
  const context = byMeaning ? contextOf(history) : [];
  const read: ReadMessage = { intent, language, searched: text, askings, context, degraded };
  const referred =
    intent === 'question' && !byMeaning && mayFollow(text) ? await lastQuestion(deps, before) : undefined;
  if (referred === undefined) return read;
  const searched = followUp(text, referred);
  const whole = await readAlone(deps, searched);
  return { ...read, searched, askings: whole.askings, degraded: degraded || whole.degraded };
}

/**
 * The turns to which a message may refer, the newest first. Offers and the agent's fixed sentences are left out,
 * because they do not show the topic of the conversation.
 */
const contextOf = (history: Turns): string[] =>
  history
    .filter(({ role, offers, record }) => role !== 'system' && !offers?.length && record?.generated_by !== 'fixed')
    .slice(-rememberedTurns)
    .map(({ body }) => body)
    .toReversed();

async function lastQuestion(deps: ReadingDeps, before: readonly string[]): Promise<Understood['askings'] | undefined> {
  for (const body of before.slice(-rememberedQuestions).toReversed()) {
    const { intent, askings } = await readAlone(deps, body);
    if (intent === 'question') return askings;
  }
  return undefined;
}

/** Reads a message without its conversation. `degraded`: the embeddings of its sentences were late or failed. */
async function readAlone(deps: ReadingDeps, message: string): Promise<Understood & { degraded: boolean }> {
  const lines = sentencesOf(message);
  const vectors = await vectorsOf(deps, lines.flat());
  const read = (text: string): Sentence => {
    const vector = vectors?.get(text);
    return { text, classified: classify(text, vector), by: vector === undefined ? 'words' : 'embedding' };
  };
  const sentences = lines.map((line) => line.map(read));
  const clauses = sentences.flat().flatMap(clausesOf);
  const clauseVectors = clauses.length > 0 && vectors !== undefined ? await vectorsOf(deps, clauses) : undefined;
  const understood = understand(
    message,
    sentences.map((line) =>
      line.map((sentence) => ({
        ...sentence,
        clauses: clausesOf(sentence).map((text) => classify(text, clauseVectors?.get(text))),
      })),
    ),
  );
  return { ...understood, degraded: deps.embedding.local !== undefined && vectors === undefined };
}

/**
 * Embeddings of the first sentences; undefined when embeddings are unavailable. Sentences without an embedding are
 * classified by their words.
 */
async function vectorsOf(
  { embedding }: ReadingDeps,
  texts: readonly string[],
): Promise<Map<string, Float32Array> | undefined> {
  const { local } = embedding;
  if (local === undefined) return undefined;
  try {
    const distinct = [...new Set(texts)].slice(0, sentencesForIntent);
    // A message of one sentence is searched for unchanged, so its search vector is computed together with its reading
    // vector.
    const vectors = await Promise.all(distinct.map(async (text) => local.reading(asRead(text), texts.length === 1)));
    return new Map(distinct.map((text, at) => [text, vectors[at]!]));
  } catch {
    return undefined;
  }
}
