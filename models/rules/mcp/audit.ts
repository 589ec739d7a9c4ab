/**
 * The hash chain of audit events: each event holds the hash of the event before it, so that a changed, removed or
 * inserted event is detected. Pure; the hash function is passed in.
 */
import { number, string, type RecordWith } from '../base/fields.ts';
import { canonicalJson } from './canonical.ts';

export const auditKinds = ['config', 'discovery', 'invocation', 'approval'] as const;

/**
 * `seq` counts an organization's events from 1. `prev` is the `hash` of the previous event, or `chainStart` for the
 * first event.
 */
export const linkFields = { seq: number, prev: string, hash: string };
export type Link = RecordWith<typeof linkFields>;

export const chainStart = '0'.repeat(64);

/** The hashed text of an event: all fields except the hash and the signature of the hash. */
export const linkText = (event: Omit<Link, 'hash'>): string =>
  canonicalJson({ ...event, hash: undefined, mac: undefined });

/**
 * `missing`: an event is missing. `altered`: an event does not match its own hash. `unlinked`: the `prev` of an event
 * is not the `hash` of the event before it, or the event does not match a trusted mark. `unsigned`: the signature of
 * the event, or of the checkpoint (`seq` 0), was not made by this system.
 */
export const breakReasons = ['missing', 'altered', 'unlinked', 'unsigned'] as const;
/** The first event at which the chain is broken, and why. */
export type Break = { seq: number; reason: (typeof breakReasons)[number] };
/** The progress of a chain check: the number of checked events and the hash of the last checked event. */
export type Checked = { checked: number; last: string };
/** A trusted point of the chain: the number of events up to this point, and the hash of the last of these events. */
export type Mark = Pick<Link, 'seq' | 'hash'>;

export const nothingChecked: Checked = { checked: 0, last: chainStart };

export function checkLink({ checked, last }: Checked, event: Link, sha256: (text: string) => string): Checked | Break {
  const expected = checked + 1;
  if (event.seq !== expected) return { seq: expected, reason: 'missing' };
  if (sha256(linkText(event)) !== event.hash) return { seq: expected, reason: 'altered' };
  if (event.prev !== last) return { seq: expected, reason: 'unlinked' };
  return { checked: expected, last: event.hash };
}

/**
 * Compares the chain with a trusted mark; undefined when the hashes agree, or when the last checked event is not the
 * event of the mark.
 */
export function checkMark({ checked, last }: Checked, { seq, hash }: Mark): Break | undefined {
  return checked === seq && last !== hash ? { seq, reason: 'unlinked' } : undefined;
}

/** Detects a truncated chain: a chain with fewer events than the trusted mark. */
export const checkEnd = ({ checked }: Checked, { seq }: Mark): Break | undefined =>
  checked < seq ? { seq: checked + 1, reason: 'missing' } : undefined;

export const isBreak = (result: Checked | Break): result is Break => 'reason' in result;
