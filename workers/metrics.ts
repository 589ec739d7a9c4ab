/** Metrics of a worker process. They are served along with Temporal's own, at WORKER_METRICS_PORT. */
import type { MetricMeter } from '@temporalio/common';
import { counters, histograms, type Meter } from '../clients/base/meter.ts';

/** The histograms measure seconds, but Temporal's default buckets are for milliseconds. */
export const histogramBuckets: Record<string, number[]> = Object.fromEntries(
  Object.entries(histograms).map(([name, { buckets }]) => [name, [...buckets]]),
);

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
