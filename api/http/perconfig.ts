/**
 * Values that a process creates once per configuration, such as counters and caches. Unlike global values, they are not
 * shared by tests with different configurations.
 */
import type { Config } from '../../config.ts';

/** `make` runs at the first use, because it may need a connected database. */
export function perConfig<T>(make: (config: Config) => T): (config: Config) => T {
  const made = new WeakMap<Config, T>();
  return (config) => {
    let value = made.get(config);
    if (value === undefined) made.set(config, (value = make(config)));
    return value;
  };
}
