/** Caches a read for a moment in this process, for data that every request needs and that may be a moment old. */
import { LRUCache } from 'lru-cache';

/**
 * How long a process may use what it read, in ms: half of the second in which a change must take effect everywhere. It
 * is counted from before the read, so a slow database cannot prolong it.
 */
const believedMs = 500;

/**
 * Concurrent callers share one read; failures are not cached. `forget` is for the process that made the change itself.
 */
export function cached<V>(load: (input: string) => Promise<V>): {
  /** `cacheKey` when the input itself must not be kept in memory. */
  read(input: string, cacheKey?: string): Promise<V>;
  forget(cacheKey: string): void;
} {
  // Entries are removed when they expire, not only when the space is needed: each of thousands of idle sockets leaves
  // one behind.
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
