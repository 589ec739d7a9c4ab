/** One running system per data folder. */
import { join } from 'node:path';
import { EngineError, readable } from './cache.ts';
import type { Report } from './cache.ts';
import { takeLock } from './takelock.mjs';

export type DataDirLock = {
  /** Says that the holder is on its way out, so that the next start waits instead of giving up. */
  stopping(): void;
  release(): void;
};

/** How long a holder that says nothing gets: a start that was just told to stop may not have heard it yet. */
const patienceMs = 1500;
/** How long one that is stopping gets: longer than the drain and the ends of both engines. */
const stoppingMs = 60_000;

/** Takes the lock. Throws EngineError when a living process keeps it, and what `aborted` was aborted with. */
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
        // The disk is full, say. The next start gives up sooner than it would have to; stopping is what matters.
      }
    },
    release: () => lock.release(),
  };
}
