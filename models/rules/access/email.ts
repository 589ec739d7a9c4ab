/** Decides what an e-mail address is and when two of them are the same. Pure. */

export const maxEmailLength = 254;

/** The form browsers accept in an e-mail field (HTML standard), with blanks around it, since people paste them. */
export const emailPattern =
  /^[ \t]*[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*[ \t]*$/;

/** The stored form: trimmed and lower case, so that one person cannot hold an address twice by its spelling. */
export function normalizeEmail(raw: string): string {
  return raw.trim().toLowerCase();
}

/** The stored form of an address that does not come from a checked request; undefined when it is not an address. */
export function readEmail(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw.length > maxEmailLength || !emailPattern.test(raw)) return undefined;
  return normalizeEmail(raw);
}
