/**
 * The process that runs the embedding models. It answers one text after another, in order. The parent ends this process
 * with a signal, because `process.exit` during a model run would crash the process.
 */
import { openModels, type OpenedModels } from './model.ts';
import { openInThread } from './thread.ts';
import { modelNames, models, type EmbeddingText, type ModelName } from './vectors.ts';

export type Request = { id: number; text: EmbeddingText; models: readonly ModelName[] };
/** `ready` is sent once, before the first response. */
export type Response = { ready: true } | { id: number; vector: Float32Array } | { id: number; error: string };

const send = (response: Response): void => void process.send?.(response);

const opened = await open(process.argv[2]!, process.argv[3] === 'threads').catch((error: Error) => {
  process.stderr.write(error.message);
  process.exit(1);
});

/**
 * Opens the models. `threads`: the last model, which takes two thirds as long as the others together, runs in its own
 * thread. A question's vector is then ready sooner if a core is idle, and costs no more if none is.
 */
async function open(folder: string, threads: boolean): Promise<OpenedModels> {
  if (!threads) return openModels(folder);
  const last = modelNames.at(-1)!;
  const opening = [openModels(folder, modelNames.slice(0, -1)), openInThread(folder, [last])] as const;
  // Both promises must settle first, so that a failure does not end this process while the thread is opening its model.
  await Promise.allSettled(opening);
  const [here, beside] = await Promise.all(opening);
  return {
    async embed(text, names) {
      if (!names.includes(last)) return here.embed(text, names);
      const others = names.filter((name) => name !== last);
      // The other thread gets its text first, because a model run blocks this thread.
      const making = [beside.embed(text, [last]), here.embed(text, others)] as const;
      // Both promises must settle, even after an error, because the thread takes one text at a time.
      await Promise.allSettled(making);
      const [end, start] = await Promise.all(making);
      const vector = new Float32Array(start.length + models[last].dimensions);
      vector.set(start);
      vector.set(end, start.length);
      return vector;
    },
  };
}

const waiting: Request[] = [];
let working = false;

async function answerAll(): Promise<void> {
  working = true;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { id, text, models } = next;
    try {
      send({ id, vector: await opened.embed(text, models) });
    } catch (error) {
      send({ id, error: String(error) });
    }
  }
  working = false;
}

process.on('message', (request: Request) => {
  waiting.push(request);
  if (!working) void answerAll();
});
// `disconnect` means that the parent process has ended, so this process ends too.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
send({ ready: true });
