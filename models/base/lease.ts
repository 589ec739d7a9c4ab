/**
 * Leases: of all processes of a deployment, only the one that holds a lease does the work that the lease is for. The
 * lease of a process that dies runs out.
 */
import { randomUUID } from 'node:crypto';
import { unlessDuplicate } from './connect.ts';
import { collectionOf, defineModel } from './define.ts';
import { date, string } from '../rules/base/fields.ts';

const LeaseModel = defineModel(
  'Lease',
  'leases',
  {
    /** The name of the lease. */
    _id: string,
    /** The process that holds the lease. */
    holder: string,
    until: date,
  },
  [{ fields: { until: 1 }, expireAfterSeconds: 3_600 }],
);

/** The default holder: this process. */
const self: string = randomUUID();

/**
 * Takes a lease for `ms` milliseconds, or extends the one that `holder` has. False while another holder has it. The
 * times are those of MongoDB's clock: a process whose own clock is ahead would otherwise keep a lease for as long after
 * its death. The condition is in the update, because MongoDB takes no `$expr` in the filter of an upsert. A missing
 * `until` is less than any time.
 */
export async function takeLease(name: string, ms: number, holder = self): Promise<boolean> {
  const free = { $or: [{ $eq: ['$holder', holder] }, { $lte: ['$until', '$$NOW'] }] };
  const until = { $add: ['$$NOW', ms] };
  // When another process creates the record at the same moment, the upsert may try to insert a second one.
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

/** The length of the lease for a renewal, in ms: longer than any renewal, so a process that exceeds it has crashed. */
const renewalMs = 20_000;

/** The turns of all processes at renewing a stored credential: a refresh token can be used once. */
export function renewalTurns(credential: string) {
  const name = `renewal:${credential}`;
  let holder: string | undefined;
  return {
    /** Begins a turn; false during another turn, even of this process. */
    async claim(): Promise<boolean> {
      const claimant = randomUUID();
      const claimed = await takeLease(name, renewalMs, claimant);
      if (claimed) holder = claimant;
      return claimed;
    },
    end: (): Promise<void> => giveLease(name, holder),
  };
}
