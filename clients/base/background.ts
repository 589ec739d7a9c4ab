/** Processes that work in the background: they get the processor time that others leave. */
import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The niceness of a process that nobody waits for: beside a busy one it has a quarter of a processor. The lowest, 19, would leave
 * it next to nothing on a machine that is never idle.
 */
export const patientNiceness = 5;

/**
 * How such a process is spawned. Linux may share the processors among sessions first (`autogroup`); then a niceness counts only
 * within a session, and beside a worker that waits for MongoDB, its background would have as much of a processor as MongoDB.
 * In a session of its own the background can be put behind all others.
 */
export const inBackground = { detached: process.platform !== 'win32' } as const;

/** Without privileges the kernel takes one such change every 100 ms, of all processes together. */
const pauseMs = 150;
const maxTries = 20;

/**
 * Puts a process that was spawned `inBackground` behind others. A process that has already ended needs nothing, and where
 * priorities cannot be set, the work is done all the same.
 */
export function stepBack(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch {
    return;
  }
  void lowerSession(pid, niceness);
}

async function lowerSession(pid: number, niceness: number): Promise<void> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    try {
      return await writeFile(`/proc/${pid}/autogroup`, String(niceness));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      await sleep(pauseMs, undefined, { ref: false });
    }
  }
}
