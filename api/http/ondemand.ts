/** Values that not every process needs. */

/** Made when it is first asked for, and kept. */
export function onDemand<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
