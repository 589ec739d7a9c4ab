/**
 * The chain of audit events: each holds the hash of the one before it, so that an event that was changed, removed or
 * slipped in later is found. Pure; the hash function is an argument.
 */
import { canonicalJson } from './canonical.ts';

export const auditKinds = ['config', 'discovery', 'invocation', 'approval'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** `seq` counts an organization's events from 1; `prev` is the `hash` of the event before, of the first one `chainStart`. */
export type Link = { seq: number; prev: string; hash: string };

export const chainStart = '0'.repeat(64);

/** What an event's hash is made of: all of it but the hash. */
export const linkText = (event: Omit<Link, 'hash'>): string => canonicalJson({ ...event, hash: undefined });

/** Why a link does not hold. */
export type Break = { seq: number; reason: 'missing' | 'altered' | 'unlinked' };
/** Where a check of the chain stands: the events so far and the last one's hash. */
export type Checked = { checked: number; last: string };

export const nothingChecked: Checked = { checked: 0, last: chainStart };

/** Checks the next event of a chain. */
export function checkLink({ checked, last }: Checked, event: Link, sha256: (text: string) => string): Checked | Break {
  const expected = checked + 1;
  if (event.seq !== expected) return { seq: expected, reason: 'missing' };
  if (sha256(linkText(event)) !== event.hash) return { seq: expected, reason: 'altered' };
  if (event.prev !== last) return { seq: expected, reason: 'unlinked' };
  return { checked: expected, last: event.hash };
}

export const isBreak = (result: Checked | Break): result is Break => 'reason' in result;
