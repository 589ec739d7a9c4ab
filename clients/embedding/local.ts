/**
 * The embedded models of one server process: their files, one process for questions and one for passages, the vectors
 * of recent questions, and whether all of it works.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createEmbedder, EmbeddingFailed, ModelsUnusable, type Embedder } from './embedder.ts';
import { keptCharacters, models, type ModelName } from './vectors.ts';
import { abortable } from '../base/abortable.ts';

/** `reason`: why it failed, or what it waits for. */
export type EmbeddingState = { state: 'off' | 'starting' | 'ready' | 'failed'; reason?: string };

export type LocalOptions = {
  /** Obtains the folder with the models and checks it. `report` gets lines of progress. */
  obtain(report: (line: string) => void, signal: AbortSignal): Promise<string>;
  /** Whether the process for questions starts as soon as the models are there. */
  warm?: boolean | undefined;
  /** Called when the state has changed. */
  onState?: ((state: EmbeddingState) => void) | undefined;
  /** A monotonic clock in ms. */
  now?: (() => number) | undefined;
  /** How long a question may wait for its vector, ms. */
  questionMs?: number | undefined;
  /** The niceness of the process for passages, 0 to 19. */
  niceness?: number | undefined;
  /** How long an idle process is kept, ms. */
  idleMs?: number | undefined;
  meter?: EmbeddingMeter | undefined;
};

export type EmbeddedKind = 'question' | 'passage' | 'sentence';

/** Counts the work of the embedded models. */
export type EmbeddingMeter = {
  /** `seconds` from the call to its last vector. */
  made(kind: EmbeddedKind, texts: number, seconds: number): void;
  /** A call got no vectors. */
  failed(kind: EmbeddedKind): void;
  started(process: 'questions' | 'passages'): void;
};

export type Local = {
  /** The parts of a question by these models. @throws when they cannot be had in time. */
  parts(text: string, names: readonly ModelName[], signal?: AbortSignal): Promise<Float32Array[]>;
  sentences(texts: readonly string[]): Promise<Float32Array[]>;
  passages(texts: readonly { heading: string; text: string }[], signal?: AbortSignal): Promise<Float32Array[]>;
  state(): EmbeddingState;
  /** The ids of the present processes. */
  pids(): { questions: number | undefined; passages: number | undefined };
  close(): Promise<void>;
};

/** A vector takes 5 to 40 ms, and a process that has to be started first about 400. */
const defaultQuestionMs = 2_000;
/** A text that takes longer means a hanging process, which is killed. */
const hungMs = 5_000;
/** At nice 10 beside a busy core a long passage has taken seconds. */
const passageMs = 60_000;
/** Beside several processes for each core the models have taken half a minute to load. Nobody waits for them. */
const passageStartMs = 2 * passageMs;
/** How long the models are not asked when they cannot be opened, or when their processes have failed twice in a row. */
const pauseMs = 15_000;
/** The pause between two attempts to obtain the models. */
const retryMs = { first: 60_000, last: 3_600_000 };
/** How many questions' vectors are cached: 5 KiB each. */
const keptQuestions = 1_000;
/**
 * How many sentences' vectors are cached: 2 KiB each. Sentences of popular passages and descriptions of tools come
 * again.
 */
const keptSentences = 4_000;

/** `reason`: the last failure, if no vector was made since. */
type Process = { embedder: Embedder; failuresInARow: number; pausedUntil: number; reason: string | undefined };

type Parts = Map<ModelName, Promise<Float32Array>>;

export function createLocal(options: LocalOptions): Local {
  const { onState, meter, now = () => performance.now(), questionMs = defaultQuestionMs } = options;
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
    const idle = options.idleMs === undefined ? {} : { idleMs: options.idleMs };
    type Bounds = { timeoutMs: number; startMs?: number; niceness: number };
    const start = (name: 'questions' | 'passages', bounds: Bounds): Process => {
      const embedder = createEmbedder({
        ...idle,
        ...bounds,
        folder,
        threads: name === 'questions',
        onStart: () => meter?.started(name),
        onFailure: (failure) => onFailure(process, failure),
      });
      const process: Process = { embedder, failuresInARow: 0, pausedUntil: -Infinity, reason: undefined };
      return process;
    };
    asking = start('questions', { timeoutMs: hungMs, niceness: 0 });
    reading = start('passages', {
      timeoutMs: passageMs,
      startMs: passageStartMs,
      niceness: options.niceness ?? 10,
    });
    if (options.warm !== true) become({ state: 'ready' });
    // Its failure is recorded like every other.
    else void run(asking, 'question', (it) => it.embed([{ kind: 'question', text: '' }])).catch(() => undefined);
  }

  /** A failing process is not asked for a while, so that not every question waits for it. */
  async function run(
    process: Process | undefined,
    kind: EmbeddedKind,
    ask: (embedder: Embedder) => Promise<Float32Array[]>,
  ): Promise<Float32Array[]> {
    const began = performance.now();
    try {
      if (process === undefined) throw new EmbeddingFailed(state.reason ?? 'The embedding models are not there yet.');
      if (now() < process.pausedUntil) throw new EmbeddingFailed('The embedding models failed a moment ago.');
      const given = await ask(process.embedder);
      meter?.made(kind, given.length, (performance.now() - began) / 1000);
      Object.assign(process, { failuresInARow: 0, reason: undefined });
      tell();
      return given;
    } catch (error) {
      meter?.failed(kind);
      throw error;
    }
  }

  function onFailure(process: Process, failure: EmbeddingFailed): void {
    process.failuresInARow += 1;
    if (process.failuresInARow > 1 || failure instanceof ModelsUnusable) process.pausedUntil = now() + pauseMs;
    process.reason = failure.message;
    tell();
  }

  /** One failing process makes the whole state `failed`. */
  function tell(): void {
    const reason = asking?.reason ?? reading?.reason;
    become(reason === undefined ? { state: 'ready' } : { state: 'failed', reason });
  }

  /** The parts of a question that are not cached are made in one call. */
  function makeParts(text: string, names: readonly ModelName[], known: Parts): void {
    const missing = names.filter((name) => !known.has(name));
    if (missing.length === 0) return;
    // Others may wait for the same vector, so no single caller's signal ends it.
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
      it.embed(
        texts.map((text) => ({ kind: 'passage', text })),
        { models: ['use'], patient: true, signal: AbortSignal.timeout(questionMs) },
      ),
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
    passages: async (texts, signal) =>
      run(reading, 'passage', (it) =>
        it.embed(
          texts.map(({ text, heading }) => ({ kind: 'passage', text, heading })),
          { signal },
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
