/**
 * A lease for renewing a stored credential. A refresh token can be used once, so one process renews the credential for
 * all.
 */
import type { mongo } from 'mongoose';
import { acrossShards, type Model } from './define.ts';

/** `renewing_until`: the end of the lease while a process renews the credential. */
type Renewable = { _id: string; renewing_until?: Date };

/** The length of the lease, in ms: longer than any renewal, so a process that exceeds it has crashed. */
export const renewalMs = 20_000;

/** Matches records whose credential no process is renewing. */
export const notRenewing = (now: Date) => ({
  $or: [{ renewing_until: { $exists: false } }, { renewing_until: { $lte: now } }],
});

/**
 * The lease of one record. `which`: the record, with the values that it must still have. `also`: an update that is
 * written together with each `claim` and `end`.
 */
export function renewalTurns<T extends Renewable>(
  model: Model<T>,
  which: Partial<T> & Pick<T, '_id'>,
  { clock, also = {} }: { clock: () => Date; also?: object },
) {
  const update = (filter: object, change: object) =>
    acrossShards(model).updateOne({ ...which, ...filter } as mongo.Filter<T>, { ...change, ...also });
  return {
    /** Takes the lease for `renewalMs`; false while another process holds it. */
    async claim(): Promise<boolean> {
      const now = clock();
      const taken = { $set: { renewing_until: new Date(now.getTime() + renewalMs) } };
      return (await update(notRenewing(now), taken)).matchedCount === 1;
    },
    async end(): Promise<void> {
      await update({}, { $unset: { renewing_until: '' } });
    },
  };
}
