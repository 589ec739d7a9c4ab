/**
 * The process that runs the embedding models. It answers one text after another, in order, and is ended by a signal:
 * exiting during a run would abort it.
 */
import { openModels, type OpenedModels } from './model.ts';
import { openInThread } from './thread.ts';
import { modelNames, models, type EmbeddingText, type ModelName } from './vectors.ts';

export type Request = { id: number; text: EmbeddingText; models: readonly ModelName[] };
/** `ready` is sent once, before the first answer. */
export type Response = { ready: true } | { id: number; vector: Float32Array } | { id: number; error: string };

const send = (response: Response): void => void process.send?.(response);

const opened = await open(process.argv[2]!, process.argv[3] === 'threads').catch((error: Error) => {
  process.stderr.write(error.message);
  process.exit(1);
});

/**
 * `threads`: the last model, which takes two thirds of the time of the others, runs beside them in its own thread. A
 * question's vector is ready sooner when a core is idle, and costs no more when none is.
 */
async function open(folder: string, threads: boolean): Promise<OpenedModels> {
  if (!threads) return openModels(folder);
  const last = modelNames.at(-1)!;
  const opening = [openModels(folder, modelNames.slice(0, -1)), openInThread(folder, [last])] as const;
  // This process must not end while the thread opens its model.
  await Promise.allSettled(opening);
  const [here, beside] = await Promise.all(opening);
  return {
    async embed(text, names) {
      if (!names.includes(last)) return here.embed(text, names);
      const others = names.filter((name) => name !== last);
      // The thread must begin before a run blocks this one.
      const making = [beside.embed(text, [last]), here.embed(text, others)] as const;
      // The thread takes the next text only when it has finished this one, even when another model refused it.
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
// The parent process is gone.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
send({ ready: true });
