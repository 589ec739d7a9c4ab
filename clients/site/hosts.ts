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
  /** The pause between two requests that an origin of it names, in ms; the longest holds. With one they go one by one. */
  pace(origin: string, delayMs: number): void;
  /** Nothing is asked for so long. */
  hold(waitMs: number): void;
  /** All requests are `Later` during this time, of which nothing is to be waited for: the host asked for more than is. */
  leave(forMs: number): void;
  isLeft(): boolean;
  /** Notes that an address is overloaded. True when so many others are, without a success in between, that the host is. */
  overloaded(url: string): boolean;
  /** Notes that an address was answered. */
  answered(): void;
  /** One request in its turn, or `Later` if that is further away than `patience`. */
  inTurn<T>(request: () => Promise<T>, signal: AbortSignal, patience?: number): Promise<T | Later>;
  /** A request for what a page is made of, among the others under way: the pause is for pages. */
  asPart<T>(request: () => Promise<T>): Promise<T>;
};

export type Hosts = { of(url: string): Host };

/** Addresses in a row that answer that they are overloaded, and it is no longer about each of them. */
const overloadedAddresses = 5;
/** Hosts remembered; the one that was asked longest ago goes. */
const maxHosts = 10_000;

export function createHosts(clock: () => Date, concurrency: number): Hosts {
  const hosts = new LRUCache<string, Host>({ max: maxHosts });
  const now = (): number => clock().getTime();

  function create(): Host {
    /** Who waits for a pause stands here, and keeps no place among the requests, which are those of parts too. */
    const turns = pLimit(concurrency);
    const requests = pLimit(concurrency);
    const delays = new Map<string, number>();
    const strained = new Set<string>();
    let delay = 0;
    let readyAt = 0;
    let leftUntil = 0;
    const waitMs = (): number => Math.max(0, readyAt - now());
    const hold = (forMs: number): void => void (readyAt = Math.max(readyAt, now() + forMs));
    const isLeft = (): boolean => now() < leftUntil;
    return {
      waitMs,
      hold,
      pace(origin, delayMs) {
        delays.set(origin, delayMs);
        const longest = Math.max(...delays.values());
        // Fetching robots.txt was a request, too.
        if (delay !== longest) hold(longest);
        delay = longest;
        turns.concurrency = delay > 0 ? 1 : concurrency;
        requests.concurrency = turns.concurrency;
      },
      leave: (forMs) => void (leftUntil = now() + forMs),
      isLeft,
      overloaded(url) {
        if (strained.size < overloadedAddresses) strained.add(url);
        return strained.size >= overloadedAddresses;
      },
      answered: () => strained.clear(),
      inTurn: (request, signal, patience = patienceMs) =>
        turns(async () => {
          // Another request may be answered meanwhile with the wish for more.
          for (let wait = waitMs(); wait > 0; wait = waitMs()) {
            if (wait > patience) return new Later(wait);
            await sleep(wait, undefined, { signal });
          }
          signal.throwIfAborted();
          if (isLeft()) return new Later(leftUntil - now());
          try {
            return await requests(request);
          } finally {
            hold(delay);
          }
        }),
      asPart: (request) => requests(request),
    };
  }

  return {
    of(url) {
      // A site is often had by http and https, as `www.` and without, from the same machine.
      const { hostname, port } = new URL(url);
      const key = `${hostname.replace(/^www\./, '')}:${port}`;
      const host = hosts.get(key) ?? create();
      hosts.set(key, host);
      return host;
    },
  };
}
