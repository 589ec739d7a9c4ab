/**
 * Access to a language model behind an OpenAI-compatible endpoint: answers from given sources, structured replies, and
 * function calls. The prompts say that sources are data, never instructions.
 */
import { randomBytes } from 'node:crypto';
import { createAnswerer, type Answer, type AnswerEvent, type CallOptions } from './answers.ts';
import { createCompletions, type AskingOptions } from './completions.ts';
import { createFunctions, type Functions } from './functions.ts';
import type { AnswerAsk, RewriteAsk } from './prompt.ts';
import { createStructured, type Structured } from './structured.ts';
import { createEndpoint } from '../../clients/openai/endpoint.ts';
import type { AiOptions } from '../../clients/openai/options.ts';

export type { Answer, AnswerEvent, CallOptions } from './answers.ts';
export type { AnswerAsk, RewriteAsk } from './prompt.ts';
export type { FunctionsAsk } from './functions.ts';
export type { Structured, StructuredAsk } from './structured.ts';

export type ModelOptions = Omit<AiOptions, 'embeddingModel'> & Partial<Pick<AskingOptions, 'nonce'>>;

export type Ai = Structured &
  Functions & {
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
  const { model, apiKey, baseUrl, sleep, timeoutMs = 30_000, budgetMs = 2 * timeoutMs } = options;
  if (!model || !(apiKey || baseUrl)) return undefined;
  const { nonce = () => randomBytes(9).toString('base64url') } = options;
  const completions = createCompletions(createEndpoint({ baseUrl, apiKey, timeoutMs, budgetMs, sleep }), model);
  const asking = { timeoutMs, budgetMs, nonce };
  return {
    model,
    ...createAnswerer(completions, asking),
    ...createStructured(completions, asking),
    ...createFunctions(completions, asking),
  };
}
