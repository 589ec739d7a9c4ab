/**
 * Access to a language model behind an OpenAI-compatible endpoint: answers from given sources, structured replies, and
 * function calls. The prompts say that sources are data, never instructions.
 */
import type { Answer, AnswerEvent, CallOptions } from './answers.ts';
import type { AnswerAsk, RewriteAsk } from './prompt.ts';
import type { Functions } from './functions.ts';
import type { ModelOptions } from './options.ts';
import type { Structured } from './structured.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export type { Answer, AnswerEvent, CallOptions } from './answers.ts';
export type { AnswerAsk, RewriteAsk } from './prompt.ts';
export type { FunctionsAsk } from './functions.ts';
export type { ModelOptions } from './options.ts';
export type { Structured, StructuredAsk } from './structured.ts';

export type Ai = Structured &
  Functions & {
    /** The model's name. */
    model: string;
    /** @throws Problem MODEL_FAILED when the endpoint fails after its retries or its reply is unusable. */
    answer(ask: AnswerAsk, options?: CallOptions): Promise<Answer>;
    /** Does the same as `answer`, but streams the text. The streamed text is provisional until the event `done`. */
    stream(ask: AnswerAsk, options?: CallOptions): AsyncGenerator<AnswerEvent, void, undefined>;
    /**
     * Rewrites a message that refers to earlier messages as a self-contained question. @throws Problem MODEL_FAILED.
     */
    rewrite(ask: RewriteAsk, options?: CallOptions): Promise<string>;
  };

/** Undefined when no model is configured. A configuration needs a model name, and an endpoint or an API key. */
export function createAi(options: ModelOptions = {}): Ai | undefined {
  const { model, apiKey, baseUrl } = options;
  if (!model || !(apiKey || baseUrl)) return undefined;
  // The endpoint's library is loaded only when a model is configured, because it is an eighth of all modules of an API
  // process.
  const loading = import('./configured.ts').then(
    ({ createConfigured }) => createConfigured({ ...options, model }),
    (cause: unknown) => {
      throw new Problem('MODEL_FAILED', { cause });
    },
  );
  // If the library cannot be loaded, each call fails, but not the process.
  loading.catch(() => undefined);
  return {
    model,
    answer: async (...asked) => (await loading).answer(...asked),
    async *stream(...asked) {
      yield* (await loading).stream(...asked);
    },
    rewrite: async (...asked) => (await loading).rewrite(...asked),
    structured: async (ask) => (await loading).structured(ask),
    chooseFunction: async (...asked) => (await loading).chooseFunction(...asked),
  };
}
