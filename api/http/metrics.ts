/**
 * Prometheus metrics of an API process. `meter` receives the counts that any code records (clients/base/meter.ts).
 * Every label has a fixed set of values, so that no client can increase the number of time series.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { counters, histograms, type Meter } from '../../clients/base/meter.ts';

export type Metrics = ReturnType<typeof createMetrics>;
/** A gauge that is read at each scrape. `read` returns a value for each set of labels. */
export type Reading = {
  name: string;
  help: string;
  labels: readonly string[];
  read(): Promise<{ labels?: Record<string, string>; value: number }[]>;
};
export type SocketMetrics = ReturnType<typeof socketMetrics>;

/** `readings`: the gauges that are read from other systems at each scrape. */
export function createMetrics(readings: readonly Reading[] = []) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const sockets = {
    chat: socketMetrics('chat', 'the chat', registers),
    room: socketMetrics('room', 'rooms of interviews', registers),
    live: socketMetrics('live', 'members', registers),
  };
  for (const { name, help, labels, read } of readings)
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: labels,
        registers: [],
        async collect() {
          this.reset();
          // A failed read, for example because the read system is down, must not keep the other metrics from being
          // served.
          const values = await read().catch(() => undefined);
          if (values === undefined && labels.length === 0) this.set(Number.NaN);
          for (const { labels: of = {}, value } of values ?? []) this.set(of, value);
        },
      }),
    );
  return { registry, requests, sockets, meter: apiMeter(registers) };
}

function apiMeter(registers: Registry[]): Meter {
  const counted = new Map(
    Object.entries(counters).map(([name, { help, labels }]) => [
      name,
      new Counter({ name, help, labelNames: labels, registers }),
    ]),
  );
  const measured = new Map(
    Object.entries(histograms).map(([name, { help, labels, buckets }]) => [
      name,
      new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers }),
    ]),
  );
  return {
    count: (name, labels, by) => counted.get(name)!.inc(labels, by),
    observe: (name, labels, value) => measured.get(name)!.observe(labels, value),
  };
}

function socketMetrics(kind: 'chat' | 'room' | 'live', of: string, registers: Registry[]) {
  return {
    open: new Gauge({ name: `${kind}_sockets_open`, help: `Sockets of ${of} that are open now.`, registers }),
    sent: new Counter({
      name: `${kind}_frames_sent_total`,
      help: `Frames that were sent to sockets of ${of}, by their type.`,
      labelNames: ['type'] as const,
      registers,
    }),
    received: new Counter({
      name: `${kind}_frames_received_total`,
      help: `Frames that sockets of ${of} have sent, by their type; \`invalid\` is one of no known type.`,
      labelNames: ['type'] as const,
      registers,
    }),
    closed: new Counter({
      name: `${kind}_sockets_closed_total`,
      help: `Sockets of ${of} that ended, by their close code; \`other\` is a code that only a client gives.`,
      labelNames: ['code'] as const,
      registers,
    }),
  };
}
