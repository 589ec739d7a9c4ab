/**
 * Merges the rows that a process writes while it goes on writing. A row that is not merged costs each question 25 µs,
 * and a file of few rows costs each later write 0.1 ms, so a crawl or many uploads would slow both until the next round
 * of `maintain-stores`, which merges what this leaves.
 */
import { LRUCache } from 'lru-cache';
import type { Search } from './search.ts';
import { tableName } from './tables.ts';
import type { IndexTable } from './rows.ts';

type MergingOptions = {
  /** A table is merged after this many rows or this many writes. */
  rows?: number;
  writes?: number;
  /** Fewer rows are merged when nothing was written for this long, ms; below `worthRows` they are left. */
  quietMs?: number;
  worthRows?: number;
};

type Waiting = { rows: number; writes: number; timer?: NodeJS.Timeout };
/** How many tables are counted. */
const maxTables = 1_000;

/** A search that merges added rows in the background, one merge per table at a time. */
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
    // A failed merge loses nothing: the next write counts again, and the workflow merges too.
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
