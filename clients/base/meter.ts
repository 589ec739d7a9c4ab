/**
 * The metrics of a process, for Prometheus. Any code may record them. The receiver is set once when the process starts
 * (`useMeter`); without one the metrics are dropped. Every label has a fixed set of values, so that nobody can increase
 * the number of time series. Names and units follow Prometheus: seconds, and `_total` for counters.
 */

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const longSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

export const counters = {
  messages_received_total: { help: 'Messages of customers that were taken up.', labels: ['mode'] },
  answers_total: {
    help: 'Messages by how they were answered: `answered`, `offered` (what may help), `missed` (nothing found), `person_called`, `left` (to a member).',
    labels: ['outcome'],
  },
  tool_calls_total: { help: 'Tool calls that ended, by outcome.', labels: ['outcome'] },
  delivery_attempts_total: { help: 'Attempts at deliveries, by kind and outcome.', labels: ['kind', 'outcome'] },
  inbound_events_total: { help: 'Events of other services, by what came of them.', labels: ['provider', 'outcome'] },
  crawl_pages_total: { help: 'Pages of crawls, by what came of them.', labels: ['outcome'] },
  quota_refusals_total: { help: 'What was refused because a quota of an organization is used up.', labels: ['quota'] },
  model_calls_total: { help: 'Requests to the language model, by outcome.', labels: ['outcome'] },
  model_tokens_total: { help: 'Tokens that the language model read and wrote, as it says.', labels: ['direction'] },
  embedding_texts_total: { help: 'Texts that the embedded models made vectors of.', labels: ['kind'] },
  embedding_failures_total: { help: 'Calls of the embedded models that got no vectors.', labels: ['kind'] },
  embedding_processes_started_total: {
    help: 'Processes that were started to run the embedded models.',
    labels: ['process'],
  },
  model_fallbacks_total: { help: 'Jobs that were done without the model because it failed.', labels: ['job'] },
} as const satisfies Record<string, { help: string; labels: readonly string[] }>;

export const histograms = {
  answer_first_words_seconds: {
    help: 'Time from the arrival of a message to the first words of its answer.',
    labels: [],
    buckets: seconds,
  },
  delivery_lag_seconds: {
    help: 'Time from an event to its arrival at the destination.',
    labels: ['kind'],
    buckets: longSeconds,
  },
  inbound_lag_seconds: {
    help: 'Time from the arrival of an event of another service to the end of its processing.',
    labels: ['provider'],
    buckets: longSeconds,
  },
  embedding_seconds: {
    help: 'Time for the vectors of one call: one question, or a batch of passages or sentences.',
    labels: ['kind'],
    buckets: [0.005, 0.01, 0.02, 0.04, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  },
  model_call_seconds: { help: 'Time of a request to the language model.', labels: [], buckets: seconds },
} as const satisfies Record<string, { help: string; labels: readonly string[]; buckets: readonly number[] }>;

export type Counted = keyof typeof counters;
export type Measured = keyof typeof histograms;
export type Labels<Name extends Counted | Measured> = Record<
  (typeof counters & typeof histograms)[Name]['labels'][number],
  string
>;

export type Meter = {
  count(name: Counted, labels: Record<string, string>, by: number): void;
  observe(name: Measured, labels: Record<string, string>, value: number): void;
};

let meter: Meter = { count: () => undefined, observe: () => undefined };
export const useMeter = (chosen: Meter): void => void (meter = chosen);

export const count = <Name extends Counted>(name: Name, labels: Labels<Name>, by = 1): void =>
  meter.count(name, labels, by);
/** `value` is in seconds. */
export const observe = <Name extends Measured>(name: Name, labels: Labels<Name>, value: number): void =>
  meter.observe(name, labels, value);
