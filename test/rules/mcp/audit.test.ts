/**
 * An audit chain is valid until an event is changed, removed, added or moved. The check then names the first broken
 * link.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  chainStart,
  checkLink,
  isBreak,
  linkText,
  nothingChecked,
  type Break,
  type Link,
} from '../../../models/rules/mcp/audit.ts';

type Event = Link & { tool: string };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function chain(length: number): Event[] {
  const events: Event[] = [];
  for (let seq = 1; seq <= length; seq += 1) {
    const event = { seq, prev: events.at(-1)?.hash ?? chainStart, tool: `t${seq}` };
    events.push({ ...event, hash: sha256(linkText(event)) });
  }
  return events;
}

function firstBreak(events: Event[]): Break | undefined {
  let checked = nothingChecked;
  for (const event of events) {
    const next = checkLink(checked, event, sha256);
    if (isBreak(next)) return next;
    checked = next;
  }
  return undefined;
}

const rehash = (event: Event): Event => ({ ...event, hash: sha256(linkText(event)) });

describe('checkLink', () => {
  it('an unchanged audit chain is valid', () => expect(firstBreak(chain(20))).toBeUndefined());

  it.each<[string, (events: Event[]) => Event[], Break]>([
    ['changed', (e) => e.with(4, { ...e[4]!, tool: 'other' }), { seq: 5, reason: 'altered' }],
    ['changed and hashed anew', (e) => e.with(4, rehash({ ...e[4]!, tool: 'x' })), { seq: 6, reason: 'unlinked' }],
    ['removed', (e) => e.toSpliced(4, 1), { seq: 5, reason: 'missing' }],
    [
      'removed, and the next one renumbered and hashed anew',
      (e) => e.toSpliced(4, 2, rehash({ ...e[5]!, seq: 5 })),
      { seq: 5, reason: 'unlinked' },
    ],
    ['swapped with the next', (e) => e.with(4, e[5]!).with(5, e[4]!), { seq: 5, reason: 'missing' }],
    ['given a field more', (e) => e.with(4, { ...e[4]!, note: 'x' } as Event), { seq: 5, reason: 'altered' }],
    ['the first one of all', (e) => e.slice(1), { seq: 1, reason: 'missing' }],
  ])(
    'the check of an audit chain names the first broken link after tampering with one event: %s',
    (_how, tamper, broken) => expect(firstBreak(tamper(chain(10)))).toEqual(broken),
  );
});
