/** Remembering a read for a moment, in this process. For what every request needs and may be a moment late. */
import { LRUCache } from 'lru-cache';

/**
 * How long a process may believe what it read, in ms: half of the second in which a change must be effective everywhere;
 * counted from before the read, so a slow database cannot stretch it.
 */
const believedMs = 500;

/** Concurrent callers share one read; failures are forgotten. `forget` is for the process that made the change itself. */
export function cached<V>(load: (input: string) => Promise<V>): {
  /** `cacheKey` when the input itself must not be kept in memory. */
  read(input: string, cacheKey?: string): Promise<V>;
  forget(cacheKey: string): void;
} {
  // Forgotten when it is over, and not when its place is needed: thousands of idle sockets were let in by one of these each.
  const cache = new LRUCache<string, Promise<V>>({ max: 10_000, ttl: believedMs, ttlAutopurge: true });
  return {
    read(input, cacheKey = input) {
      const known = cache.get(cacheKey);
      if (known) return known;
      const reading = load(input);
      cache.set(cacheKey, reading);
      reading.catch(() => cache.get(cacheKey) === reading && cache.delete(cacheKey));
      return reading;
    },
    forget: (cacheKey) => void cache.delete(cacheKey),
  };
}
