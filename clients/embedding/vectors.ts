/**
 * What vectors consist of: the models, their widths, and how texts are passed to them. Pure; every process may import
 * it.
 */

export type EmbeddingText = {
  kind: 'question' | 'passage';
  text: string;
  /** The heading of a passage. */
  heading?: string | undefined;
};

/**
 * In the order of their parts in a vector. `tokens` is where a text is cut: a question's first sentences say what it
 * asks, and the time grows with its length.
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
  /** bge-small-en-v1.5: for English only, where it is the best of the three. */
  bge: {
    dimensions: 384,
    // The question's own tokens and those of the prefix. Passages of 512 tokens would take 40 MiB more at the peak.
    tokens: { question: 64 + 8, passage: 384 },
    prefix: { question: 'Represent this sentence for searching relevant passages: ', passage: '' },
  },
} as const;
export type ModelName = keyof typeof models;

/** The models that read messages. */
export const readingModels: readonly ModelName[] = ['me5', 'use'];

/** The models in the order of their parts. */
export const modelNames = Object.keys(models) as ModelName[];

/** The widths of the parts of a whole vector. */
export const widths: readonly number[] = modelNames.map((name) => models[name].dimensions);

/** The length of a whole vector. */
export const dimensions = widths.reduce((sum, width) => sum + width, 0);

/**
 * Names the models and settings behind whole vectors of passages. Change it whenever the vector of any passage changes.
 */
export const vectorsName = 'embedded-1';

/** Makes vectors of texts. Their parts, one per model, are concatenated, each of length 1. */
export type Vectors = {
  /**
   * Names what made the vectors of passages; vectors of two names are never compared. Undefined: there are no vectors,
   * and everything is compared by words alone.
   */
  model: string | undefined;
  /** The widths of the parts; empty until an endpoint's first vector is known. */
  widths(): readonly number[];
  /**
   * The parts of a question, of which the first 64 tokens count. Recent ones are cached. @throws when they are not
   * ready in time: words then answer the question.
   */
  question(text: string, signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /** Whole vectors of passages, in order, in the background. @throws when they cannot be made. */
  passages(texts: readonly { heading: string; text: string }[], signal?: AbortSignal): Promise<Float32Array[]>;
};

/** Vectors of questions up to this length are cached: nearly all questions, but no text that takes much memory. */
export const keptCharacters = 1_000;

/** How many characters of a text count: more than the longest token limit can use. */
export const maxCharacters = 8_000;
