/**
 * Creates the language understanding of a server process: a model with the offline fallback if a model is configured,
 * else offline only.
 */
import { withFallback } from './fallback.ts';
import type { Intelligence } from './intelligence.ts';
import { createAi, type ModelOptions } from './model/ai.ts';
import { createModel } from './model/model.ts';
import { createOffline } from './offline/offline.ts';
import { count } from '../clients/base/meter.ts';
import type { Embedding } from '../clients/embedding/embedding.ts';

type Log = { warn(what: object, message: string): void };

export function openIntelligence(options: ModelOptions, embedding: Embedding, log: Log): Intelligence {
  const offline = createOffline({ embedding });
  const ai = createAi(options);
  if (!ai) return offline;
  return withFallback(createModel(ai, embedding), offline, (job, error, about) => {
    count('model_fallbacks_total', { job });
    log.warn({ err: error, job, ...about }, 'the model failed; it was done without one');
  });
}
