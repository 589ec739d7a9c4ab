/**
 * The embedded models of one server process: their files, a process for questions and one for passages, the vectors of recent
 * questions, and whether all that works.
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
  /** Whether the process for questions is started as soon as the models are there. */
  warm?: boolean | undefined;
  /** The state has changed. */
  onState?: ((state: EmbeddingState) => void) | undefined;
  /** ms since some moment. */
  now?: (() => number) | undefined;
  /** How long a question may wait for its vector, ms. */
  questionMs?: number | undefined;
  /** How long a process is kept without work, ms. */
  idleMs?: number | undefined;
};

export type Local = {
  /** The parts of a question by these models. @throws when they cannot be had in time. */
  parts(text: string, names: readonly ModelName[], signal?: AbortSignal): Promise<Float32Array[]>;
  sentences(texts: readonly string[]): Promise<Float32Array[]>;
  passages(texts: readonly { heading: string; text: string }[], signal?: AbortSignal): Promise<Float32Array[]>;
  state(): EmbeddingState;
  /** The ids of the processes that there are now. */
  pids(): { questions: number | undefined; passages: number | undefined };
  close(): Promise<void>;
};

/** A vector takes 5 to 40 ms, and a process that has to be started first about 400. */
const defaultQuestionMs = 2_000;
/** A text that takes longer has met a process that hangs; it is killed. */
const hungMs = 5_000;
/** At nice 10 beside a busy core a long passage has taken seconds. */
const passageMs = 60_000;
/** How long nothing is asked of models that cannot be opened, or whose processes failed twice in a row. */
const pauseMs = 15_000;
/** Between two attempts to obtain the models. */
const retryMs = { first: 60_000, last: 3_600_000 };
/** Questions whose vectors are kept: 5 KiB each. */
const keptQuestions = 1_000;

type Parts = Map<ModelName, Promise<Float32Array>>;

export function createLocal(options: LocalOptions): Local {
  const { onState, now = () => performance.now(), questionMs = defaultQuestionMs } = options;
  const closing = new AbortController();
  const kept = new LRUCache<string, Parts>({ max: keptQuestions });
  let asking: Embedder | undefined;
  let reading: Embedder | undefined;
  let state: EmbeddingState = { state: 'starting' };
  /** Of processes, without a vector in between. */
  let failuresInARow = 0;
  let pausedUntil = -Infinity;

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
    const common = { folder, onFailure, ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }) };
    asking = createEmbedder({ ...common, timeoutMs: hungMs });
    reading = createEmbedder({ ...common, timeoutMs: passageMs, niceness: 10 });
    if (options.warm !== true) become({ state: 'ready' });
    // Its failure is noted as every other.
    else void run(asking, (it) => it.embed([{ kind: 'question', text: '' }])).catch(() => undefined);
  }

  /** While a process is failing nothing is asked of it, so that not every question waits for it. */
  async function run<T>(embedder: Embedder | undefined, ask: (embedder: Embedder) => Promise<T>): Promise<T> {
    if (embedder === undefined) throw new EmbeddingFailed(state.reason ?? 'The embedding models are not there yet.');
    if (now() < pausedUntil) throw new EmbeddingFailed('The embedding models failed a moment ago.');
    const given = await ask(embedder);
    failuresInARow = 0;
    become({ state: 'ready' });
    return given;
  }

  function onFailure(failure: EmbeddingFailed): void {
    failuresInARow += 1;
    if (failuresInARow > 1 || failure instanceof ModelsUnusable) pausedUntil = now() + pauseMs;
    become({ state: 'failed', reason: failure.message });
  }

  /** The parts of a question that are not kept yet are made together. */
  function makeParts(text: string, names: readonly ModelName[], known: Parts): void {
    const missing = names.filter((name) => !known.has(name));
    if (missing.length === 0) return;
    // Others may wait for the same vector, so no caller's own signal ends it.
    const signal = AbortSignal.timeout(questionMs);
    const made = run(asking, (it) => it.embed([{ kind: 'question', text }], { models: missing, signal }));
    let from = 0;
    for (const name of missing) {
      const at = from;
      from += models[name].dimensions;
      const part = made.then(([vector]) => vector!.slice(at, at + models[name].dimensions));
      known.set(name, part);
      part.catch(() => known.delete(name));
    }
  }

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
    sentences: async (texts) =>
      run(asking, (it) =>
        it.embed(
          texts.map((text) => ({ kind: 'passage', text })),
          { models: ['use'], patient: true, signal: AbortSignal.timeout(questionMs) },
        ),
      ),
    passages: async (texts, signal) =>
      run(reading, (it) =>
        it.embed(
          texts.map(({ text, heading }) => ({ kind: 'passage', text, heading })),
          { signal },
        ),
      ),
    state: () => state,
    pids: () => ({ questions: asking?.pid(), passages: reading?.pid() }),
    async close() {
      closing.abort();
      await Promise.all([asking?.close(), reading?.close()]);
    },
  };
}
