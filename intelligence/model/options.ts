/** The settings of a language model's endpoint. */
import type { AiOptions } from '../../clients/openai/options.ts';

export type ModelOptions = Omit<AiOptions, 'embeddingModel'> & {
  /**
   * Returns an unguessable value for each request. It delimits the sources in the prompt, so that no text in a source
   * can pass for the end of the source.
   */
  nonce?: () => string;
};
