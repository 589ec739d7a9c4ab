/**
 * Runs some of the models in a separate thread. Ending a thread during a model run would crash the process, so the
 * thread lives as long as the process.
 */
/* oxlint-disable unicorn/require-post-message-target-origin -- threads of a process have no origin */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { openModels, type OpenedModels } from './model.ts';
import type { EmbeddingText, ModelName } from './vectors.ts';

type Start = { folder: string; names: readonly ModelName[] };
type Request = { text: EmbeddingText; names: readonly ModelName[] };
type Answer = { vector: Float32Array } | { error: string };

const heapMb = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/**
 * Opens these models in a thread. The caller must send one text at a time. @throws when the models cannot be opened.
 */
export async function openInThread(folder: string, names: readonly ModelName[]): Promise<OpenedModels> {
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { folder, names } satisfies Start,
    resourceLimits: heapMb,
  });
  await new Promise<void>((resolve, reject) => {
    thread.once('message', () => resolve());
    thread.once('error', reject);
  });
  // From here on an error of the thread ends the process, and the parent process starts another one.
  thread.removeAllListeners('error');
  return {
    embed: async (text, names) => {
      const answered = new Promise<Answer>((resolve) => thread.once('message', resolve));
      thread.postMessage({ text, names } satisfies Request);
      const answer = await answered;
      if ('error' in answer) throw new Error(answer.error);
      return answer.vector;
    },
  };
}

if (!isMainThread) {
  const { folder, names } = workerData as Start;
  const opened = await openModels(folder, names);
  parentPort!.on('message', ({ text, names: wanted }: Request) => {
    void opened.embed(text, wanted).then(
      (vector) => parentPort!.postMessage({ vector } satisfies Answer),
      (error: unknown) => parentPort!.postMessage({ error: String(error) } satisfies Answer),
    );
  });
  parentPort!.postMessage('ready');
}
