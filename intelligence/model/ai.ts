/**
 * A language model behind any OpenAI-compatible endpoint: answers from given sources, replies in a given form, function calls. The
 * model is told that sources are data, never instructions.
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
    /** Its name. */
    model: string;
    /** @throws Problem MODEL_FAILED when the endpoint fails for good or answers what cannot be used. */
    answer(ask: AnswerAsk, options?: CallOptions): Promise<Answer>;
    /** The same, streamed as it is written. The streamed text is provisional until `done`. */
    stream(ask: AnswerAsk, options?: CallOptions): AsyncGenerator<AnswerEvent, void, undefined>;
    /**
     * Rewrites a message that refers to what was said before as a question that can be understood alone. @throws Problem
     * MODEL_FAILED.
     */
    rewrite(ask: RewriteAsk, options?: CallOptions): Promise<string>;
  };

/** Undefined when no model is configured: that takes its name, and an endpoint or a key. */
export function createAi(options: ModelOptions = {}): Ai | undefined {
  const { model, apiKey, baseUrl } = options;
  if (!model || !(apiKey || baseUrl)) return undefined;
  // The endpoint's library is every eighth module of an API, so a process without a model does not load it.
  const loading = import('./configured.ts').then(
    ({ createConfigured }) => createConfigured({ ...options, model }),
    (cause: unknown) => {
      throw new Problem('MODEL_FAILED', { cause });
    },
  );
  // A library that does not load fails every call, not the process.
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
