/**
 * What sockets have to hear of at once, whichever process did it: frames that were appended, sessions that were revoked or
 * erased, conversations that were removed. It only reports; what was missed while nobody listened is in the collections themselves.
 */
import mongoose from 'mongoose';
import { ConversationModel } from './conversation.ts';
import { FrameModel, type Frame } from './frame.ts';
import { SessionModel } from '../access/session.ts';

export type Change =
  { kind: 'frame'; frame: Frame } | { kind: 'ended'; sessionId: string } | { kind: 'removed'; convId: string };

/** Changes from the moment in which `opened` settles, in the order in which they were committed. */
export type Changes = {
  /** Settles when changes are listened to, with one that came at once. Call it once, before `next`. */
  opened(): Promise<Change | null>;
  /** Waits for the next one. The driver resumes by itself after a lost connection; rejects when it cannot. */
  next(): Promise<Change>;
  close(): Promise<void>;
};

type Seen =
  | { operationType: 'insert'; fullDocument: Frame }
  | { operationType: string; ns: { coll: string }; documentKey: { _id: unknown } };

export function watchChanges(): Changes {
  const frames = FrameModel.collection.collectionName;
  const sessions = SessionModel.collection.collectionName;
  const conversations = ConversationModel.collection.collectionName;
  const stream = mongoose.connection.db!.watch([
    {
      $match: {
        $or: [
          { 'ns.coll': frames, operationType: 'insert' },
          { 'ns.coll': { $in: [sessions, conversations] }, operationType: 'delete' },
          {
            'ns.coll': sessions,
            operationType: 'update',
            'updateDescription.updatedFields.revoked_at': { $exists: true },
          },
        ],
      },
    },
  ]);
  const read = (seen: unknown): Change => {
    const change = seen as Seen;
    if ('fullDocument' in change) return { kind: 'frame', frame: change.fullDocument };
    const id = String(change.documentKey._id);
    return change.ns.coll === conversations ? { kind: 'removed', convId: id } : { kind: 'ended', sessionId: id };
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
