/**
 * Downloads and verifies the embedding models in a separate program. Downloads, conversions and checksums of hundreds
 * of megabytes must not run in a process that answers customers.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The program's messages: lines of progress, then the folder or the error. */
export type Said = { report: string } | { folder: string } | { error: string };

const program = fileURLToPath(new URL('../../engines/embedding/obtain.ts', import.meta.url));

/**
 * Verifies the models in the folder `given`. When `given` is undefined, the models in the cache folder are used, and
 * missing ones are downloaded. Returns the folder; `report` receives lines of progress. @throws when the models cannot
 * be obtained or their checksums are wrong.
 */
export async function obtainModels(
  given: string | undefined,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const child = fork(program, given === undefined ? [] : [given], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let words = '';
  child.stderr?.on('data', (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-500)));
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      child.on('message', (said: Said) => {
        if ('report' in said) report(said.report);
        else if ('folder' in said) resolve(said.folder);
        else reject(new Error(said.error));
      });
      child.once('error', reject);
      child.once('close', (code, by) => {
        reject(new Error(`The program that obtains the embedding models ended with ${by ?? code}: ${words.trim()}`));
      });
    });
  } finally {
    signal.removeEventListener('abort', stop);
    // Node sometimes hangs on exit, so the program is killed after it has answered.
    child.kill('SIGKILL');
  }
}
