/**
 * A language model behind any OpenAI-compatible endpoint: answers from given sources, and embeddings. The model is told
 * that sources are data, never instructions. Without a configured model, `model` is undefined and the caller answers
 * extractively.
 */
import type { Answer, AnswerEvent, AnswerOptions } from './answers.ts';
import type { AnswerAsk, RewriteAsk } from './prompt.ts';
import type { Functions } from './functions.ts';
import type { Structured } from './structured.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export type { Answer, AnswerEvent, AnswerOptions } from './answers.ts';
export type { AnswerAsk, RewriteAsk } from './prompt.ts';
export type { FunctionsAsk } from './functions.ts';
export type { StructuredAsk } from './structured.ts';

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

export type Ai = Structured &
  Functions & {
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
  const configured = Boolean(options.apiKey) || Boolean(options.baseUrl);
  const model = configured && options.model ? options.model : undefined;
  const embeddingModel = configured && options.embeddingModel ? options.embeddingModel : undefined;
  const named = { model, embeddingModel };
  if (model === undefined && embeddingModel === undefined) return { ...named, ...unconfigured };
  // The endpoint's library is every eighth module of an API, so a process without a model does not load it.
  const loading = import('./configured.ts').then(({ createConfigured }): Calls => ({
    ...unconfigured,
    ...createConfigured({ ...options, ...named }),
  }));
  // A library that does not load fails every call, not the process.
  loading.catch(() => undefined);
  return {
    ...named,
    answer: async (...asked) => (await loading).answer(...asked),
    async *stream(...asked) {
      yield* (await loading).stream(...asked);
    },
    rewrite: async (...asked) => (await loading).rewrite(...asked),
    structured: async (ask) => (await loading).structured(ask),
    chooseFunction: async (...asked) => (await loading).chooseFunction(...asked),
    embed: async (...asked) => (await loading).embed(...asked),
    embedQuestion: async (...asked) => (await loading).embedQuestion(...asked),
  };
}

type Calls = Omit<Ai, 'model' | 'embeddingModel'>;

const notConfigured = (): Problem => new Problem('MODEL_FAILED', { message: 'No language model is configured.' });

const unconfigured: Calls = {
  answer: async () => Promise.reject(notConfigured()),
  async *stream() {
    yield await Promise.reject<AnswerEvent>(notConfigured());
  },
  rewrite: async () => Promise.reject(notConfigured()),
  structured: async () => Promise.reject(notConfigured()),
  chooseFunction: async () => Promise.reject(notConfigured()),
  embed: async () => Promise.reject(notConfigured()),
  embedQuestion: async () => Promise.reject(notConfigured()),
};
