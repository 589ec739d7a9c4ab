/** Metrics of a worker process. They are served along with Temporal's own, at WORKER_METRICS_PORT. */
import type { MetricMeter } from '@temporalio/common';
import { counters, histograms, type Meter } from '../clients/base/meter.ts';
import type { EmbeddingMeter } from '../clients/embedding/embedding.ts';

/** The histograms measure seconds, but Temporal's default buckets are for milliseconds. */
export const histogramBuckets: Record<string, number[]> = {
  embedding_seconds: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
  ...Object.fromEntries(Object.entries(histograms).map(([name, { buckets }]) => [name, [...buckets]])),
};

/** A meter whose counters and histograms are served together with Temporal's metrics. */
export function workerMeter(metrics: MetricMeter): Meter {
  const counted = mapped(counters, (name, { help }) => metrics.createCounter(name, '1', help));
  const measured = mapped(histograms, (name, { help }) => metrics.createHistogram(name, 'float', 's', help));
  return {
    count: (name, labels, by) => counted[name].add(by, labels),
    observe: (name, labels, value) => measured[name].record(value, labels),
  };
}

const mapped = <K extends string, V, R>(table: Readonly<Record<K, V>>, make: (name: K, value: V) => R) =>
  Object.fromEntries(Object.entries<V>(table).map(([name, value]) => [name, make(name as K, value)])) as Record<K, R>;

/** A meter for the embedding models. Its metrics have the same names as in an API process. */
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
