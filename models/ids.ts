/** Identifiers: a prefix that says what it names, then a ULID, so that they sort by time of creation. */
import { ulid } from 'ulid';

const prefixes = {
  user: 'usr',
  org: 'org',
  key: 'key',
  document: 'doc',
  gap: 'gap',
  request: 'req',
} as const;

/** `newId('document')` is `doc_01J…`. */
export function newId(noun: keyof typeof prefixes): string {
  return `${prefixes[noun]}_${ulid()}`;
}
