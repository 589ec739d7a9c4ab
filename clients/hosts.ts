/**
 * What hosts are owed by all crawls of this process together: so many requests at a time, the pause their robots.txt names,
 * and the wait they asked for. It asks nothing itself, and remembers nothing beyond the process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** The longest wait, in ms, that is slept through in place; whoever has to wait longer is told so and comes back. */
export const patienceMs = 3_000;

/** The host may not be asked for so long. */
export class Later {
  readonly waitMs: number;
  constructor(waitMs: number) {
    this.waitMs = waitMs;
  }
}

export type Host = {
  /** Until it may be asked again, in ms; 0 when it may. */
  waitMs(): number;
  /** The pause between two requests, in ms; with one they go one by one. */
  pace(delayMs: number): void;
  /** Nothing is asked for so long. */
  hold(waitMs: number): void;
  /** All requests are `Later` during this time, of which nothing is to be waited for: the host asked for more than is. */
  leave(forMs: number): void;
  isLeft(): boolean;
  /** One request in its turn, or `Later` if that is further away than `patience`. */
  inTurn<T>(request: () => Promise<T>, signal: AbortSignal, patience?: number): Promise<T | Later>;
  /** A request for what a page is made of, in its turn: the pause is for pages. */
  asPart<T>(request: () => Promise<T>): Promise<T>;
};

export type Hosts = { of(url: string): Host };

/** Hosts remembered; the one that was asked longest ago goes. */
const maxHosts = 10_000;

export function createHosts(clock: () => Date, concurrency: number): Hosts {
  const hosts = new LRUCache<string, Host>({ max: maxHosts });
  const now = (): number => clock().getTime();

  function create(): Host {
    const limit = pLimit(concurrency);
    let delay = 0;
    let readyAt = 0;
    let leftUntil = 0;
    const waitMs = (): number => Math.max(0, readyAt - now());
    const hold = (forMs: number): void => void (readyAt = Math.max(readyAt, now() + forMs));
    const isLeft = (): boolean => now() < leftUntil;
    return {
      waitMs,
      hold,
      pace(delayMs) {
        // Fetching robots.txt was a request, too.
        if (delay !== delayMs) hold(delayMs);
        delay = delayMs;
        limit.concurrency = delay > 0 ? 1 : concurrency;
      },
      leave: (forMs) => void (leftUntil = now() + forMs),
      isLeft,
      inTurn: (request, signal, patience = patienceMs) =>
        limit(async () => {
          // Another request may be answered meanwhile with the wish for more.
          for (let wait = waitMs(); wait > 0; wait = waitMs()) {
            if (wait > patience) return new Later(wait);
            await sleep(wait, undefined, { signal });
          }
          signal.throwIfAborted();
          if (isLeft()) return new Later(leftUntil - now());
          try {
            return await request();
          } finally {
            hold(delay);
          }
        }),
      asPart: (request) => limit(request),
    };
  }

  return {
    of(url) {
      const { origin } = new URL(url);
      const host = hosts.get(origin) ?? create();
      hosts.set(origin, host);
      return host;
    },
  };
}
