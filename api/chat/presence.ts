/**
 * Reports to models/chat/presence.ts which customers have a socket in this process. Changes are collected for a moment
 * and written in one command, so that thousands of simultaneous connections cost a few writes. Frames cause no writes.
 */
import { randomUUID } from 'node:crypto';
import type { SessionPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { noteAlive, notePresence, renewPresenceEveryMs, type Seen } from '../../models/chat/presence.ts';

const gatherMs = 100;
const aliveEveryMs = 10_000;

type Customer = Pick<SessionPrincipal, 'orgId' | 'customerId'>;

export function createPresence({ clock, log }: Pick<Context, 'clock' | 'log'>) {
  const processId = randomUUID();
  /** The number of sockets of each customer in this process. */
  const here = new Map<string, Customer & { sockets: number }>();
  const changed = new Map<string, Seen>();
  let waiting: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let renewedAt = performance.now();

  const note = ({ orgId, customerId }: Customer, present: boolean): void => {
    changed.set(customerId, { orgId, customerId, present });
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
      // A process without a recent sign of life counts as dead.
      await noteAlive(processId, clock());
      await notePresence(processId, seen, clock());
    } catch (error) {
      log.warn({ err: error }, 'who is connected was not written down; it is again in a moment');
      for (const one of seen) if (!changed.has(one.customerId)) changed.set(one.customerId, one);
    }
  };
  const stayAlive = (): void => {
    if (performance.now() - renewedAt > renewPresenceEveryMs) {
      renewedAt = performance.now();
      for (const customer of here.values()) note(customer, true);
    }
    if (here.size > 0) void noteAlive(processId, clock()).catch(() => undefined);
    if (changed.size > 0) flush();
  };
  const timer = setInterval(stayAlive, aliveEveryMs).unref();

  return {
    came(customer: Customer): void {
      const { orgId, customerId } = customer;
      const known = here.get(customerId);
      if (known) known.sockets += 1;
      else {
        here.set(customerId, { orgId, customerId, sockets: 1 });
        note(customer, true);
      }
    },
    left(customer: Customer): void {
      const known = here.get(customer.customerId);
      if (known && known.sockets > 1) known.sockets -= 1;
      else {
        here.delete(customer.customerId);
        note(customer, false);
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
