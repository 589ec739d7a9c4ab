/** Turns of processes at a credential that a record holds: what renews it serves once, so that one of them renews it for all. */
import type { Model, mongo } from 'mongoose';
import { collectionOf } from './define.ts';

/** `renewing_until`: while a process renews the credential, until when it may take. */
type Renewable = { _id: string; renewing_until?: Date };

/** Longer than a service may take to renew one, in ms: whoever has not done it by then has died. */
export const renewalMs = 20_000;

/** Records whose credential nobody renews at this moment. */
export const notRenewing = (now: Date) => ({
  $or: [{ renewing_until: { $exists: false } }, { renewing_until: { $lte: now } }],
});

/** `which`: the record, and what has to stand in it. `also`: written with each turn. */
export function renewalTurns<T extends Renewable>(
  model: Model<T>,
  which: Partial<T> & Pick<T, '_id'>,
  { clock, also = {} }: { clock: () => Date; also?: object },
) {
  const update = (filter: object, change: object) =>
    collectionOf(model).updateOne({ ...which, ...filter } as mongo.Filter<T>, { ...change, ...also });
  return {
    /** Lets this process renew it for `renewalMs`; false while another one does. */
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
