/** What a configured endpoint can be asked for. It loads the endpoint's library, so ai.ts loads this file on demand. */
import { randomBytes } from 'node:crypto';
import { createAnswerer } from './answers.ts';
import { createCompletions } from './completions.ts';
import { createEmbedder } from './embeddings.ts';
import { createEndpoint, type EndpointOptions } from './endpoint.ts';
import { createFunctions } from './functions.ts';
import { createStructured } from './structured.ts';

type ConfiguredOptions = Pick<EndpointOptions, 'baseUrl' | 'apiKey' | 'sleep'> & {
  timeoutMs?: number | undefined;
  budgetMs?: number | undefined;
  model: string | undefined;
  embeddingModel: string | undefined;
  nonce?: () => string;
  now?: (() => number) | undefined;
};

/** Answers where a model is named, vectors where an embedding model is. */
export function createConfigured(options: ConfiguredOptions) {
  const { timeoutMs = 30_000, now = Date.now, nonce = () => randomBytes(9).toString('base64url') } = options;
  const { baseUrl, apiKey, sleep, budgetMs = 2 * timeoutMs, model, embeddingModel } = options;
  const endpoint = createEndpoint({ baseUrl, apiKey, timeoutMs, budgetMs, sleep });
  const limits = { timeoutMs, budgetMs, nonce };
  const completions = model === undefined ? undefined : createCompletions(endpoint, model);
  return {
    ...(completions && {
      ...createAnswerer(completions, limits),
      ...createStructured(completions, limits),
      ...createFunctions(completions, limits),
    }),
    ...(embeddingModel === undefined ? {} : createEmbedder(endpoint, embeddingModel, now)),
  };
}
