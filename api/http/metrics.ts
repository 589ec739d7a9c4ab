/**
 * Prometheus metrics of an API process. Code that counts gets its counters as arguments. Every label has a fixed set of
 * values, so that no client can increase the number of time series.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EmbeddingMeter } from '../../clients/embedding/embedding.ts';

export type Metrics = ReturnType<typeof createMetrics>;
/** The metrics of one kind of sockets. */
export type SocketMetrics = ReturnType<typeof socketMetrics>;

/** `passagesToEmbed`: counts the passages that wait for their embeddings; called at each scrape. */
export function createMetrics(passagesToEmbed: () => Promise<number> = async () => 0) {
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
  };
  const waiting = new Gauge({
    name: 'knowledge_passages_to_embed',
    help: 'Passages of all organizations that are found by their words alone as yet; counted up to 10,000 documents and as many pages.',
    registers,
    async collect() {
      // When the database is down, the other metrics must still be served.
      this.set(await passagesToEmbed().catch(() => Number.NaN));
    },
  });
  return { registry, requests, sockets, waiting, embedding: embeddingMeter(registers) };
}

function socketMetrics(kind: 'chat' | 'room', of: string, registers: Registry[]) {
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

function embeddingMeter(registers: Registry[]): EmbeddingMeter {
  const labelNames = ['kind'] as const;
  const texts = new Counter({
    name: 'embedding_texts_total',
    help: 'Texts that the embedded models made vectors of.',
    labelNames,
    registers,
  });
  const seconds = new Histogram({
    name: 'embedding_seconds',
    help: 'Time for the vectors of one call: one question, or a batch of passages or sentences.',
    labelNames,
    buckets: [0.005, 0.01, 0.02, 0.04, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
    registers,
  });
  const failures = new Counter({
    name: 'embedding_failures_total',
    help: 'Calls that got no vectors.',
    labelNames,
    registers,
  });
  const processes = new Counter({
    name: 'embedding_processes_started_total',
    help: 'Processes that were started to run the embedded models.',
    labelNames: ['process'] as const,
    registers,
  });
  return {
    made(kind, count, took) {
      texts.inc({ kind }, count);
      seconds.observe({ kind }, took);
    },
    failed: (kind) => failures.inc({ kind }),
    started: (process) => processes.inc({ process }),
  };
}
