/** What vectors are made of: the models, their widths, and how texts are given to them. Pure; every process may import it. */

export type EmbeddingText = {
  kind: 'question' | 'passage';
  text: string;
  /** Of a passage. */
  heading?: string | undefined;
};

/**
 * In the order in which their parts stand in a vector. `tokens` is where a text is cut: a question's first sentences hold what
 * it asks, and its time grows with its length.
 */
export const models = {
  /** multilingual-e5-small. */
  me5: {
    dimensions: 384,
    tokens: { question: 64, passage: 512 },
    prefix: { question: 'query: ', passage: 'passage: ' },
  },
  /** Universal Sentence Encoder, multilingual. */
  use: {
    dimensions: 512,
    tokens: { question: 64, passage: 1024 },
    prefix: { question: '', passage: '' },
  },
} as const;
export type ModelName = keyof typeof models;

/** Numbers in a vector. */
export const dimensions = models.me5.dimensions + models.use.dimensions;

/** Characters of a text that are looked at: more than the longest token limit can use. */
export const maxCharacters = 8_000;
