/** One running system per data folder. The lock names its holder, so one left by a killed start is taken over. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, isAlive, readable } from './cache.ts';
import type { Report } from './cache.ts';

/** What the lock says: the process, and when it started, for process ids are used again. */
type Holder = { pid: number; started: string; stopping?: boolean };

export type DataDirLock = {
  /** Says that the holder is on its way out, so that the next start waits instead of giving up. */
  stopping(): Promise<void>;
  release(): Promise<void>;
};

/** How long a holder that says nothing gets: a start that was just told to stop may not have heard it yet. */
const patienceMs = 1500;
/** How long one that is stopping gets: longer than the drain and the ends of both engines. */
const stoppingMs = 60_000;

/** Takes the lock. Throws EngineError when a living process keeps it. */
export async function lockDataDir(dataDir: string, report: Report): Promise<DataDirLock> {
  const path = join(dataDir, 'start.lock');
  const draft = `${path}.${randomUUID()}`;
  const me: Holder = { pid: process.pid, started: await startOf(process.pid) };
  const began = Date.now();
  let said = false;
  try {
    await writeFile(draft, JSON.stringify(me));
    while (!(await appears(draft, path))) {
      const holder = await readHolder(path);
      if (holder === undefined || !(await lives(holder))) {
        await unlink(path).catch(() => undefined);
        continue;
      }
      if (Date.now() - began > (holder.stopping ? stoppingMs : patienceMs)) throw inUse(dataDir, holder);
      if (holder.stopping && !said) report(`waiting for process ${holder.pid}, which is stopping`);
      said ||= holder.stopping === true;
      await sleep(50);
    }
  } finally {
    await unlink(draft).catch(() => undefined);
  }
  return {
    async stopping() {
      await writeFile(draft, JSON.stringify({ ...me, stopping: true }));
      await rename(draft, path);
    },
    release: () => unlink(path).catch(() => undefined),
  };
}

function inUse(dataDir: string, holder: Holder): EngineError {
  return new EngineError(
    `Another npm start (process ${holder.pid}) uses ${dataDir}. Stop it first, or start a second system beside it with another PORT and DATA_DIR.`,
  );
}

async function appears(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw readable(error);
  }
}

async function lives(holder: Holder): Promise<boolean> {
  return isAlive(holder.pid) && (await startOf(holder.pid)) === holder.started;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

/** The 22nd field of /proc/PID/stat, ticks since boot, with the boot's id; empty where there is no /proc. */
async function startOf(pid: number): Promise<string> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // The second field is the program's name in parentheses and may hold blanks.
    return `${boot.trim()} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''}`;
  } catch {
    return '';
  }
}
