/**
 * Computes vectors of texts with the embedding models in a separate process, because a model run would block the
 * caller's thread. The process is started on demand and ended when idle. A process that does not answer in time is
 * killed: its current text fails, and a new process handles the other texts.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Request, Response } from './child.ts';
import { maxCharacters, modelNames, type EmbeddingText, type ModelName } from './vectors.ts';
import { inBackground, stepBack } from '../base/background.ts';

export type EmbedderOptions = {
  /** The folder that contains the models. */
  folder: string;
  /** The process's niceness; 0 by default, because a customer waits for a question's vector. */
  niceness?: number;
  /** Whether the models run in parallel on two cores for each text, or one after the other on one core. */
  threads?: boolean;
  /** Time limit for one text, in ms, without the text's time in the queue. */
  timeoutMs?: number;
  /** Time limit for loading the models, in ms. */
  startMs?: number;
  /** An idle process is ended after this time, in ms. */
  idleMs?: number;
  /** Called after each start of a process. */
  onStart?: () => void;
  /** Called when a process ended, except after idleness or `close`. */
  onFailure?: (failure: EmbeddingFailed) => void;
};

export type EmbedOptions = {
  /** The models to use, in the order of `modelNames`; all by default. The vector's parts have the same order. */
  models?: readonly ModelName[];
  /** When the signal fires, texts that have not been started are dropped. */
  signal?: AbortSignal | undefined;
  /** Whether these texts have low priority: they wait until no other texts are waiting. */
  patient?: boolean;
};

