/** A short-lived cache in this process, for data that every request reads and that may be slightly stale. */
import { LRUCache } from 'lru-cache';

/**
 * How long a cached value may be used, in ms: half of the second in which a change must take effect everywhere. The
 * time starts before the value is read, so that a slow database does not prolong it.
 */
const believedMs = 500;

/**
 * A cache for the results of `load`. Concurrent callers share one read; failures are not cached. `ttlMs`: how long a
 * value may be used. A process that changes the data calls `forget`, so that it sees its change at once.
 */
export function cached<V>(
  load: (input: string) => Promise<V>,
  ttlMs = believedMs,
): {
  /** Pass `cacheKey` when the input itself must not be kept in memory. */
  read(input: string, cacheKey?: string): Promise<V>;
  forget(cacheKey: string): void;
} {
  // Expired entries are removed at once and not only when space is needed, because each of thousands of idle sockets
  // leaves an entry in the cache.
  const cache = new LRUCache<string, Promise<V>>({ max: 10_000, ttl: ttlMs, ttlAutopurge: true });
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
