/**
 * Rate limits for each host, shared by all crawls of this process: the number of concurrent requests, the crawl delay
 * of robots.txt, and the wait that the host asked for. This file itself sends no request and stores nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

/** A request sleeps through waits up to this long, in ms. For a longer wait the caller gets `Later` and must retry. */
export const maxSleepMs = 3_000;

/** The host must not be requested for `waitMs`. */
export class Later {
  readonly waitMs: number;
  constructor(waitMs: number) {
    this.waitMs = waitMs;
  }
}

export type Host = {
  /** How long the host must not be requested, in ms; 0 when it may be requested now. */
  waitMs(): number;
  /**
   * Sets the crawl delay of one of the host's origins, in ms. The longest delay of all origins applies. With a delay,
   * requests are sequential.
   */
  setDelay(origin: string, delayMs: number): void;
  /** Delays all requests to the host by this time. */
  pauseFor(waitMs: number): void;
  /**
   * Makes every request return `Later` for this time, because the host asked for a longer wait than a crawl accepts.
   */
  giveUpFor(forMs: number): void;
  isGivenUp(): boolean;
  /**
   * Records that a URL was answered with an overload status, such as 503. Returns true when `overloadedAddresses` URLs
   * in a row were answered in this way. Then the whole host counts as overloaded.
   */
  noteOverload(url: string): boolean;
  /** Records that a URL was answered without an overload status, which restarts the count of `noteOverload`. */
  noteSuccess(): void;
  /** Runs one request when its turn comes. Returns `Later` instead if the turn is more than `maxWaitMs` away. */
  inTurn<T>(request: () => Promise<T>, signal: AbortSignal, maxWaitMs?: number): Promise<T | Later>;
  /**
   * Runs a request for a resource of a page, such as a script. It counts as a concurrent request but ignores the crawl
   * delay between pages.
   */
  asPart<T>(request: () => Promise<T>): Promise<T>;
};

export type Hosts = { of(url: string): Host };

/** The host counts as overloaded when this many URLs in a row were answered with an overload status. */
const overloadedAddresses = 5;
/** The number of hosts in the cache; the least recently used one is evicted. */
const maxHosts = 10_000;

function createHost(now: () => number, concurrency: number): Host {
  /**
   * Pages wait for the crawl delay inside `turns`. If they waited inside `requests`, they would occupy the places that
   * the resources of a rendered page need.
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
      // The request for robots.txt was just sent and counts too, so the first page also waits for the crawl delay.
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
        // Another request's reply may have extended the wait meanwhile.
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
      // One machine often serves a site by http and https, with and without `www.`, so these URLs share one `Host`.
      const { hostname, port } = new URL(url);
      const key = `${hostname.replace(/^www\./, '')}:${port}`;
      const host = hosts.get(key) ?? createHost(now, concurrency);
      hosts.set(key, host);
      return host;
    },
  };
}
