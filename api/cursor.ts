/** Opaque keyset cursors: the id of a page's last entry, so that pages stay put while entries come and go. */
import { Problem } from '../models/rules/errors.ts';

/** The next page's cursor, or null when this page was the last: ask for one entry more than `limit` to know. */
export function page<T extends { _id: string }>(found: T[], limit: number): { entries: T[]; cursor: string | null } {
  const entries = found.slice(0, limit);
  const last = found.length > limit ? entries.at(-1) : undefined;
  return { entries, cursor: last ? Buffer.from(last._id).toString('base64url') : null };
}

/** The id a cursor stands for. Throws `VALIDATION` for one that we did not make. */
export function afterCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const id = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!/^[a-z]+_[0-9A-Z]{26}$/.test(id) || Buffer.from(id).toString('base64url') !== cursor) {
    const message = 'is not a cursor of this list; start without one';
    throw new Problem('VALIDATION', { details: [{ path: ['query', 'cursor'], message }] });
  }
  return id;
}
export const DEFAULT_LIMIT = 20;
