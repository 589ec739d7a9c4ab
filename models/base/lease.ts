/**
 * Leases: of the processes of a deployment that may do a thing, one at a time does it. The lease of a process that dies
 * runs out.
 */
import { randomUUID } from 'node:crypto';
import { isDuplicate } from './connect.ts';
import { collectionOf, defineModel } from './define.ts';
import { date, string } from '../rules/base/fields.ts';

const LeaseModel = defineModel(
  'Lease',
  'leases',
  {
    /** What is leased. */
    _id: string,
    /** The process that holds it. */
    holder: string,
    until: date,
  },
  [{ fields: { until: 1 }, expireAfterSeconds: 3_600 }],
);

/** This process, unless told. */
const self: string = randomUUID();

/** Takes a lease for `ms`, or prolongs the own one. False while another holder has it. */
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
    // The record is there and somebody else's.
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** Gives the own lease back, so that nobody waits for its end. */
export async function giveLease(name: string, holder = self): Promise<void> {
  await collectionOf(LeaseModel).deleteOne({ _id: name, holder });
}
