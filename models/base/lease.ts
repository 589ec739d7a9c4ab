/**
 * Leases: of all processes of a deployment, only the one that holds a lease does the work that the lease is for. The
 * lease of a process that dies runs out.
 */
import { randomUUID } from 'node:crypto';
import { isDuplicate } from './connect.ts';
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

/** Takes a lease for `ms` milliseconds, or extends the one that `holder` has. False while another holder has it. */
export async function takeLease(name: string, ms: number, now: Date, holder = self): Promise<boolean> {
  const until = new Date(now.getTime() + ms);
  try {
    await collectionOf(LeaseModel).updateOne(
      { _id: name, $or: [{ holder }, { until: { $lte: now } }] },
      { $set: { holder, until } },
      { upsert: true },
    );
    return true;
  } catch (error) {
    // Another holder has the lease, so the upsert tried to insert a second record.
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** Gives back the lease that `holder` has, so that no other process waits until it runs out. */
export async function giveLease(name: string, holder = self): Promise<void> {
  await collectionOf(LeaseModel).deleteOne({ _id: name, holder });
}
