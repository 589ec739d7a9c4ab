/**
 * Parses mailboxes: an address with an optional name. Pure. A text that contains anything else, such as a line break or
 * a second address, is refused, so that nobody can inject mail headers.
 */
import { readEmail } from './email.ts';

export type Mailbox = { name: string; address: string };

/** The maximum length of the part before the @ (RFC 5321, 4.5.3.1). */
const maxLocalPart = 64;
const maxName = 100;

/** Control characters, line separators, and characters that change the text direction. */
const unfit = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** Characters that are removed from a name, because they are unsafe or have a meaning in addresses. */
const unfitInName = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069<>"@,;]+/gu;

/**
 * Parses `Name <address>`, `"Name" <address>` or an address; undefined for anything else. The address becomes lower
 * case.
 */
export function readMailbox(text: string): Mailbox | undefined {
  if (text.length > 400 || unfit.test(text)) return undefined;
  const parts = /^\s*(?:"([^"]*)"|([^"<>@,;]*?))\s*<([^<>]+)>\s*$/u.exec(text);
  const address = readAddress(parts ? parts[3]! : text);
  return address === undefined ? undefined : { name: nameOf(parts?.[1] ?? parts?.[2] ?? ''), address };
}

/** An address that mail can be sent to, in lower case; undefined for anything else. */
export function readAddress(text: unknown): string | undefined {
  const address = readEmail(text);
  return address !== undefined && address.lastIndexOf('@') <= maxLocalPart ? address : undefined;
}

/** A name for a mail header: one line, without characters that have a meaning in addresses. */
export const nameOf = (text: string): string =>
  text.replace(unfitInName, ' ').replace(/\s+/gu, ' ').trim().slice(0, maxName).trim();

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
