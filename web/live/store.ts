/**
 * Stores small data of a page in this browser, such as a visitor's id and unsent messages. If the page may not store
 * data, the data last as long as the page.
 */

/**
 * A store of the entries of `storage` whose names begin with `prefix`. `storage` is a function, because even reading
 * `window.localStorage` may throw an error.
 */
export function createStore(storage: () => Storage, prefix: string) {
  const memory = new Map<string, string>();
  /** Uses the page's storage. Returns undefined when the storage is blocked or full. */
  const attempt = <T>(act: (storage: Storage) => T): T | undefined => {
    try {
      return act(storage());
    } catch {
      return undefined;
    }
  };
  return {
    get: (name: string): string | undefined =>
      memory.get(name) ?? attempt((kept) => kept.getItem(prefix + name)) ?? undefined,
    /** The value undefined removes the entry. */
    set(name: string, value: string | undefined): void {
      const kept = attempt((kept) => {
        if (value === undefined) kept.removeItem(prefix + name);
        else kept.setItem(prefix + name, value);
        return true;
      });
      if (kept || value === undefined) memory.delete(name);
      else memory.set(name, value);
    },
    /** The names of the entries that begin with this text, in no particular order. */
    names(begin: string): string[] {
      const kept = attempt((kept) => Object.keys(kept)) ?? [];
      const own = kept.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
      return [...new Set([...own, ...memory.keys()])].filter((name) => name.startsWith(begin));
    },
  };
}

export type Store = ReturnType<typeof createStore>;

/** 128 random bits, hexadecimal. Pages without TLS have no `randomUUID`. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
