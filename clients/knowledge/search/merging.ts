/**
 * Merges newly written rows into the table's indexes in the background while a process continues to write. An unmerged
 * row costs each question 25 µs, and a file with few rows costs each later write 0.1 ms. So a crawl or many uploads
 * would slow down questions and writes until the next run of the workflow `maintain-stores`, which merges the remaining
 * rows.
 */
import { LRUCache } from 'lru-cache';
import type { Search } from './search.ts';
import { tableName } from './tables.ts';
import type { IndexTable } from './rows.ts';

type MergingOptions = {
  /** A table is merged after `rows` rows or `writes` writes. */
  rows?: number;
  writes?: number;
  /** After this time without a write, in ms, a table is merged with fewer rows too, but with at least `worthRows`. */
  quietMs?: number;
  worthRows?: number;
};

type Waiting = { rows: number; writes: number; timer?: NodeJS.Timeout };
/** Maximum number of tables whose writes are counted. */
const maxTables = 1_000;

/**
 * Returns the search with an `add` that also merges added rows in the background, with one merge for each table at a
 * time.
 */
export function withMerging(
  search: Search,
  { rows: maxRows = 5_000, writes: maxWrites = 64, quietMs = 2_000, worthRows = 300 }: MergingOptions = {},
): Search {
  const waiting = new LRUCache<string, Waiting>({
    max: maxTables,
    dispose: ({ timer }) => clearTimeout(timer),
    noDisposeOnSet: true,
  });
  const merging = new Set<string>();

  function noteWrite(key: IndexTable, count: number): void {
    const name = tableName(key);
    const { rows, writes, timer } = waiting.get(name) ?? { rows: 0, writes: 0 };
    clearTimeout(timer);
    const now: Waiting = { rows: rows + count, writes: writes + 1 };
    if ((now.rows >= maxRows || now.writes >= maxWrites) && !merging.has(name)) return merge(key, name);
    if (now.rows >= worthRows) now.timer = setTimeout(() => merge(key, name), quietMs).unref();
    waiting.set(name, now);
  }

  function merge(key: IndexTable, name: string): void {
    if (merging.has(name)) return;
    merging.add(name);
    waiting.delete(name);
    // A failed merge loses nothing: later writes trigger another one, and the workflow `maintain-stores` merges too.
    void search
      .maintain(key)
      .catch(() => undefined)
      .finally(() => merging.delete(name));
  }

  return {
    ...search,
    async add(key, rows) {
      await search.add(key, rows);
      noteWrite(key, rows.length);
    },
    close() {
      waiting.clear();
      search.close();
    },
  };
}
