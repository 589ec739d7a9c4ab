/** Runs child processes at low priority, so that other busy processes get most of the processor time. */
import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The niceness of a background process. With this value the process gets a quarter of a core that it shares with a busy
 * process. With the maximum, 19, it would get almost nothing on a machine that is never idle.
 */
export const patientNiceness = 5;

/**
 * The spawn options of a background process. Linux may share processor time equally among sessions (`autogroup`);
 * niceness then counts only within a session. In its worker's session, a background process would get that session's
 * whole share, because the worker itself only waits. So `detached` gives the process a session of its own, and
 * `lowerSession` lowers the priority of that session.
 */
export const inBackground = { detached: process.platform !== 'win32' } as const;

/**
 * The pause between two attempts to change the priority of a session, in ms. Linux lets unprivileged processes make
 * such a change only once in 100 ms, system-wide.
 */
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
