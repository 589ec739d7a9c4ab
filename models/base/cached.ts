/** A short-lived cache in this process, for data that every request reads and that may be slightly stale. */
import { LRUCache } from 'lru-cache';

/**
 * How long a cached value may be used, in ms. A change must take effect in every process within one second, and the
 * cache may use half of this second. The time starts before the value is read, so that a slow database does not prolong
 * it.
 */
const believedMs = 500;

/**
 * A function that returns the results of `load` from a cache. Concurrent callers share one read; failures are not
 * cached. A process that changes the data calls `forget`, so that it sees its change at once. `ttlMs`: how long a value
 * may be used. `keyOf`: the key of an entry, when the input itself must not be kept in memory.
 */
export function cached<I extends string[], V>(
  load: (...input: I) => Promise<V>,
  {
    ttlMs = believedMs,
    keyOf = (...input) => input.join(' '),
  }: { ttlMs?: number; keyOf?: (...input: I) => string } = {},
): ((...input: I) => Promise<V>) & { forget(...input: I): void } {
  // Expired entries are removed at once. Otherwise they would stay until space is needed, and each of thousands of idle
  // sockets leaves an entry in the cache.
  const cache = new LRUCache<string, Promise<V>>({ max: 10_000, ttl: ttlMs, ttlAutopurge: true });
  const read = (...input: I): Promise<V> => {
    const key = keyOf(...input);
    const known = cache.get(key);
    if (known) return known;
    const reading = load(...input);
    cache.set(key, reading);
    reading.catch(() => cache.get(key) === reading && cache.delete(key));
    return reading;
  };
  return Object.assign(read, { forget: (...input: I) => void cache.delete(keyOf(...input)) });
}
