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
  /** bge-small-en-v1.5: for English alone, and there the best of the three. */
  bge: {
    dimensions: 384,
    // A question's own tokens and those of the sentence before it. At 512 a passage would take 40 MiB more at the peak.
    tokens: { question: 64 + 8, passage: 384 },
    prefix: { question: 'Represent this sentence for searching relevant passages: ', passage: '' },
  },
} as const;
export type ModelName = keyof typeof models;

/** By which messages are read. */
export const readingModels: readonly ModelName[] = ['me5', 'use'];

/** The models in the order of their parts. */
export const modelNames = Object.keys(models) as ModelName[];

/** The widths of the parts of a whole vector. */
export const widths: readonly number[] = modelNames.map((name) => models[name].dimensions);

/** Numbers in a whole vector. */
export const dimensions = widths.reduce((sum, width) => sum + width, 0);

/** Names what whole vectors of passages are made by. Raised whenever the vector of any passage changes. */
export const vectorsName = 'embedded-1';

/** Vectors of texts. Their parts are side by side, one a model, each of length 1. */
export type Vectors = {
  /**
   * Names what the vectors of passages are made by; vectors of two names are never compared. Undefined: there are none, and
   * everything is compared by its words alone.
   */
  model: string | undefined;
  /** The widths of the parts; none until the first vector of an endpoint is known. */
  widths(): readonly number[];
  /**
   * The parts of a question, of which the first 64 tokens count. Recent ones are kept. @throws when they cannot be had in
   * time: the question is then answered by its words.
   */
  question(text: string, signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /** Whole vectors of passages, in order, in the background. @throws when they cannot be had. */
  passages(texts: readonly { heading: string; text: string }[], signal?: AbortSignal): Promise<Float32Array[]>;
};

/** Vectors of questions up to this length are kept: nearly all questions, and no text that takes memory. */
export const keptCharacters = 1_000;

/** Characters of a text that are looked at: more than the longest token limit can use. */
export const maxCharacters = 8_000;
