/** The settings of a language model's endpoint. */
import type { AiOptions } from '../../clients/openai/options.ts';

export type ModelOptions = Omit<AiOptions, 'embeddingModel'> & {
  /** Returns an unguessable value for each request, which delimits the sources in the prompt. */
  nonce?: () => string;
};
