/**
 * The process that runs the embedding models. It answers one text after another, in the order in which they come, and is ended
 * by a signal: ending by itself during a run would abort it.
 */
import { openModels } from './model.ts';
import type { EmbeddingText, ModelName } from './vectors.ts';

export type Request = { id: number; text: EmbeddingText; models: readonly ModelName[] };
/** `ready` comes once, before the first answer. */
export type Response = { ready: true } | { id: number; vector: Float32Array } | { id: number; error: string };

const send = (response: Response): void => void process.send?.(response);

const opened = await openModels(process.argv[2]!).catch((error: Error) => {
  process.stderr.write(error.message);
  process.exit(1);
});
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
// The process that asks is gone.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
send({ ready: true });
