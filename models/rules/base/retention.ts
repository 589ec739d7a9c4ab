/**
 * How many days records are kept before they are deleted automatically. docs/operating.md shows this table. Messages
 * and customers of test mode expire with their conversations. Records that are valid for a short time, such as one-time
 * states, are deleted when they become invalid. All other records stay until a person deletes them. Pure.
 */
import type { Collection } from './holdings.ts';

/** `from`: the moment from which the days count. `why`: what the record is kept for. */
type Kept = { readonly days: number; readonly from: string; readonly why: string };

export const kept = {
  conversations: { days: 30, from: 'the last message', why: 'test mode only; live conversations stay' },
  crawl_frontier: { days: 30, from: 'the discovery of the address', why: 'the problems of a crawl are looked at' },
  deliveries: {
    days: 30,
    from: 'its creation, or its latest redelivery',
    why: 'attempts are looked at, and what failed is recovered',
  },
  departures: { days: 30, from: 'the removal', why: 'longer than any outage after which the work is still done' },
  frames: { days: 2, from: 'the frame', why: 'transient frames only (typing, pieces of an answer)' },
  gaps: { days: 180, from: 'the last time it was asked', why: 'members write what is missing' },
  inbound: { days: 30, from: 'its arrival', why: 'what had no effect is looked into' },
  invitations: { days: 90, from: 'its expiry', why: 'members see whom they have invited' },
  meetings: { days: 365, from: 'its creation; its owner may choose other days', why: 'the specification' },
  notifications: { days: 180, from: 'the notification, read or not', why: 'members look back' },
  operations: { days: 365, from: 'the act', why: 'the audit of operators' },
  presences: { days: 2, from: 'the last sign of life', why: 'who is here' },
  rooms: { days: 7, from: 'the end of the interview', why: 'sockets catch up, and an old link says that it is over' },
  sessions: { days: 30, from: 'its end', why: 'shows who wrote, and that it was revoked' },
} as const satisfies Partial<Record<Collection, Kept>>;

export const dayMs = 86_400_000;

/** When a record expires if its days are counted from `at`. */
export const expiryOf = (collection: keyof typeof kept, at: Date): Date =>
  new Date(at.getTime() + kept[collection].days * dayMs);
export const keptSeconds = (collection: keyof typeof kept): number => (kept[collection].days * dayMs) / 1000;
