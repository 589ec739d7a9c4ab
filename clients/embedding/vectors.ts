/**
 * The structure of vectors: the models, their dimensions, and how texts are passed to them. Pure; every process may
 * import it.
 */

export type EmbeddingText = {
  kind: 'question' | 'passage';
  text: string;
  /** The heading above a passage. */
  heading?: string | undefined;
};

/**
 * The models in the order of their parts in a vector. `tokens`: texts are truncated to this many tokens. Questions have
 * a low limit, because their first sentences contain their meaning and the time grows with the length.
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
  /** bge-small-en-v1.5: English only, and the best of the three models for English. */
  bge: {
    dimensions: 384,
    // 64 tokens are for the question itself and 8 for the prefix. Passages of 512 tokens would take 40 MiB more memory
    // at the peak.
    tokens: { question: 64 + 8, passage: 384 },
    prefix: { question: 'Represent this sentence for searching relevant passages: ', passage: '' },
  },
} as const;
export type ModelName = keyof typeof models;

/** The models that analyse messages. */
export const readingModels: readonly ModelName[] = ['me5', 'use'];

/** The models in the order of their parts in a vector. */
export const modelNames = Object.keys(models) as ModelName[];

/** The number of dimensions of each part of a whole vector. */
export const widths: readonly number[] = modelNames.map((name) => models[name].dimensions);

export const dimensions = widths.reduce((sum, width) => sum + width, 0);

/** The version of the models and settings that embed passages. Change it whenever the vector of any passage changes. */
export const vectorsName = 'embedded-2';

/** Computes vectors of texts. A vector is the concatenation of one unit vector (a part) for each model. */
export type Vectors = {
  /**
   * The name of the model behind the passages' vectors; vectors of different names are never compared. Undefined means
   * that there are no vectors and the search is lexical only.
   */
  model: string | undefined;
  /**
   * The parts of a question's vector; only the first 64 tokens are used. The vectors of recent questions are cached.
   * @throws when they are not ready in time; the search is then lexical only.
   */
  question(text: string, signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /** Whole vectors of passages, in order, computed in the background. @throws when they cannot be computed. */
  passages(texts: readonly { heading: string; text: string }[], options?: BackgroundOptions): Promise<Float32Array[]>;
};

/** `patient`: nobody waits for these texts, so they are embedded only when no other texts are waiting. */
export type BackgroundOptions = { signal?: AbortSignal; patient?: boolean };

/** Questions up to this many characters are cached: nearly all questions, but no text that takes much memory. */
export const keptCharacters = 1_000;

/** Texts are truncated to this many characters, which is more than the longest token limit can use. */
export const maxCharacters = 8_000;
