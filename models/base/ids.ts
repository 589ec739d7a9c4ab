/** Ids: a prefix for the kind of record, followed by a ULID, so that ids sort by creation time. */
import { randomFillSync } from 'node:crypto';
import { ulid, type PRNG } from 'ulid';

const prefixes = {
  user: 'usr',
  org: 'org',
  key: 'key',
  document: 'doc',
  gap: 'gap',
  page: 'page',
  pruning: 'prune',
  liveCopy: 'copy',
  crawl: 'crawl',
  schedule: 'sched',
  request: 'req',
  session: 'ssn',
  customer: 'cus',
  conversation: 'conv',
  message: 'msg',
  ticket: 'tkt',
  event: 'evt',
  delivery: 'dlv',
  notification: 'ntf',
  note: 'note',
  cannedReply: 'rep',
  toolCall: 'call',
  audit: 'aud',
  discovery: 'disc',
  meeting: 'mtg',
  interview: 'int',
  question: 'q',
  segment: 'seg',
  task: 'task',
  departure: 'dep',
  execution: 'exec',
  inbound: 'inb',
  errand: 'errand',
  release: 'rel',
  invitation: 'inv',
  operation: 'op',
} as const;

/**
 * Returns a generator that takes its random numbers from a pool. Asking the system for each of the 16 random characters
 * of an id would take a twentieth of a request's time.
 */
function pooledRandom(): PRNG {
  const pool = new Uint32Array(1024);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    return pool[next++]! / 2 ** 32;
  };
}

const random = pooledRandom();

/** `newId('document')` returns `doc_01J…`. */
export function newId(noun: keyof typeof prefixes): string {
  return `${prefixes[noun]}_${ulid(undefined, random)}`;
}

export const isIdOf = (noun: keyof typeof prefixes, id: string): boolean => id.startsWith(`${prefixes[noun]}_`);
