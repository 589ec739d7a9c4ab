/**
 * A lock file that one process of this machine holds. Every command takes it in this way, including the one that runs
 * before anything is installed. So this is plain JavaScript that imports only node:*; its types are in takelock.d.mts.
 */
import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Takes the lock at `path`. While a living process holds it, `wait` is called some twenty times a second with what the
 * holder wrote; it may throw to give up. The lock of a dead process is taken over.
 */
export async function takeLock(path, wait) {
  const me = { pid: process.pid, started: startOf(process.pid), id: randomUUID() };
  const draft = `${path}.${me.id}.draft`;
  let text = JSON.stringify(me);
  const isMine = () => read(path) === text;
  try {
    // A link makes the file appear with its whole content, and fails if there is one already.
    writeFileSync(draft, text);
    while (!appears(draft, path)) {
      const found = read(path);
      if (found === undefined) continue;
      const holder = parse(found);
      if (!lives(holder)) {
        await removeStale(path, found);
        continue;
      }
      wait(holder);
      await sleep(50);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    /** Adds to what other processes read. Throws when the disk is full; the lock is still held. */
    note(more) {
      if (!isMine()) return;
      const next = JSON.stringify({ ...me, ...more });
      try {
        writeFileSync(draft, next);
        renameSync(draft, path);
        text = next;
      } finally {
        rmSync(draft, { force: true });
      }
    },
    /** Releases the lock. If somebody removed the file by hand and another process took the lock, that file stays. */
    release() {
      if (isMine()) rmSync(path, { force: true });
    },
  };
}

/**
 * Removes the lock of a dead process. Between reading and removing it, another process may have taken it over, and that
 * process's lock would be removed. So a stale lock is only removed while holding a second lock, after reading it once
 * more. Each content is unique and its owner is dead, so nobody else can change it in between.
 */
async function removeStale(path, text) {
  const guard = await takeLock(
    `${path}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`,
    () => undefined,
  );
  try {
    if (read(path) === text) rmSync(path, { force: true });
  } finally {
    guard.release();
  }
}

function appears(draft, path) {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Process ids are reused, so the start time must be the same, too, where it is known. */
function lives({ pid, started }) {
  if (!isAlive(pid)) return false;
  const now = startOf(pid);
  return now === '' || now === started;
}

/** Whether a process with this id exists, under any user. */
export function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * The 22nd field of /proc/PID/stat, ticks since boot, with the boot's id; empty where there is no /proc. A process that
 * has ended keeps its id until its parent collects it, which in a container may never happen; it counts as ended.
 */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The second field is the program's name in parentheses and may hold blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZXx]/.test(fields[0]) ? 'ended' : `${boot} ${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}
