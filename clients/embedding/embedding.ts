/**
 * Texts to vectors, by the embedding models in a process of their own: a run would stop the caller's thread. The process is
 * started on demand, ended when it is idle, and killed when it does not answer in time; the next text starts another one.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Request, Response } from './child.ts';
import { maxCharacters, type EmbeddingText } from './vectors.ts';

export type EmbedderOptions = {
  /** What `findEmbedding` gave: the folder with the models. */
  folder: string;
  /** 0 for questions somebody waits for, 10 for passages in the background. */
  niceness?: number;
  /** How long one text may take from its turn on, ms; the first one of a process waits for the models to load, too. */
  timeoutMs?: number;
  /** How long the process is kept without work, ms. */
  idleMs?: number;
};

export type Embedder = {
  /**
   * Vectors of `dimensions` numbers in the texts' order. Only the first `maxCharacters` of a text are looked at.
   * @throws EmbeddingFailed when the process died or did not answer in time.
   */
  embed(texts: readonly EmbeddingText[]): Promise<Float32Array[]>;
  /** The process's id while there is one. */
  pid(): number | undefined;
  /** Ends the process; texts under way fail. */
  close(): Promise<void>;
};

/** No vector could be made; the texts are as they were, and asking again may work. */
export class EmbeddingFailed extends Error {
  override readonly name = 'EmbeddingFailed';
}

const entry = fileURLToPath(new URL('child.ts', import.meta.url));
const defaultTimeoutMs = 10_000;
const defaultIdleMs = 5 * 60_000;
/** Characters kept of what the process says before it dies. */
const maxWords = 500;

type Waiting = { text: EmbeddingText; resolve(vector: Float32Array): void; reject(error: Error): void };

export function createEmbedder(options: EmbedderOptions): Embedder {
  let current: EmbeddingProcess | undefined;
  const running = (): EmbeddingProcess => {
    if (current === undefined || current.ended) current = new EmbeddingProcess(options);
    return current;
  };
  return {
    embed: (texts) => {
      if (texts.length === 0) return Promise.resolve([]);
      const process = running();
      return Promise.all(texts.map((text) => process.ask(cut(text))));
    },
    pid: () => (current?.ended ? undefined : current?.pid),
    close: async () => current?.end(new EmbeddingFailed('The embedding process was closed.')),
  };
}

function cut({ kind, text, heading }: EmbeddingText): EmbeddingText {
  return { kind, text: text.slice(0, maxCharacters), heading: heading?.slice(0, maxCharacters) };
}

/** One process from its start to its end. */
class EmbeddingProcess {
  ended = false;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #timeoutMs: number;
  readonly #idleMs: number;
  /** In the order in which they are answered. */
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ folder, niceness = 0, timeoutMs = defaultTimeoutMs, idleMs = defaultIdleMs }: EmbedderOptions) {
    this.#timeoutMs = timeoutMs;
    this.#idleMs = idleMs;
    this.#child = fork(entry, [folder], {
      // Nothing of ours: it needs no secret, and what it parses was written by strangers.
      env: {},
      execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=96'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    if (niceness !== 0 && this.#child.pid !== undefined) setPriority(this.#child.pid, niceness);
    this.#child.on('message', (message) => this.#answered(message as Response));
    this.#child.on(
      'error',
      (error) => void this.end(new EmbeddingFailed('The embedding process failed.', { cause: error })),
    );
    let words = '';
    this.#child.stderr?.on('data', (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-maxWords)));
    this.#gone = new Promise((resolve) => {
      // `close` comes when all that it wrote has been read.
      this.#child.once('close', (code, signal) => {
        const why = words === '' ? '' : `: ${words.trim()}`;
        this.#fail(new EmbeddingFailed(`The embedding process ended with ${signal ?? code}${why}`));
        resolve();
      });
    });
    // The caller may end while this waits for work.
    this.#hold(false);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  ask(text: EmbeddingText): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { text, resolve, reject });
      if (this.#waiting.size === 1) this.#begin();
      this.#child.send({ id, text } satisfies Request, (error) => {
        if (error) this.#settle(id)?.reject(new EmbeddingFailed('The embedding process is gone.', { cause: error }));
      });
    });
  }

  async end(reason: EmbeddingFailed): Promise<void> {
    this.#fail(reason);
    this.#hold(true);
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #answered(response: Response): void {
    if ('ready' in response) return this.#begin();
    const waiting = this.#settle(response.id);
    if ('vector' in response) waiting?.resolve(response.vector);
    else waiting?.reject(new EmbeddingFailed(response.error));
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#begin();
    return waiting;
  }

  /** Times the text whose turn it is, or the time without work. */
  #begin(): void {
    if (this.ended) return;
    clearTimeout(this.#timer);
    const busy = this.#waiting.size > 0;
    const reason = busy ? 'The embedding process did not answer in time.' : 'The embedding process was idle.';
    this.#timer = setTimeout(() => void this.end(new EmbeddingFailed(reason)), busy ? this.#timeoutMs : this.#idleMs);
    if (!busy) this.#timer.unref();
    this.#hold(busy);
  }

  #fail(reason: EmbeddingFailed): void {
    this.ended = true;
    clearTimeout(this.#timer);
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(reason);
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
