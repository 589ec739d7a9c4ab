/**
 * Values that a process makes once per configuration and keeps, such as counters and caches, without a global that
 * tests would share.
 */
import type { Config } from '../../config.ts';

/** `make` runs on first use, so that it may need a connected database. */
export function perConfig<T>(make: (config: Config) => T): (config: Config) => T {
  const made = new WeakMap<Config, T>();
  return (config) => {
    let value = made.get(config);
    if (value === undefined) made.set(config, (value = make(config)));
    return value;
  };
}
