/** Values that only some processes need. */

/** A value that is made on its first use and kept. */
export function onDemand<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
