/**
 * The limits that all crawls of this process keep together for each host: so many requests at a time, the pause between two
 * requests that robots.txt names, and the wait that the host asked for. It sends no request and stores nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** The longest wait, in ms, that is slept through in place; for a longer one the caller gets `Later` and comes back. */
export const maxSleepMs = 3_000;

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
  setDelay(origin: string, delayMs: number): void;
  /** Nothing is asked for so long. */
  pauseFor(waitMs: number): void;
  /** During this time all requests are `Later` and none is worth waiting for: the host asked for more than a crawl waits. */
  giveUpFor(forMs: number): void;
  isGivenUp(): boolean;
  /** Notes that an address answered that it is overloaded. True when so many did, without a success between, that the host is. */
  noteOverload(url: string): boolean;
  /** Notes that an address was answered. */
  noteSuccess(): void;
  /** One request in its turn, or `Later` if that is more than `maxWaitMs` away. */
  inTurn<T>(request: () => Promise<T>, signal: AbortSignal, maxWaitMs?: number): Promise<T | Later>;
  /** A request for a part of a page (a script): it takes a place among the requests, without the pause between pages. */
  asPart<T>(request: () => Promise<T>): Promise<T>;
};

export type Hosts = { of(url: string): Host };

/** So many addresses in a row answer that they are overloaded: then the host is. */
const overloadedAddresses = 5;
/** Hosts remembered; beyond that the one that was asked longest ago is forgotten. */
const maxHosts = 10_000;

function createHost(now: () => number, concurrency: number): Host {
  /** Pages that wait for the pause wait in `turns`, so that they take no place in `requests`, where parts of pages are, too. */
  const turns = pLimit(concurrency);
  const requests = pLimit(concurrency);
  const delays = new Map<string, number>();
  const overloadedUrls = new Set<string>();
  let delay = 0;
  let readyAt = 0;
  let givenUpUntil = 0;
  const waitMs = (): number => Math.max(0, readyAt - now());
  const pauseFor = (forMs: number): void => void (readyAt = Math.max(readyAt, now() + forMs));
  const isGivenUp = (): boolean => now() < givenUpUntil;
  return {
    waitMs,
    pauseFor,
    setDelay(origin, delayMs) {
      delays.set(origin, delayMs);
      const longest = Math.max(...delays.values());
      // Fetching robots.txt was a request, too.
      if (delay !== longest) pauseFor(longest);
      delay = longest;
      turns.concurrency = delay > 0 ? 1 : concurrency;
      requests.concurrency = turns.concurrency;
    },
    giveUpFor: (forMs) => void (givenUpUntil = now() + forMs),
    isGivenUp,
    noteOverload(url) {
      if (overloadedUrls.size < overloadedAddresses) overloadedUrls.add(url);
      return overloadedUrls.size >= overloadedAddresses;
    },
    noteSuccess: () => overloadedUrls.clear(),
    inTurn: (request, signal, maxWaitMs = maxSleepMs) =>
      turns(async () => {
        // The answer to another request may have asked for a longer wait meanwhile.
        for (let wait = waitMs(); wait > 0; wait = waitMs()) {
          if (wait > maxWaitMs) return new Later(wait);
          await sleep(wait, undefined, { signal });
        }
        signal.throwIfAborted();
        if (isGivenUp()) return new Later(givenUpUntil - now());
        try {
          return await requests(request);
        } finally {
          pauseFor(delay);
        }
      }),
    asPart: (request) => requests(request),
  };
}

export function createHosts(clock: () => Date, concurrency: number): Hosts {
  const hosts = new LRUCache<string, Host>({ max: maxHosts });
  const now = (): number => clock().getTime();
  return {
    of(url) {
      // A site is often had by http and https, as `www.` and without, from the same machine.
      const { hostname, port } = new URL(url);
      const key = `${hostname.replace(/^www\./, '')}:${port}`;
      const host = hosts.get(key) ?? createHost(now, concurrency);
      hosts.set(key, host);
      return host;
    },
  };
}
