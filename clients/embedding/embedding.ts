/** Vectors of texts for the semantic search: from the embedded models, from a configured endpoint, or none. */
import { centred, centredPart } from './centring.ts';
import { createEndpointVectors } from './endpoint.ts';
import { createLocal, type EmbeddingState, type Local, type LocalOptions } from './local.ts';
import { EmbeddingFailed } from './embedder.ts';
import { modelNames, readingModels, vectorsName, type Vectors } from './vectors.ts';
import type { AiOptions } from '../openai/options.ts';

export type { EmbeddingState } from './local.ts';

export type Embedding = Vectors & {
  /**
   * The embedded models, which analyse messages even if an endpoint computes the vectors of the passages. Undefined
   * with EMBEDDING=off.
   */
  local: LocalEmbedding | undefined;
  state(): EmbeddingState;
  close(): Promise<void>;
};

export type LocalEmbedding = Pick<Local, 'sentences' | 'storedSentences'> & {
  /**
   * The vector of a short text, embedded as a question: 384 numbers of me5, then 512 of USE. Uses the process and the
   * cache of `question`. `searched`: the text will probably also be searched for, so the part by bge is computed at the
   * same time. @throws when the vector is not ready in time.
   */
  reading(text: string, searched?: boolean): Promise<Float32Array>;
  /**
   * The vector of a question by USE alone, to compare with the vectors of sentences. Uses the cache of `question`, so a
   * question that was searched for is not embedded again. @throws when it is not ready in time.
   */
  asked(text: string): Promise<Float32Array>;
};

export type EmbeddingOptions = Omit<LocalOptions, 'obtain'> & {
  /** Downloads or finds the embedded models. Undefined means that no embedded models are used. */
  obtain?: LocalOptions['obtain'] | undefined;
  /** The configured endpoint. It is used for vectors if it has an `embeddingModel`. */
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
  question: async () => Promise.reject(new EmbeddingFailed('No embedding model is configured.')),
  passages: async () => Promise.reject(new EmbeddingFailed('No embedding model is configured.')),
};

const embedded = (local: Local): Vectors => ({
  model: vectorsName,
  question: async (text, signal) => {
    const [me5, ...others] = await local.parts(text, modelNames, signal);
    return [centredPart(me5!, { kind: 'question', text }), ...others];
  },
  passages: async (texts, options) => {
    const vectors = await local.passages(texts, options);
    return vectors.map((vector, at) => centred(vector, { kind: 'passage', text: texts[at]!.text }));
  },
});

/**
 * `searches`: whether the embedded models also embed the passages. A text that is searched for then needs all parts of
 * its vector.
 */
const readingBy = (local: Local, searches: boolean): LocalEmbedding => ({
  reading: async (text, searched = false) => {
    const parts = await local.parts(text, searches && searched ? modelNames : readingModels);
    return Float32Array.from(parts.slice(0, readingModels.length).flatMap((part) => [...part]));
  },
  sentences: local.sentences,
  asked: async (text) => (await local.parts(text, ['use']))[0]!,
  storedSentences: local.storedSentences,
});
