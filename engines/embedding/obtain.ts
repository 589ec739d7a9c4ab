/**
 * The program that a server starts to have the embedding models, and a person who brings them to another machine:
 * `obtain.ts [FOLDER]` checks those in FOLDER, or those in the cache, which it fills where they are missing. It says how far
 * it is, and then where they are or why not, and ends.
 */
import type { Said } from '../../clients/embedding/obtain.ts';
import { checkEmbedding, findEmbedding } from './embedding.ts';

const say = (said: Said): Promise<void> =>
  new Promise((resolve) => {
    if (process.send !== undefined) process.send(said, undefined, {}, () => resolve());
    else process.stdout.write(`${Object.values(said).join()}\n`, () => resolve());
  });

// The server is gone. The signal also ends a download that is under way.
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
