/** How a language model is reached and asked. */
import type { AiOptions } from '../../clients/openai/options.ts';

export type ModelOptions = Omit<AiOptions, 'embeddingModel'> & {
  /** An unguessable value, new for each request: it fences the sources. */
  nonce?: () => string;
};
