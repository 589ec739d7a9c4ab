/** Runs child processes at low priority, so that they use only idle processor time. */
import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The niceness of a background process: beside a busy process it gets a quarter of a processor. The lowest, 19, would
 * give it almost nothing on a machine that is never idle.
 */
export const patientNiceness = 5;

/**
 * How to spawn a background process. Linux may share the processors among sessions first (`autogroup`), and then
 * niceness counts only within a session: in the session of a worker that waits for MongoDB, it would get as much
 * processor time as MongoDB. In its own session it can be put behind all others.
 */
export const inBackground = { detached: process.platform !== 'win32' } as const;

/** Without privileges the kernel accepts one such change every 100 ms, for all processes together. */
const pauseMs = 150;
const maxTries = 20;

/**
 * Lowers the priority of a process that was spawned with `inBackground`. Best effort: nothing happens when the process
 * has ended or priorities cannot be set.
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
