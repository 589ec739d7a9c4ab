/**
 * Vectors from the embedding model of a configured endpoint. Each vector has one part. The vectors of recent questions
 * are cached.
 */
import { LRUCache } from 'lru-cache';
import { keptCharacters, type Vectors } from './vectors.ts';
import { createEmbedder } from '../openai/embeddings.ts';
import { createEndpoint } from '../openai/endpoint.ts';
import type { AiOptions } from '../openai/options.ts';
import { abortable } from '../base/abortable.ts';

/** The number of questions whose vectors are cached: 6 to 12 KiB each. */
const keptQuestions = 500;

/** Returns undefined when no embedding model is configured. */
export function createEndpointVectors(options: AiOptions): Vectors | undefined {
  const { baseUrl, apiKey, sleep, embeddingModel: model, timeoutMs = 30_000, now = Date.now } = options;
  if (!model || !(apiKey || baseUrl)) return undefined;
  const budgetMs = options.budgetMs ?? 2 * timeoutMs;
  const asked = 'embedding model (OPENAI_EMBEDDING_MODEL)';
  const endpoint = createEndpoint({ baseUrl, apiKey, timeoutMs, budgetMs, asked, sleep });
  const embedder = createEmbedder(endpoint, model, now);
  const kept = new LRUCache<string, Promise<Float32Array>>({ max: keptQuestions });
  const toUnit = (numbers: readonly number[]): Float32Array => {
    const length = Math.hypot(...numbers);
    return Float32Array.from(numbers, (x) => (length === 0 ? 0 : x / length));
  };
  const questionOf = (text: string): Promise<Float32Array> => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const made = embedder.embedQuestion(text).then(toUnit);
    if (text.length <= keptCharacters) kept.set(text, made);
    made.catch(() => kept.delete(text));
    return made;
  };
  return {
    model: `endpoint:${model}`,
    async question(text, signal) {
      signal?.throwIfAborted();
      const made = questionOf(text);
      return [await (signal === undefined ? made : abortable(made, signal))];
    },
    async passages(texts, { signal } = {}) {
      const vectors = await embedder.embed(
        texts.map(({ heading, text }) => `${heading}\n${text}`),
        signal,
      );
      return vectors.map(toUnit);
    },
  };
}
