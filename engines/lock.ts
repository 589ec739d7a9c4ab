/** The lock on a data folder, so that only one running system uses it. */
import { join } from 'node:path';
import { EngineError, readable } from './cache.ts';
import type { Report } from './cache.ts';
import { takeLock } from './takelock.mjs';

export type DataDirLock = {
  /** Records that the holder is stopping, so that the next start waits instead of failing. */
  stopping(): void;
  release(): void;
};

/**
 * How long to wait, in ms, for a holder that has not recorded that it is stopping. The signal that stops the holder may
 * have just been sent and not have arrived yet.
 */
const patienceMs = 1500;
/**
 * How long to wait, in ms, for a holder that is stopping. Draining and stopping MongoDB and Temporal take less time.
 */
const stoppingMs = 60_000;

/**
 * Takes the lock. @throws EngineError while a living process holds it; the reason of `aborted` when that signal fires
 */
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
        // Writing fails on a full disk. The next start then fails instead of waiting, but stopping must go on.
      }
    },
    release: () => lock.release(),
  };
}
