/** Which texts are e-mail addresses, and when two addresses are equal. Pure. */

export const maxEmailLength = 254;

/**
 * The form that browsers accept in an e-mail field (HTML standard). Surrounding blanks are allowed, because people
 * paste them.
 */
export const emailPattern =
  /^[ \t]*[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*[ \t]*$/;

/** The stored form: trimmed and lower case, so that one address cannot be registered twice in different spellings. */
export function normalizeEmail(raw: string): string {
  return raw.trim().toLowerCase();
}

/** The stored form of an address from an unvalidated source; undefined when the value is not an address. */
export function readEmail(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw.length > maxEmailLength || !emailPattern.test(raw)) return undefined;
  return normalizeEmail(raw);
}
