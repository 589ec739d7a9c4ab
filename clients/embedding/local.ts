/**
 * The embedded models of one server process. They run in one child process for questions and one for passages. If
 * `urls` is set, they run in embedding services (service.ts) instead. This file obtains the models, caches recent
 * vectors and reports the models' state.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createEmbedder, EmbeddingFailed, ModelsUnusable, passagesNiceness, type Embedder } from './embedder.ts';
import { createRemoteEmbedder } from './remote.ts';
import { keptCharacters, models, type BackgroundOptions, type EmbeddingText, type ModelName } from './vectors.ts';
import { abortable } from '../base/abortable.ts';
import { count, observe } from '../base/meter.ts';

/** `reason`: the failure, or what the start is waiting for. */
export type EmbeddingState = { state: 'off' | 'starting' | 'ready' | 'failed'; reason?: string };

export type LocalOptions = {
  /** Finds or downloads the folder with the models and verifies it. `report` receives lines of progress. */
  obtain(report: (line: string) => void, signal: AbortSignal): Promise<string>;
  /**
   * The base URLs of embedding services. If there are any, they compute the vectors, and this process obtains no
   * models.
   */
  urls?: readonly string[] | undefined;
  /** Whether the process for questions starts as soon as the models are available. */
  warm?: boolean | undefined;
  onState?: ((state: EmbeddingState) => void) | undefined;
  /** A monotonic clock in ms. */
  now?: (() => number) | undefined;
  /** How long a question waits for its vector, in ms. */
  questionMs?: number | undefined;
  /** The niceness of the process for passages, 0 to 19; by default `passagesNiceness`. */
  niceness?: number | undefined;
};

export type Local = {
  /** The vectors of a question by these models. @throws when they are not ready in time. */
  parts(text: string, names: readonly ModelName[], signal?: AbortSignal): Promise<Float32Array[]>;
  /**
   * The vectors of sentences by USE alone, 512 numbers each, about 0.8 ms a sentence. @throws when they are not ready
   * in time.
   */
  sentences(texts: readonly string[]): Promise<Float32Array[]>;
  /**
   * The vectors of sentences for the index, by the model USE alone. The process for passages computes them; they are
   * not cached. @throws when they cannot be computed.
   */
  storedSentences(texts: readonly string[], options?: BackgroundOptions): Promise<Float32Array[]>;
  passages(texts: readonly { heading: string; text: string }[], options?: BackgroundOptions): Promise<Float32Array[]>;
  state(): EmbeddingState;
  pids(): { questions: number | undefined; passages: number | undefined };
  close(): Promise<void>;
};

/**
 * A question waits this long for its vector, in ms. The vector takes 5 to 40 ms; starting the process first takes about
 * 400 ms. The remaining time is for earlier questions in the queue: on a busy system, a late vector is better than
 * none. A hanging process is killed earlier (`hungMs`), and a new process continues.
 */
const defaultQuestionMs = 10_000;
/** A process that takes longer than this for one text, in ms, counts as hanging and is killed. */
const hungMs = 5_000;
/**
 * A process that takes longer than this for one passage, in ms, is killed. A long passage, at niceness 10 on a busy
 * core, has taken seconds.
 */
const passageMs = 60_000;
/**
 * Time limit for starting the process for passages, in ms. With several busy processes for each core, loading the
 * models has taken half a minute. No customer waits for passages.
 */
const passageStartMs = 2 * passageMs;
/**
 * How long the models are not called, in ms, after they could not be opened or after their process has failed twice in
 * a row.
 */
const pauseMs = 15_000;
/**
 * Time limits of one call to a service, in ms. A call for passages contains a whole batch of passages. `nextAfterMs`:
 * after this time without an answer, the next host is asked too.
 */
const remoteBounds = {
  questions: { timeoutMs: hungMs, nextAfterMs: 500 },
  passages: { timeoutMs: 10 * passageMs, nextAfterMs: 2 * passageMs },
};
/** The backoff between attempts to obtain the models. */
const retryMs = { first: 60_000, last: 3_600_000 };
/** The number of questions whose vectors are cached: 5 KiB each. */
const keptQuestions = 1_000;
/**
 * The number of sentences whose vectors are cached: 2 KiB each. Sentences of popular passages and descriptions of tools
 * recur.
 */
const keptSentences = 4_000;

/** `reason`: the last failure, until a call succeeds. */
type Process = { embedder: Embedder; failuresInARow: number; pausedUntil: number; reason: string | undefined };

type Parts = Map<ModelName, Promise<Float32Array>>;

const asPassages = (texts: readonly string[]): EmbeddingText[] => texts.map((text) => ({ kind: 'passage', text }));

