/**
 * A lock file that one process of this machine holds. It is used before any package is installed, so this is plain
 * JavaScript that imports only node:*. Its types are in takelock.d.mts.
 */
import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Takes the lock at `path`. While a living process holds it, `wait` is called about twenty times a second with the
 * content of the lock file, and may throw to give up. A dead process's lock is taken over.
 */
export async function takeLock(path, wait) {
  const me = { pid: process.pid, started: startOf(process.pid), id: randomUUID() };
  const draft = `${path}.${me.id}.draft`;
  let text = JSON.stringify(me);
  const isMine = () => read(path) === text;
  try {
    // A hard link creates the file atomically with its whole content, and fails if the file exists.
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
    /**
     * Adds data that other processes can read from the lock file. Throws when the disk is full; the lock is still held.
     */
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
    /**
     * Releases the lock. If a person deleted the file and another process took the lock, that process's file is left
     * alone.
     */
    release() {
      if (isMine()) rmSync(path, { force: true });
    },
  };
}

/**
 * Removes the lock file of a dead process. Without a second lock, another process could remove the same file and take
 * the lock, and this process would then remove that new lock. So the file is removed only while holding a second lock,
 * after reading the file again. The second lock is named after the stale file's content, which is unique, so all
 * processes that want to remove this file wait for each other.
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

/** Process ids are reused, so the start time must match too, if it is known. */
function lives({ pid, started }) {
  if (!isAlive(pid)) return false;
  const now = startOf(pid);
  return now === '' || now === started;
}

/** Whether a process with this id exists, of any user. */
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
 * The 22nd field of /proc/PID/stat (start time in ticks since boot) with the boot's id; empty where there is no /proc.
 * A zombie process keeps its id until its parent reaps it, which may never happen in a container; it counts as ended.
 */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The second field, the program's name in parentheses, may contain blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZXx]/.test(fields[0]) ? 'ended' : `${boot} ${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}
