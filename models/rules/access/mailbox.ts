/**
 * A mailbox: an address, with or without the name of whom it belongs to. Pure. A text that holds anything else, such as a
 * line break or a second address, is no mailbox, so that nothing can be smuggled into a mail's head.
 */
import { readEmail } from './email.ts';

export type Mailbox = { name: string; address: string };

/** The longest local part and the longest address that a server has to take (RFC 5321, 4.5.3.1). */
const maxLocalPart = 64;
const maxName = 100;

/** Control characters, and marks that turn the direction of writing. */
const unfit = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** The same for replacing: what a name must not hold. */
const unfitInName = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069<>"@,;]+/gu;

/** Reads `Name <address>`, `"Name" <address>` or an address; undefined for anything else. The address is in lower case. */
export function readMailbox(text: string): Mailbox | undefined {
  if (text.length > 400 || unfit.test(text)) return undefined;
  const parts = /^\s*(?:"([^"]*)"|([^"<>@,;]*?))\s*<([^<>]+)>\s*$/u.exec(text);
  const address = readAddress(parts ? parts[3]! : text);
  return address === undefined ? undefined : { name: nameOf(parts?.[1] ?? parts?.[2] ?? ''), address };
}

/** An address that can be sent to, in lower case; undefined for anything else. */
export function readAddress(text: unknown): string | undefined {
  const address = readEmail(text);
  return address !== undefined && address.lastIndexOf('@') <= maxLocalPart ? address : undefined;
}

/** A name as the head of a mail shows it: on one line, without what an address is made of. */
export const nameOf = (text: string): string =>
  text.replace(unfitInName, ' ').replace(/\s+/gu, ' ').trim().slice(0, maxName).trim();

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
