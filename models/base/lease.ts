/**
 * A lease lets one process of a deployment do certain work, and keeps all other processes from doing it. When the
 * process dies, its lease runs out.
 */
import { randomUUID } from 'node:crypto';
import { unlessDuplicate } from './connect.ts';
import { collectionOf, defineModel } from './define.ts';
import { date, string } from '../rules/base/fields.ts';

const LeaseModel = defineModel(
  'Lease',
  'leases',
  {
    _id: string,
    /** The id of the process that holds the lease; for some leases, the id of a single caller. */
    holder: string,
    until: date,
  },
  [{ fields: { until: 1 }, expireAfterSeconds: 3_600 }],
);

/** The default holder: this process. */
const self: string = randomUUID();

/**
 * Takes a lease for `ms` milliseconds, or extends the lease when `holder` already has it. Returns false while another
 * holder has the lease.
 *
 * MongoDB's clock sets the times. A process whose own clock is ahead would store an end that is too late. After its
 * death, other processes would wait too long for the lease.
 *
 * The condition is in the update, because MongoDB takes no `$expr` in the filter of an upsert. A missing `until` is
 * less than any time, so a lease that is not stored yet is free.
 */
export async function takeLease(name: string, ms: number, holder = self): Promise<boolean> {
  const free = { $or: [{ $eq: ['$holder', holder] }, { $lte: ['$until', '$$NOW'] }] };
  const until = { $add: ['$$NOW', ms] };
  // When another process creates the record at the same moment, this upsert may fail as a duplicate; then the lease is
  // not taken.
  const lease = await unlessDuplicate(() =>
    collectionOf(LeaseModel).findOneAndUpdate(
      { _id: name },
      [{ $set: { holder: { $cond: [free, holder, '$holder'] }, until: { $cond: [free, until, '$until'] } } }],
      { upsert: true, returnDocument: 'after' },
    ),
  );
  return lease?.holder === holder;
}

/** Gives back the lease that `holder` has, so that no other process waits until it runs out. */
export async function giveLease(name: string, holder = self): Promise<void> {
  await collectionOf(LeaseModel).deleteOne({ _id: name, holder });
}

/**
 * The length of the lease for a renewal, in ms. Even with a slow server, the requests of a renewal take less time.
 * After a crash, the next renewal waits for this long.
 */
const renewalMs = 60_000;

/**
 * A lock for renewing a stored credential, such as an OAuth refresh token. Only one caller in all processes may renew
 * the credential at a time, because a refresh token can be used once.
 */
export function renewalTurns(credential: string) {
  const name = `renewal:${credential}`;
  const holder = randomUUID();
  let busy = false;
  return {
    /** Takes the lock; false while another caller holds it, even in this process. */
    async claim(): Promise<boolean> {
      if (busy) return false;
      busy = true;
      let claimed = false;
      try {
        claimed = await takeLease(name, renewalMs, holder);
      } finally {
        busy = claimed;
      }
      return claimed;
    },
    async end(): Promise<void> {
      try {
        await giveLease(name, holder);
      } finally {
        busy = false;
      }
    },
  };
}
