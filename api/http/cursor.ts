/**
 * Opaque keyset cursors. A cursor holds the id of a page's last entry, so pages stay stable while entries are added and
 * removed.
 */
import { Problem } from '../../models/rules/base/errors.ts';

/** The cursor of the next page, or null on the last page. The caller reads one entry more than `limit` to find out. */
export function listPage<T extends { _id: string }>(
  found: T[],
  limit: number,
): { entries: T[]; cursor: string | null } {
  return placedListPage(found, limit, ({ _id }) => _id);
}

/** The id in a cursor. Throws `VALIDATION` for a cursor that we did not make. */
export function afterCursor(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : opened(cursor, /^[a-z]+_[0-9A-Z]{26}$/);
}

/** As `listPage`, for a list that is ordered by more than ids. `placeOf` writes an entry's position as text. */
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
 * The position that `placeOf` wrote. `form` must match every text that `placeOf` writes. Throws `VALIDATION` for a
 * cursor that we did not make.
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
