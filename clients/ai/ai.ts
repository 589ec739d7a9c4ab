/**
 * A language model behind any OpenAI-compatible endpoint: answers from given sources, and embeddings. What the sources say is
 * data to it, never instructions. Without a model it says so (`model` is undefined) and the caller answers extractively.
 */
import { randomBytes } from 'node:crypto';
import { createAnswerer, type Answer, type AnswerEvent, type AnswerOptions } from './answers.ts';
import { createCompletions } from './completions.ts';
import { createEmbedder } from './embeddings.ts';
import { createEndpoint } from './endpoint.ts';
import type { AnswerAsk, RewriteAsk } from './prompt.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export type { Answer, AnswerEvent, AnswerOptions } from './answers.ts';
export type { AnswerAsk, RewriteAsk } from './prompt.ts';

export type AiOptions = {
  /** `…/v1`; the library's own default when only a key is given. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  model?: string | undefined;
  embeddingModel?: string | undefined;
  /** For one attempt to answer whole, or, while streaming, for the next piece to arrive. */
  timeoutMs?: number | undefined;
  /** For everything one call does, waiting for `Retry-After` included. Twice `timeoutMs` when not given. */
  budgetMs?: number | undefined;
  /** Unguessable, new for each request: fences the sources. */
  nonce?: () => string;
  /** Milliseconds since some moment, for pauses. */
  now?: (() => number) | undefined;
  /** Resolves after so many milliseconds, rejects when aborted. Tests need not wait. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type Ai = {
  /** Undefined: no model is configured; `answer` and `stream` throw. */
  model: string | undefined;
  embeddingModel: string | undefined;
  /** @throws Problem MODEL_FAILED when the endpoint fails for good or answers what cannot be used. */
  answer(ask: AnswerAsk, options?: AnswerOptions): Promise<Answer>;
  /** The same, as it is written. The streamed text is provisional until `done`. */
  stream(ask: AnswerAsk, options?: AnswerOptions): AsyncGenerator<AnswerEvent, void, undefined>;
  /** A message that leans on what was said before, as a question understood by itself. @throws Problem MODEL_FAILED. */
  rewrite(ask: RewriteAsk, options?: AnswerOptions): Promise<string>;
  /** One vector for each text, in order. @throws Problem MODEL_FAILED. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<number[][]>;
  /**
   * The vector of a question for which a customer waits, so it has little time. While the endpoint is out of order it fails
   * at once: most answers are found by the question's words. @throws Problem MODEL_FAILED.
   */
  embedQuestion(text: string): Promise<number[]>;
};

export function createAi(options: AiOptions = {}): Ai {
  const { timeoutMs = 30_000, now = Date.now, nonce = () => randomBytes(9).toString('base64url') } = options;
  const { baseUrl, apiKey, sleep, budgetMs = 2 * timeoutMs } = options;
  const configured = Boolean(apiKey) || Boolean(baseUrl);
  const model = configured && options.model ? options.model : undefined;
  const embeddingModel = configured && options.embeddingModel ? options.embeddingModel : undefined;
  const endpoint = createEndpoint({ baseUrl, apiKey, timeoutMs, budgetMs, sleep });
  const answerer =
    model === undefined
      ? noAnswers
      : createAnswerer(createCompletions(endpoint, model), { timeoutMs, budgetMs, nonce });
  const embedder = embeddingModel === undefined ? noVectors : createEmbedder(endpoint, embeddingModel, now);
  return { model, embeddingModel, ...answerer, ...embedder };
}

const unconfigured = (): Problem => new Problem('MODEL_FAILED', { message: 'No language model is configured.' });

const noAnswers: Pick<Ai, 'answer' | 'stream' | 'rewrite'> = {
  answer: async () => Promise.reject(unconfigured()),
  async *stream() {
    yield await Promise.reject<AnswerEvent>(unconfigured());
  },
  rewrite: async () => Promise.reject(unconfigured()),
};
const noVectors: Pick<Ai, 'embed' | 'embedQuestion'> = {
  embed: async () => Promise.reject(unconfigured()),
  embedQuestion: async () => Promise.reject(unconfigured()),
};
