/**
 * The program that obtains the embedding models, started by a server or by a person who copies them to another machine.
 * `obtain.ts [FOLDER]` verifies the models in FOLDER. Without FOLDER it verifies those in the cache and downloads
 * missing ones. It reports progress, then the folder or the error, and exits.
 */
import type { Said } from '../../clients/embedding/obtain.ts';
import { checkEmbedding, findEmbedding } from './embedding.ts';

const say = (said: Said): Promise<void> =>
  new Promise((resolve) => {
    if (process.send !== undefined) process.send(said, undefined, {}, () => resolve());
    else process.stdout.write(`${Object.values(said).join()}\n`, () => resolve());
  });

// The server that started this program has ended, so this program ends too. The signal also stops a running download.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
try {
  const folder = process.argv[2] ?? (await findEmbedding((report) => void say({ report })));
  await checkEmbedding(folder);
  await say({ folder });
} catch (error) {
  await say({ error: (error as Error).message });
  process.exitCode = 1;
}
process.exit();