export type Embedder = {
  /**
   * Returns vectors in the order of the texts. Only the first `maxCharacters` of each text are used. @throws
   * EmbeddingFailed when the process died or timed out on one of these texts; the signal's reason when it fired.
   */
  embed(texts: readonly EmbeddingText[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** The process id; undefined when no process is running. */
  pid(): number | undefined;
  /** Ends the process; running texts fail. */
  close(): Promise<void>;
};

/** No vector could be computed; a retry may succeed. */
export class EmbeddingFailed extends Error {
  override readonly name = 'EmbeddingFailed';
}

/** The models could not be opened; another process would fail too. */
export class ModelsUnusable extends EmbeddingFailed {}

/** The process ended because the caller closed it or it was idle. */
class EmbeddingEnded extends EmbeddingFailed {}

/** The models rejected this text; the process goes on. */
export class TextRefused extends EmbeddingFailed {}

/** The niceness of a process for passages, in the background: it leaves the processor to questions. */
export const passagesNiceness = 10;

const entry = fileURLToPath(new URL('child.ts', import.meta.url));
const defaultTimeoutMs = 10_000;
const defaultStartMs = 30_000;
const defaultIdleMs = 5 * 60_000;
/**
 * Settings for glibc's `malloc`: it uses one arena, reuses blocks of up to 16 MiB, and returns memory to the system
 * when more than 32 MiB are free. The attention scores of a layer need a block of 4.3 MB at 300 tokens and of 12.6 MB
 * at 512. By default glibc gets each block of this size from the system, which clears it. A passage of 300 tokens then
 * takes two and a half times as long in bge, and a fifth longer in me5.
 */
const memoryBounds = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(16 * 2 ** 20),
  MALLOC_TRIM_THRESHOLD_: String(32 * 2 ** 20),
};
/** The number of characters kept of the process's error output (`stderr`), for the failure message. */
const maxWords = 500;
/**
 * The process holds at most this many texts: the current one and the next one, which then starts without a delay. More
 * would waste work after an abort.
 */
const maxSent = 2;

type Work = Omit<Request, 'id'> & {
  patient: boolean;
  /** All texts of the call; when one fails, the call fails. */
  call: readonly Work[];
  /** Whether the caller has given up on this text. */
  left: boolean;
  resolve(vector: Float32Array): void;
  reject(error: Error): void;
};

/**
 * The texts that no process holds yet, in processing order. When a process ends, the queue remains for the next one.
 */
class Queue {
  #urgent = new Set<Work>();
  #patient = new Set<Work>();

  get isEmpty(): boolean {
    return this.#urgent.size + this.#patient.size === 0;
  }

  add(works: readonly Work[]): void {
    for (const work of works) (work.patient ? this.#patient : this.#urgent).add(work);
  }

  /** Puts texts at the front of the queue, because they have waited longest. */
  putBack(works: readonly Work[]): void {
    const [urgent, patient] = [this.#urgent, this.#patient];
    [this.#urgent, this.#patient] = [new Set(), new Set()];
    this.add(works.filter(({ left }) => !left));
    this.add([...urgent, ...patient]);
  }

  next(): Work | undefined {
    const [work] = this.#urgent.size > 0 ? this.#urgent : this.#patient;
    if (work !== undefined) this.#remove(work);
    return work;
  }

  /** Rejects the texts and removes those not yet sent. The results of texts already sent are ignored. */
  leave(works: readonly Work[], reason: Error): void {
    for (const work of works) {
      this.#remove(work);
      work.left = true;
      work.reject(reason);
    }
  }

  #remove(work: Work): void {
    this.#urgent.delete(work);
    this.#patient.delete(work);
  }

  fail(reason: Error): void {
    this.leave([...this.#urgent, ...this.#patient], reason);
  }
}

export function createEmbedder(options: EmbedderOptions): Embedder {
  const queue = new Queue();
  let current: EmbeddingProcess | undefined;
  /** Sends waiting texts to the process; starts one if none is running. */
  const work = (): void => {
    if (current === undefined || current.ended) {
      current = new EmbeddingProcess(options, queue, () => queue.isEmpty || work());
      options.onStart?.();
    }
    current.work();
  };
  return {
    embed: async (texts, { models = modelNames, signal, patient = false } = {}) => {
      signal?.throwIfAborted();
      if (texts.length === 0) return [];
      const works: Work[] = [];
      const vectors = texts.map(
        (text) =>
          new Promise<Float32Array>((resolve, reject) => {
            works.push({ text: cut(text), models, patient, call: works, left: false, resolve, reject });
          }),
      );
      const leave = (): void => queue.leave(works, signal!.reason as Error);
      signal?.addEventListener('abort', leave, { once: true });
      queue.add(works);
      work();
      return Promise.all(vectors).finally(() => signal?.removeEventListener('abort', leave));
    },
    pid: () => (current?.ended ? undefined : current?.pid),
    close: async () => current?.end(new EmbeddingEnded('The embedding process was closed.')),
  };
}

function cut({ kind, text, heading }: EmbeddingText): EmbeddingText {
  return { kind, text: text.slice(0, maxCharacters), heading: heading?.slice(0, maxCharacters) };
}

class EmbeddingProcess {
  ended = false;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #options: EmbedderOptions;
  readonly #queue: Queue;
  readonly #onEnd: () => void;
  #isReady = false;
  /** The texts sent to the process, in order; the process works on the first one. */
  readonly #sent = new Map<number, Work>();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EmbedderOptions, queue: Queue, onEnd: () => void) {
    const { folder, niceness = 0, threads = false } = options;
    this.#options = options;
    this.#queue = queue;
    this.#onEnd = onEnd;
    this.#child = fork(entry, [folder, ...(threads ? ['threads'] : [])], {
      // The environment of this process is not passed on: the new process parses untrusted texts and needs no secret.
      env: memoryBounds,
      execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=96', '--max-semi-space-size=2'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      ...(niceness > 0 ? inBackground : {}),
    });
    if (niceness > 0) stepBack(this.#child.pid, niceness);
    this.#child.on('message', (message) => this.#answered(message as Response));
    this.#child.on(
      'error',
      (error) => void this.end(new EmbeddingFailed('The embedding process failed.', { cause: error })),
    );
    let words = '';
    this.#child.stderr?.on('data', (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-maxWords)));
    this.#gone = new Promise((resolve) => {
      // `close` is emitted after all output has been read.
      this.#child.once('close', (code, signal) => {
        const why = words === '' ? '' : `: ${words.trim()}`;
        const sentence = `The embedding process ended with ${signal ?? code}${why}`;
        // The process exits with code 1 only when the models cannot be opened.
        this.#fail(this.#isReady || code !== 1 ? new EmbeddingFailed(sentence) : new ModelsUnusable(sentence));
        resolve();
      });
    });
    this.#limit(options.startMs ?? defaultStartMs, new ModelsUnusable('The embedding models did not load in time.'));
    // An idle child process must not keep the calling process alive.
    this.#hold(false);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  work(): void {
    this.#hold(true);
    this.#feed();
  }

  async end(reason: EmbeddingFailed): Promise<void> {
    this.#fail(reason);
    this.#hold(true);
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #answered(response: Response): void {
    if ('ready' in response) {
      this.#isReady = true;
      this.#begin();
      return this.#feed();
    }
    const work = this.#sent.get(response.id);
    this.#sent.delete(response.id);
    if (work !== undefined && 'vector' in response) work.resolve(response.vector);
    else if (work !== undefined) this.#queue.leave(work.call, new TextRefused((response as { error: string }).error));
    this.#feed();
    this.#begin();
  }

  /** Sends waiting texts until the process holds `maxSent`. */
  #feed(): void {
    if (!this.#isReady || this.ended) return;
    while (this.#sent.size < maxSent) {
      const work = this.#queue.next();
      if (work === undefined) return;
      const id = this.#next++;
      this.#sent.set(id, work);
      if (this.#sent.size === 1) this.#begin();
      const { text, models } = work;
      this.#child.send({ id, text, models } satisfies Request, (error) => {
        if (error) void this.end(new EmbeddingFailed('The embedding process is gone.', { cause: error }));
      });
    }
  }

  /** Starts the time limit of the current text, or the idle timer if there is no text. */
  #begin(): void {
    if (this.ended) return;
    const busy = this.#sent.size > 0;
    const { timeoutMs = defaultTimeoutMs, idleMs = defaultIdleMs } = this.#options;
    if (busy) this.#limit(timeoutMs, new EmbeddingFailed('The embedding process did not answer in time.'));
    else this.#limit(idleMs, new EmbeddingEnded('The embedding process was idle.'));
    this.#hold(busy);
  }

  #limit(ms: number, reason: EmbeddingFailed): void {
    clearTimeout(this.#timer);
    // The timer does not keep the calling process alive; a child process that has texts does (`#hold`).
    this.#timer = setTimeout(() => void this.end(reason), ms).unref();
  }

  #fail(reason: EmbeddingFailed): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.#timer);
    const wanted = !(reason instanceof EmbeddingEnded);
    if (wanted) this.#options.onFailure?.(reason);
    const [begun, ...others] = this.#sent.values();
    this.#sent.clear();
    if (begun !== undefined) this.#queue.leave(begun.call, reason);
    this.#queue.putBack(others);
    // When the caller closed the process or it was idle, the waiting texts fail. When it was never ready, they fail
    // too, because the next process would not become ready either.
    if (!wanted || !this.#isReady) this.#queue.fail(reason);
    this.#onEnd();
  }

  #hold(held: boolean): void {
    if (held) {
      this.#child.ref();
      this.#child.channel?.ref();
    } else {
      this.#child.unref();
      this.#child.channel?.unref();
    }
  }
}
