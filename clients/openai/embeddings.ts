/** Computes embeddings: of passages in batches, and of a single question for which a customer waits. */
import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { isRefusal, isSilence } from './failures.ts';
import { abortable } from '../base/abortable.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** Time limit for a question's vector, in ms. A healthy endpoint needs a tenth of it. */
const questionMs = 1_500;
/** After failures the endpoint is not called for questions for this long, in ms. */
const questionPauseMs = 15_000;
/**
 * The number of consecutive failures before the pause. A request without a reply starts the pause at once. One failure
 * with a reply is not enough, because some endpoints fail for a single text that is too long for them.
 */
const failuresToPause = 3;
/**
 * Maximum number of texts in one request: half of the usual maximum of endpoints, so that a rejected request costs
 * little.
 */
const embeddingBatch = 64;
/**
 * Maximum length of a text, in characters: about 2,000 tokens. Endpoints reject inputs over 8,192 tokens; chunks are
 * far shorter.
 */
const maxEmbeddingLength = 8_000;

const vectorsShape = z.array(
  z.object({ index: z.number().int().nonnegative(), embedding: z.array(z.number()).min(1).max(20_000) }),
);

/** `now`: a monotonic clock in ms, to measure pauses. */
export function createEmbedder({ budgetMs, persist }: Endpoint, model: string, now: () => number) {
  let pausedUntil = -Infinity;
  let failuresInARow = 0;

  async function embedBatch(
    texts: readonly string[],
    outer: AbortSignal | undefined,
    withinMs: number,
  ): Promise<number[][]> {
    const input = texts.map((text) => text.slice(0, maxEmbeddingLength) || ' ');
    const reply = await persist(outer, Date.now() + withinMs, async (api, signal) =>
      abortable(api.embeddings.create({ model, input, encoding_format: 'float' }, { signal }), signal),
    );
    return checkedVectors(reply?.data, input.length);
  }

  return {
    async embed(texts: readonly string[], outer?: AbortSignal): Promise<number[][]> {
      const vectors: number[][] = [];
      for (let at = 0; at < texts.length; at += embeddingBatch)
        vectors.push(...(await embedBatch(texts.slice(at, at + embeddingBatch), outer, budgetMs)));
      if (vectors.some((vector) => vector.length !== vectors[0]?.length)) throw new Problem('MODEL_FAILED');
      return vectors;
    },

    async embedQuestion(text: string): Promise<number[]> {
      if (now() < pausedUntil) throw new Problem('MODEL_FAILED', { cause: new Error('it failed a moment ago') });
      try {
        const [vector] = await embedBatch([text], undefined, Math.min(questionMs, budgetMs));
        failuresInARow = 0;
        return vector!;
      } catch (error) {
        if (!isRefusal(error)) failuresInARow += 1;
        if (isSilence(error) || failuresInARow >= failuresToPause) {
          pausedUntil = now() + questionPauseMs;
          failuresInARow = 0;
        }
        throw error;
      }
    },
  };
}

function checkedVectors(data: unknown, expected: number): number[][] {
  const list = vectorsShape.safeParse(data);
  if (!list.success || list.data.length !== expected) {
    throw new Problem('MODEL_FAILED', {
      message: 'The configured embedding model did not give one vector for each text.',
    });
  }
  return list.data.sort((a, b) => a.index - b.index).map(({ embedding }) => embedding);
}
