/**
 * Reports to models/live/presence.ts which customers and members have a socket in this process. Changes are collected
 * for a moment and written in one command, so that thousands of simultaneous connections cost a few writes. Frames
 * cause no writes.
 */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { noteAlive, notePresence, renewPresenceEveryMs, type Person, type Seen } from '../../models/live/presence.ts';

const gatherMs = 100;
const aliveEveryMs = 10_000;

/** `noted` is called after arrivals and departures were stored. */
export function createPresence(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  noted: (seen: readonly Seen[]) => void = () => undefined,
) {
  const processId = randomUUID();
  /** The number of sockets of each person in this process. */
  const here = new Map<string, Person & { sockets: number }>();
  const changed = new Map<string, Seen>();
  let waiting: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let renewedAt = performance.now();

  const note = ({ orgId, personId }: Person, present: boolean): void => {
    changed.set(personId, { orgId, personId, present });
    waiting ??= setTimeout(flush, gatherMs).unref();
  };
  const flush = (): void => {
    waiting = undefined;
    writing = writing.then(write);
  };
  const write = async (): Promise<void> => {
    const seen = [...changed.values()];
    changed.clear();
    if (seen.length === 0) return;
    try {
      // The heartbeat (`noteAlive`) is stored first, because a process without a recent heartbeat counts as dead, and
      // its sockets as closed.
      await noteAlive(processId, clock());
      await notePresence(processId, seen, clock());
      noted(seen);
    } catch (error) {
      log.warn({ err: error }, 'who is connected was not written down; it is again in a moment');
      for (const one of seen) if (!changed.has(one.personId)) changed.set(one.personId, one);
    }
  };
  const stayAlive = (): void => {
    if (performance.now() - renewedAt > renewPresenceEveryMs) {
      renewedAt = performance.now();
      for (const person of here.values()) note(person, true);
    }
    if (here.size > 0) void noteAlive(processId, clock()).catch(() => undefined);
    if (changed.size > 0) flush();
  };
  const timer = setInterval(stayAlive, aliveEveryMs).unref();

  return {
    came(person: Person): void {
      const { orgId, personId } = person;
      const known = here.get(personId);
      if (known) known.sockets += 1;
      else {
        here.set(personId, { orgId, personId, sockets: 1 });
        note(person, true);
      }
    },
    left(person: Person): void {
      const known = here.get(person.personId);
      if (known && known.sockets > 1) known.sockets -= 1;
      else {
        here.delete(person.personId);
        note(person, false);
      }
    },
    /** Writes the changes that are still waiting. */
    async close(): Promise<void> {
      clearInterval(timer);
      clearTimeout(waiting);
      await writing;
      await write();
    },
  };
}
