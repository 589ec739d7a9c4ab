import type { Logger } from 'pino';
import { createEmbedding, type Embedding, type EmbeddingOptions } from './embedding.ts';
import { obtainModels } from './obtain.ts';
import type { AiOptions } from '../openai/options.ts';

type Settings = {
  /** `niceness`: only tests set it. */
  embedding: { state: 'embedded' | 'off'; folder?: string; niceness?: number; urls: readonly string[] };
  openai: AiOptions;
};

export function openEmbedding(
  { embedding: { state, folder, niceness, urls }, openai }: Settings,
  log: Pick<Logger, 'info' | 'warn'>,
  options: Pick<EmbeddingOptions, 'warm'> = {},
): Embedding {
  return createEmbedding({
    ...options,
    niceness,
    endpoint: openai,
    ...(state === 'off' ? {} : { obtain: (report, signal) => obtainModels(folder, report, signal), urls }),
    onState: (now) => {
      if (now.state === 'failed') log.warn(now, 'embedding failed: questions are compared by their words alone');
      else log.info(now, 'embedding');
    },
  });
}
