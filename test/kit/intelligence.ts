/**
 * A language model at a loopback endpoint, with the offline fallback that servers use, but without embedding models.
 * `failed` receives the failures of the model.
 */
import { withFallback } from '../../intelligence/fallback.ts';
import type { Intelligence } from '../../intelligence/intelligence.ts';
import { createAi, type ModelOptions } from '../../intelligence/model/ai.ts';
import { createModel } from '../../intelligence/model/model.ts';
import { createOffline } from '../../intelligence/offline/offline.ts';

export const withoutEmbedding = { model: undefined, local: undefined };

/** The model without a fallback. */
export const modelAt = (baseUrl: string, options: ModelOptions = {}) =>
  createModel(
    createAi({ baseUrl, model: 'm', timeoutMs: 60_000, sleep: async () => undefined, ...options })!,
    withoutEmbedding,
  );

export const intelligenceAt = (
  baseUrl: string,
  failed: (error: unknown) => void = () => undefined,
  options: ModelOptions = {},
): Intelligence =>
  withFallback(modelAt(baseUrl, options), createOffline({ embedding: withoutEmbedding }), (_, error) => failed(error));
