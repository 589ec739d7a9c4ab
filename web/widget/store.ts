/**
 * What this browser remembers of a customer: who the visitor is, what was read, what was not sent yet. Where the page may
 * store nothing it is kept for as long as the page is there.
 */

export type Store = {
  get(name: string): string | undefined;
  /** Undefined removes it. */
  set(name: string, value: string | undefined): void;
  /** The names that begin so, in no order. */
  names(prefix: string): string[];
};

/** Entries of `storage` under a prefix of our own; `storage` is asked for late, for asking may be refused. */
export function createStore(storage: () => Storage, prefix: string): Store {
  const memory = new Map<string, string>();
  /** Does it with the page's storage; when that is blocked or full, without. */
  const attempt = <T>(act: (storage: Storage) => T): T | undefined => {
    try {
      return act(storage());
    } catch {
      return undefined;
    }
  };
  return {
    get: (name) => memory.get(name) ?? attempt((kept) => kept.getItem(prefix + name)) ?? undefined,
    set(name, value) {
      const kept = attempt((kept) => {
        if (value === undefined) kept.removeItem(prefix + name);
        else kept.setItem(prefix + name, value);
        return true;
      });
      if (kept || value === undefined) memory.delete(name);
      else memory.set(name, value);
    },
    names(begin) {
      const kept = attempt((kept) => Object.keys(kept)) ?? [];
      const own = kept.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
      return [...new Set([...own, ...memory.keys()])].filter((name) => name.startsWith(begin));
    },
  };
}

/** 128 random bits, hexadecimal. `randomUUID` is not there on pages without TLS. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
