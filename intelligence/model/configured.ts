/** The jobs of a configured model. This file imports the endpoint's library, so ai.ts loads it on demand. */
import { randomBytes } from 'node:crypto';
import { createAnswerer } from './answers.ts';
import { createCompletions } from './completions.ts';
import { createFunctions } from './functions.ts';
import { createStructured } from './structured.ts';
import type { ModelOptions } from './options.ts';
import { createEndpoint } from '../../clients/openai/endpoint.ts';

export function createConfigured(options: ModelOptions & { model: string }) {
  const { timeoutMs = 30_000, nonce = () => randomBytes(9).toString('base64url') } = options;
  const { baseUrl, apiKey, sleep, budgetMs = 2 * timeoutMs, model } = options;
  const completions = createCompletions(createEndpoint({ baseUrl, apiKey, timeoutMs, budgetMs, sleep }), model);
  const limits = { timeoutMs, budgetMs, nonce };
  return {
    ...createAnswerer(completions, limits),
    ...createStructured(completions, limits),
    ...createFunctions(completions, limits),
  };
}
