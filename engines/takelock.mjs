/**
 * A lock file that one process of this machine holds: the one way of taking it for every command, also for the one that
 * runs before anything is installed. Hence plain JavaScript that imports nothing but node:*; its types are beside it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Takes the lock at `path`. While a living process holds it, `wait` is called with what that one wrote, some twenty times a
 * second; it may throw to give up. The lock of a process that has died is taken over.
 */
export async function takeLock(path, wait) {
  const me = { pid: process.pid, started: startOf(process.pid), id: randomUUID() };
  const draft = `${path}.${me.id}.draft`;
  let text = JSON.stringify(me);
  const isMine = () => read(path) === text;
  try {
    // A link makes the file appear with its whole content, and only where there is none.
    writeFileSync(draft, text);
    while (!appears(draft, path)) {
      const found = read(path);
      if (found === undefined) continue;
      const holder = parse(found);
      if (!lives(holder)) {
        await bury(path, found);
        continue;
      }
      wait(holder);
      await sleep(50);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    /** Adds to what the others read. Throws when the disk is full; the lock is held all the same. */
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
    /** Gives the lock back. Somebody may have removed it by hand and let another process in: that one's stays. */
    release() {
      if (isMine()) rmSync(path, { force: true });
    },
  };
}

/**
 * Removes the lock of a dead process. Between reading it and removing it another process may have taken it over, whose lock
 * would then be removed; so a dead one's lock is removed only under a lock of its own, after one more look. As each
 * content is unique and its owner dead, nobody else can have changed it in between.
 */
async function bury(path, text) {
  const grave = await takeLock(
    `${path}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`,
    () => undefined,
  );
  try {
    if (read(path) === text) rmSync(path, { force: true });
  } finally {
    grave.release();
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

/** Process ids are used again, so the time of the start has to be the same, too, where it can be known. */
function lives({ pid, started }) {
  if (!isAlive(pid)) return false;
  const now = startOf(pid);
  return now === '' || now === started;
}

/** Whether a process with this id exists, whoever owns it. */
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
 * The 22nd field of /proc/PID/stat, ticks since boot, with the boot's id; empty where there is no /proc. A process that has
 * ended keeps its id until its parent asks for it, which in a container may be never: it is said to have ended.
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
