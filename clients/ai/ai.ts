/**
 * A language model behind any OpenAI-compatible endpoint: answers from given sources, and embeddings. The model is told
 * that sources are data, never instructions. Without a configured model, `model` is undefined and the caller answers
 * extractively.
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
  /** The time for one attempt to answer completely or, while streaming, for the next piece to arrive. */
  timeoutMs?: number | undefined;
  /** The time for everything that one call does, including waiting for `Retry-After`. Default: twice `timeoutMs`. */
  budgetMs?: number | undefined;
  /** An unguessable value, new for each request: it fences the sources. */
  nonce?: () => string;
  /** Milliseconds since some moment, to measure pauses. */
  now?: (() => number) | undefined;
  /** Resolves after this many milliseconds, rejects when aborted. Tests replace it so that they need not wait. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type Ai = {
  /** Undefined: no model is configured; `answer` and `stream` throw. */
  model: string | undefined;
  embeddingModel: string | undefined;
  /** @throws Problem MODEL_FAILED when the endpoint fails for good or answers what cannot be used. */
  answer(ask: AnswerAsk, options?: AnswerOptions): Promise<Answer>;
  /** The same, streamed as it is written. The streamed text is provisional until `done`. */
  stream(ask: AnswerAsk, options?: AnswerOptions): AsyncGenerator<AnswerEvent, void, undefined>;
  /**
   * Rewrites a message that refers to what was said before as a question that can be understood alone. @throws Problem
   * MODEL_FAILED.
   */
  rewrite(ask: RewriteAsk, options?: AnswerOptions): Promise<string>;
  /** One vector for each text, in order. @throws Problem MODEL_FAILED. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<number[][]>;
  /**
   * The vector of a question. A customer waits for it, so it gets little time. While the endpoint is failing, the call
   * fails at once, because most answers are found by the question's words. @throws Problem MODEL_FAILED.
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
