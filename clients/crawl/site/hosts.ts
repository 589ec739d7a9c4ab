/**
 * The limits that all crawls of this process share for each host: the number of concurrent requests, the pause between
 * two requests that robots.txt names, and the wait that the host asked for. It sends no request and stores nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** The longest wait, in ms, that a request sleeps through; for a longer one the caller gets `Later` and comes back. */
export const maxSleepMs = 3_000;

/** The host may not be asked for `waitMs`. */
export class Later {
  readonly waitMs: number;
  constructor(waitMs: number) {
    this.waitMs = waitMs;
  }
}

export type Host = {
  /** How long the host may not be asked, in ms; 0 when it may be asked now. */
  waitMs(): number;
  /**
   * Sets the pause between two requests that one of the host's origins names, in ms; the longest pause counts. With a
   * pause, requests go one by one.
   */
  setDelay(origin: string, delayMs: number): void;
  /** Sends no request for this long. */
  pauseFor(waitMs: number): void;
  /**
   * For this time every request is `Later` and not worth waiting for, because the host asked for more than a crawl
   * waits.
   */
  giveUpFor(forMs: number): void;
  isGivenUp(): boolean;
  /**
   * Records that an address answered that it is overloaded. Returns true when so many addresses did, without a success
   * in between, that the whole host counts as overloaded.
   */
  noteOverload(url: string): boolean;
  /** Records that an address was answered. */
  noteSuccess(): void;
  /** Runs one request when its turn comes, or returns `Later` if that is more than `maxWaitMs` away. */
  inTurn<T>(request: () => Promise<T>, signal: AbortSignal, maxWaitMs?: number): Promise<T | Later>;
  /**
   * Runs a request for a part of a page (a script): it counts as a concurrent request, but does not wait for the pause
   * between pages.
   */
  asPart<T>(request: () => Promise<T>): Promise<T>;
};

export type Hosts = { of(url: string): Host };

/** When this many addresses in a row answer that they are overloaded, the host is. */
const overloadedAddresses = 5;
/** How many hosts are remembered; beyond that the least recently asked one is forgotten. */
const maxHosts = 10_000;

function createHost(now: () => number, concurrency: number): Host {
  /**
   * Pages wait for the pause in `turns`, so that they do not occupy places in `requests`, which parts of pages need
   * too.
   */
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
      // The request for robots.txt counts, too.
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
      // A site is often reachable by http and https, with `www.` and without, on the same machine.
      const { hostname, port } = new URL(url);
      const key = `${hostname.replace(/^www\./, '')}:${port}`;
      const host = hosts.get(key) ?? createHost(now, concurrency);
      hosts.set(key, host);
      return host;
    },
  };
}
