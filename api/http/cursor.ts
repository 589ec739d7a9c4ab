/**
 * Opaque keyset cursors. A cursor holds the id or the position of a page's last entry, so pages stay stable while
 * entries are added and removed.
 */
import { invalid } from '../../models/rules/base/errors.ts';

export const defaultLimit = 20;

/** The entries of a page, and the cursor of the next page, or null on the last page. */
type ListPage<T> = { entries: T[]; cursor: string | null };

/**
 * A page of a list that is ordered by id. `read` gets how many entries to read and the id of the previous page's last
 * entry.
 * @throws Problem VALIDATION for an invalid cursor. The error is thrown before a promise is returned, so that reads
 * that the caller would start in parallel do not start.
 */
export function paged<T extends { _id: string }>(
  { limit = defaultLimit, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  read: (limit: number, after: string | undefined) => Promise<T[]>,
): Promise<ListPage<T>> {
  const after = afterPlace(cursor, /^[a-z]+_[0-9A-Z]{26}$/);
  return read(limit + 1, after).then((found) => placedListPage(found, limit, ({ _id }) => _id));
}

/**
 * The first `limit` entries of `found`. The caller reads one entry more than `limit`, which shows whether there is a
 * next page. `placeOf` writes an entry's position in the list's order as text.
 */
export function placedListPage<T>(found: T[], limit: number, placeOf: (entry: T) => string): ListPage<T> {
  const entries = found.slice(0, limit);
  const last = found.length > limit ? entries.at(-1) : undefined;
  return { entries, cursor: last === undefined ? null : Buffer.from(placeOf(last)).toString('base64url') };
}

/**
 * Reads the position out of a cursor that `placedListPage` made. `form`: a pattern that matches every position its
 * `placeOf` returns. @throws Problem VALIDATION when the position does not match.
 */
export function afterPlace(cursor: string | undefined, form: RegExp): string | undefined {
  if (cursor === undefined) return undefined;
  const place = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!form.test(place) || Buffer.from(place).toString('base64url') !== cursor) {
    throw foreignCursor();
  }
  return place;
}

export const foreignCursor = () => invalid(['query', 'cursor'], 'is not a cursor of this list; start without one');
