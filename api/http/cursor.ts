/**
 * Opaque keyset cursors. A cursor holds the id or the position of a page's last entry, so pages stay stable while
 * entries are added and removed.
 */
import { Problem } from '../../models/rules/base/errors.ts';

/**
 * The first `limit` entries of `found`, and the cursor of the next page, or null on the last page. The caller reads one
 * entry more than `limit`, which shows whether there is a next page.
 */
export function listPage<T extends { _id: string }>(
  found: T[],
  limit: number,
): { entries: T[]; cursor: string | null } {
  return placedListPage(found, limit, ({ _id }) => _id);
}

/** The id in a cursor of `listPage`. Throws `VALIDATION` for any other text. */
export function afterCursor(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : opened(cursor, /^[a-z]+_[0-9A-Z]{26}$/);
}

/**
 * Does the same as `listPage` for a list that is not ordered by ids alone. `placeOf` writes an entry's position in that
 * order as text.
 */
export function placedListPage<T>(
  found: T[],
  limit: number,
  placeOf: (entry: T) => string,
): { entries: T[]; cursor: string | null } {
  const entries = found.slice(0, limit);
  const last = found.length > limit ? entries.at(-1) : undefined;
  return { entries, cursor: last === undefined ? null : Buffer.from(placeOf(last)).toString('base64url') };
}

/**
 * Reads the position out of a cursor that `placedListPage` made. `form`: a pattern that matches every position its
 * `placeOf` returns. @throws Problem VALIDATION when the position does not match.
 */
export function afterPlace(cursor: string | undefined, form: RegExp): string | undefined {
  return cursor === undefined ? undefined : opened(cursor, form);
}

function opened(cursor: string, form: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!form.test(place) || Buffer.from(place).toString('base64url') !== cursor) {
    const message = 'is not a cursor of this list; start without one';
    throw new Problem('VALIDATION', { details: [{ path: ['query', 'cursor'], message }] });
  }
  return place;
}
export const defaultLimit = 20;
