/**
 * A change stream that reports ended records, such as a revoked session or a removed conversation, so that the sockets
 * of every process learn of them at once. The stream also reports appended frames when Redis (channels.ts) does not
 * deliver them. It only notifies; a listener that missed a notification reads the collections.
 */
import mongoose from 'mongoose';
import { FrameModel, type Frame } from './frame.ts';

/**
 * A collection whose ended records are reported. `endedBy`: the field that is set when a record ends without being
 * deleted.
 */
export type WatchedRecords = { collection: string; endedBy?: string };

export type Change = { kind: 'frame'; frame: Frame } | { kind: 'ended'; collection: string; id: string };

/** The changes that are committed after `opened` has resolved, in the order of their commits. */
export type Changes = {
  /** Starts listening, and returns a change if one came at once. The caller calls this once, before `next`. */
  opened(): Promise<Change | null>;
  /**
   * Waits for the next change. The driver resumes after a lost connection; the promise rejects when the driver cannot
   * resume.
   */
  next(): Promise<Change>;
  close(): Promise<void>;
};

type Reported =
  | { operationType: 'insert'; fullDocument: Frame }
  | { operationType: string; ns: { coll: string }; documentKey: { _id: unknown } };

/** `frames`: whether appended frames are reported. */
export function watchChanges(watched: readonly WatchedRecords[], { frames }: { frames: boolean }): Changes {
  const stream = mongoose.connection.db!.watch([
    {
      $match: {
        $or: [
          ...(frames ? [{ 'ns.coll': FrameModel.collection.collectionName, operationType: 'insert' }] : []),
          { 'ns.coll': { $in: watched.map(({ collection }) => collection) }, operationType: 'delete' },
          ...watched.flatMap(({ collection, endedBy }) =>
            endedBy === undefined
              ? []
              : [
                  {
                    'ns.coll': collection,
                    operationType: 'update',
                    [`updateDescription.updatedFields.${endedBy}`]: { $exists: true },
                  },
                ],
          ),
        ],
      },
    },
  ]);
  const read = (seen: unknown): Change => {
    const change = seen as Reported;
    return 'fullDocument' in change
      ? { kind: 'frame', frame: change.fullDocument }
      : { kind: 'ended', collection: change.ns.coll, id: String(change.documentKey._id) };
  };
  return {
    async opened() {
      const seen = await stream.tryNext();
      return seen === null ? null : read(seen);
    },
    next: async () => read(await stream.next()),
    close: () => stream.close(),
  };
}
