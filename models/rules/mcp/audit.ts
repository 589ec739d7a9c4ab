/**
 * The chain of audit events: each holds the hash of the one before it, so that an event that was changed, removed or
 * slipped in later is found. Pure; the hash function is an argument.
 */
import { number, string, type RecordWith } from '../base/fields.ts';
import { canonicalJson } from './canonical.ts';

export const auditKinds = ['config', 'discovery', 'invocation', 'approval'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** `seq` counts an organization's events from 1; `prev` is the `hash` of the event before, of the first one `chainStart`. */
export const linkFields = { seq: number, prev: string, hash: string };
export type Link = RecordWith<typeof linkFields>;

export const chainStart = '0'.repeat(64);

/** What an event's hash is made of: all of it but the hash, and the signature of the hash. */
export const linkText = (event: Omit<Link, 'hash'>): string =>
  canonicalJson({ ...event, hash: undefined, mac: undefined });

/** `unsigned`: the signature of the event, or of the checkpoint (`seq` 0), is not one of this system. */
export const breakReasons = ['missing', 'altered', 'unlinked', 'unsigned'] as const;
/** Why a link does not hold. */
export type Break = { seq: number; reason: (typeof breakReasons)[number] };
/** Where a check of the chain stands: the events so far and the last one's hash. */
export type Checked = { checked: number; last: string };
/** A place of the chain that is known to be right: the number of events up to it, and the hash of the last one. */
export type Mark = Pick<Link, 'seq' | 'hash'>;

export const nothingChecked: Checked = { checked: 0, last: chainStart };

/** Checks the next event of a chain. */
export function checkLink({ checked, last }: Checked, event: Link, sha256: (text: string) => string): Checked | Break {
  const expected = checked + 1;
  if (event.seq !== expected) return { seq: expected, reason: 'missing' };
  if (sha256(linkText(event)) !== event.hash) return { seq: expected, reason: 'altered' };
  if (event.prev !== last) return { seq: expected, reason: 'unlinked' };
  return { checked: expected, last: event.hash };
}

/** Whether the chain goes through a place that is known to be right, as far as it has been checked. */
export function checkMark({ checked, last }: Checked, { seq, hash }: Mark): Break | undefined {
  return checked === seq && last !== hash ? { seq, reason: 'unlinked' } : undefined;
}

/** Whether the end of the chain is there: it reaches at least to this place. */
export const checkEnd = ({ checked }: Checked, { seq }: Mark): Break | undefined =>
  checked < seq ? { seq: checked + 1, reason: 'missing' } : undefined;

export const isBreak = (result: Checked | Break): result is Break => 'reason' in result;
