/** One running system per data folder. */
import { join } from 'node:path';
import { EngineError, readable } from './cache.ts';
import type { Report } from './cache.ts';
import { takeLock } from './takelock.mjs';

export type DataDirLock = {
  /** Records that the holder is stopping, so that the next start waits instead of giving up. */
  stopping(): void;
  release(): void;
};

/** How long to wait for a holder that is not stopping: a signal that was just sent may not have arrived yet. */
const patienceMs = 1500;
/** How long to wait for a holder that is stopping: longer than the drain and the stop of both engines. */
const stoppingMs = 60_000;

/** Takes the lock. Throws EngineError while a living process holds it, and the reason of `aborted` when that fires. */
export async function lockDataDir(dataDir: string, report: Report, aborted?: AbortSignal): Promise<DataDirLock> {
  const began = Date.now();
  let said = false;
  const lock = await takeLock(join(dataDir, 'start.lock'), ({ pid, stopping }) => {
    aborted?.throwIfAborted();
    if (Date.now() - began > (stopping ? stoppingMs : patienceMs)) {
      throw new EngineError(
        `Another npm start (process ${pid}) uses ${dataDir}. Stop it first, or start a second system beside it with another PORT and DATA_DIR.`,
      );
    }
    if (stopping && !said) report(`waiting for process ${pid}, which is stopping`);
    said ||= stopping === true;
  }).catch((error: unknown) => {
    throw readable(error);
  });
  return {
    stopping() {
      try {
        lock.note({ stopping: true });
      } catch {
        // Writing can fail on a full disk. The next start then gives up too early, but stopping must continue.
      }
    },
    release: () => lock.release(),
  };
}