export function createLocal(options: LocalOptions): Local {
  const { onState, now = () => performance.now(), questionMs = defaultQuestionMs, urls = [] } = options;
  const closing = new AbortController();
  const kept = new LRUCache<string, Parts>({ max: keptQuestions });
  const sentences = new LRUCache<string, Float32Array>({ max: keptSentences });
  let asking: Process | undefined;
  let reading: Process | undefined;
  let state: EmbeddingState = { state: 'starting' };

  const become = (next: EmbeddingState): void => {
    if (next.state === state.state && next.reason === state.reason) return;
    state = next;
    if (!closing.signal.aborted) onState?.(next);
  };

  async function obtain(): Promise<void> {
    for (let pause = retryMs.first; !closing.signal.aborted; pause = Math.min(pause * 2, retryMs.last)) {
      try {
        if (urls.length > 0) return open('');
        const folder = await options.obtain(
          (reason) => state.state === 'starting' && become({ state: 'starting', reason }),
          closing.signal,
        );
        open(folder);
        return;
      } catch (error) {
        become({ state: 'failed', reason: (error as Error).message });
        await sleep(pause, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  function open(folder: string): void {
    if (closing.signal.aborted) return;
    type Bounds = { timeoutMs: number; startMs?: number; niceness: number };
    const start = (name: 'questions' | 'passages', bounds: Bounds): Process => {
      const failed = (failure: EmbeddingFailed): void => onFailure(process, failure);
      const embedder =
        urls.length > 0
          ? createRemoteEmbedder({ urls, pool: name, ...remoteBounds[name], onFailure: failed })
          : createEmbedder({
              ...bounds,
              folder,
              threads: name === 'questions',
              onStart: () => count('embedding_processes_started_total', { process: name }),
              onFailure: failed,
            });
      const process: Process = { embedder, failuresInARow: 0, pausedUntil: -Infinity, reason: undefined };
      return process;
    };
    asking = start('questions', { timeoutMs: hungMs, niceness: 0 });
    reading = start('passages', {
      timeoutMs: passageMs,
      startMs: passageStartMs,
      niceness: options.niceness ?? passagesNiceness,
    });
    if (options.warm !== true) become({ state: 'ready' });
    // This warm-up call loads the models. Its failure is recorded like that of any other call.
    else void run(asking, 'question', (it) => it.embed([{ kind: 'question', text: '' }])).catch(() => undefined);
  }

  /**
   * Calls a process. After repeated failures calls fail at once for a while, so that questions do not wait for a broken
   * process.
   */
  async function run(
    process: Process | undefined,
    kind: 'question' | 'passage' | 'sentence',
    ask: (embedder: Embedder) => Promise<Float32Array[]>,
  ): Promise<Float32Array[]> {
    const began = performance.now();
    try {
      if (process === undefined) throw new EmbeddingFailed(state.reason ?? 'The embedding models are not there yet.');
      if (now() < process.pausedUntil) throw new EmbeddingFailed('The embedding models failed a moment ago.');
      const given = await ask(process.embedder);
      count('embedding_texts_total', { kind }, given.length);
      observe('embedding_seconds', { kind }, (performance.now() - began) / 1_000);
      Object.assign(process, { failuresInARow: 0, reason: undefined });
      tell();
      return given;
    } catch (error) {
      count('embedding_failures_total', { kind });
      throw error;
    }
  }

  function onFailure(process: Process, failure: EmbeddingFailed): void {
    process.failuresInARow += 1;
    if (process.failuresInARow > 1 || failure instanceof ModelsUnusable) process.pausedUntil = now() + pauseMs;
    process.reason = failure.message;
    tell();
  }

  /** Updates the state; one failing process makes it `failed`. */
  function tell(): void {
    const reason = asking?.reason ?? reading?.reason;
    become(reason === undefined ? { state: 'ready' } : { state: 'failed', reason });
  }

  /** Computes the missing parts of a question's vector in one call. */
  function makeParts(text: string, names: readonly ModelName[], known: Parts): void {
    const missing = names.filter((name) => !known.has(name));
    if (missing.length === 0) return;
    // Other callers may wait for the same vector, so one caller's signal must not abort the call.
    const signal = AbortSignal.timeout(questionMs);
    const made = run(asking, 'question', (it) => it.embed([{ kind: 'question', text }], { models: missing, signal }));
    let from = 0;
    for (const name of missing) {
      const at = from;
      from += models[name].dimensions;
      const part = made.then(([vector]) => vector!.slice(at, at + models[name].dimensions));
      known.set(name, part);
      part.catch(() => known.delete(name));
    }
  }

  const makeSentences = async (texts: readonly string[]): Promise<Float32Array[]> =>
    run(asking, 'sentence', (it) =>
      it.embed(asPassages(texts), { models: ['use'], signal: AbortSignal.timeout(questionMs) }),
    );

  void obtain();
  return {
    async parts(text, names, signal) {
      signal?.throwIfAborted();
      const known = kept.get(text) ?? new Map<ModelName, Promise<Float32Array>>();
      if (text.length <= keptCharacters) kept.set(text, known);
      makeParts(text, names, known);
      const made = Promise.all(names.map((name) => known.get(name)!));
      return signal === undefined ? made : abortable(made, signal);
    },
    async sentences(texts) {
      const vectors = new Map(texts.map((text) => [text, sentences.get(text)]));
      const missing = [...vectors.keys()].filter((text) => vectors.get(text) === undefined);
      const made = missing.length === 0 ? [] : await makeSentences(missing);
      for (const [at, vector] of made.entries()) {
        const text = missing[at]!;
        vectors.set(text, vector);
        if (text.length <= keptCharacters) sentences.set(text, vector);
      }
      return texts.map((text) => vectors.get(text)!);
    },
    storedSentences: async (texts, options) =>
      run(reading, 'sentence', (it) => it.embed(asPassages(texts), { models: ['use'], ...options })),
    passages: async (texts, options) =>
      run(reading, 'passage', (it) =>
        it.embed(
          texts.map(({ text, heading }) => ({ kind: 'passage', text, heading })),
          options,
        ),
      ),
    state: () => state,
    pids: () => ({ questions: asking?.embedder.pid(), passages: reading?.embedder.pid() }),
    async close() {
      closing.abort();
      await Promise.all([asking?.embedder.close(), reading?.embedder.close()]);
    },
  };
}
