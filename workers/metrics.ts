/** Metrics of a worker process. They are served along with Temporal's own, at WORKER_METRICS_PORT. */
import type { MetricMeter } from '@temporalio/common';
import type { EmbeddingMeter } from '../clients/embedding/embedding.ts';

/** Temporal's default buckets are for milliseconds. */
export const histogramBuckets = { embedding_seconds: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30] };

/** The metrics have the same names as in an API process. */
export function embeddingMeter(metrics: MetricMeter): EmbeddingMeter {
  const texts = metrics.createCounter(
    'embedding_texts_total',
    'texts',
    'Texts that the embedded models made vectors of.',
  );
  const seconds = metrics.createHistogram('embedding_seconds', 'float', 's', 'Time for the vectors of one call.');
  const failures = metrics.createCounter('embedding_failures_total', 'calls', 'Calls that got no vectors.');
  const processes = metrics.createCounter(
    'embedding_processes_started_total',
    'processes',
    'Processes that were started.',
  );
  return {
    made(kind, count, took) {
      texts.add(count, { kind });
      seconds.record(took, { kind });
    },
    failed: (kind) => failures.add(1, { kind }),
    started: (process) => processes.add(1, { process }),
  };
}
