/**
 * Vectors of texts, by which knowledge is compared by meaning: from the embedded models, from a configured endpoint, or
 * none.
 */
import { createEndpointVectors } from './endpoint.ts';
import { createLocal, type EmbeddingState, type Local, type LocalOptions } from './local.ts';
import { EmbeddingFailed } from './embedder.ts';
import { modelNames, readingModels, vectorsName, widths, type Vectors } from './vectors.ts';
import type { AiOptions } from '../openai/options.ts';

export type { EmbeddingMeter, EmbeddingState } from './local.ts';

export type Embedding = Vectors & {
  /** The embedded models that read messages, even where an endpoint embeds passages; undefined with EMBEDDING=off. */
  local: LocalEmbedding | undefined;
  state(): EmbeddingState;
  close(): Promise<void>;
};

export type LocalEmbedding = {
  /**
   * Of a short text, as a question: 384 numbers of me5, then 512 of USE. Shares process and kept vectors with `question`.
   * `searched`: it will probably be searched for as it stands, so the rest of its vector is made at the same time.
   * @throws when it cannot be had in time.
   */
  reading(text: string, searched?: boolean): Promise<Float32Array>;
  /** By USE alone, 512 numbers each: about 0.8 ms a sentence. @throws when they cannot be had in time. */
  sentences(texts: readonly string[]): Promise<Float32Array[]>;
};

export type EmbeddingOptions = Omit<LocalOptions, 'obtain'> & {
  /** Obtains the embedded models; undefined: there are none. */
  obtain?: LocalOptions['obtain'] | undefined;
  /** An endpoint, which is used when it has an `embeddingModel`. */
  endpoint?: AiOptions | undefined;
};

export function createEmbedding({ obtain, endpoint, ...options }: EmbeddingOptions): Embedding {
  const remote = endpoint === undefined ? undefined : createEndpointVectors(endpoint);
  const local = obtain === undefined ? undefined : createLocal({ ...options, obtain });
  return {
    ...(remote ?? (local === undefined ? none : embedded(local))),
    local: local && readingBy(local, remote === undefined),
    state: () => local?.state() ?? { state: remote === undefined ? 'off' : 'ready' },
    close: async () => local?.close(),
  };
}

const none: Vectors = {
  model: undefined,
  widths: () => [],
  question: async () => Promise.reject(new EmbeddingFailed('No embedding model is configured.')),
  passages: async () => Promise.reject(new EmbeddingFailed('No embedding model is configured.')),
};

const embedded = (local: Local): Vectors => ({
  model: vectorsName,
  widths: () => widths,
  question: async (text, signal) => local.parts(text, modelNames, signal),
  passages: local.passages,
});

/** `searches`: passages are compared by the same models. */
const readingBy = (local: Local, searches: boolean): LocalEmbedding => ({
  reading: async (text, searched = false) => {
    const parts = await local.parts(text, searches && searched ? modelNames : readingModels);
    return Float32Array.from(parts.slice(0, readingModels.length).flatMap((part) => [...part]));
  },
  sentences: local.sentences,
});
