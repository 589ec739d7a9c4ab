/**
 * The frame log: what the sockets of a conversation show, in order, without gaps. Workers, members and revocations append;
 * API processes tail it. It is not the history: the pieces of an answer are forgotten once nobody can be waiting for them.
 */
import { collectionOf, defineModel, Mixed } from '../base/define.ts';
import { isDuplicate } from '../base/connect.ts';
import type { Mode } from '../rules/access/keys.ts';
import { keptUntil, logDays } from '../rules/chat/retention.ts';

export type Frame = {
  /** `<conversation>:<seq>`: the same number is never given twice. */
  _id: string;
  org_id: string;
  conv_id: string;
  seq: number;
  type: string;
  /** The frame's other members, as they are sent. */
  body: Record<string, unknown>;
  /** Of a frame that must be there once, however often it is appended. */
  key?: string;
  at: Date;
  expires_at?: Date;
};
/** `transient`: worth nothing once the frame that follows it is there. */
export type NewFrame = { type: string; body?: Record<string, unknown>; key?: string; transient?: boolean };

const DAY_MS = 86_400_000;
/** Longer than any answer is written. */
const TRANSIENT_DAYS = 2;

export const FrameModel = defineModel<Frame>(
  'Frame',
  'frames',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    conv_id: { type: String, required: true },
    seq: { type: Number, required: true },
    type: { type: String, required: true },
    body: { type: Mixed, required: true },
    key: String,
    at: { type: Date, required: true },
    expires_at: Date,
  },
  [
    { fields: { conv_id: 1, seq: 1 }, unique: true },
    { fields: { conv_id: 1, key: 1 }, unique: true, partialFilterExpression: { key: { $exists: true } } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);

/** The number of a conversation's last frame; 0 when it has none. */
export async function lastSeq(convId: string): Promise<number> {
  const last = await collectionOf(FrameModel).findOne(
    { conv_id: convId },
    { sort: { seq: -1 }, projection: { seq: 1 } },
  );
  return last?.seq ?? 0;
}

/** A conversation's frames after this number, in order, at most `limit`. */
export async function framesAfter(convId: string, seq: number, limit: number): Promise<Frame[]> {
  return collectionOf(FrameModel)
    .find({ conv_id: convId, seq: { $gt: seq } })
    .sort({ seq: 1 })
    .limit(limit)
    .toArray();
}

/** How many frames the log holds after this number, up to that one. */
export async function countFrames(convId: string, after: number, upTo: number): Promise<number> {
  return collectionOf(FrameModel).countDocuments({ conv_id: convId, seq: { $gt: after, $lte: upTo } });
}

/** The number of the last `reply_start` of an answer. */
export async function replyStart(convId: string, replyId: string): Promise<number | undefined> {
  const start = await collectionOf(FrameModel).findOne(
    { conv_id: convId, type: 'reply_start', 'body.message_id': replyId },
    { sort: { seq: -1 }, projection: { seq: 1 } },
  );
  return start?.seq;
}

/** Whether a keyed frame has been appended. */
export async function hasFrame(convId: string, key: string): Promise<boolean> {
  return (await collectionOf(FrameModel).findOne({ conv_id: convId, key }, { projection: { _id: 1 } })) !== null;
}

/** Thrown by an append whose writer has been replaced; nothing was written. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** Appends to one conversation's log. Keeps the last number it knows, so an append that meets no other writer is one insert. */
export type FrameWriter = {
  /** The frame's number; of a keyed frame that was there before, that one's. @throws Overtaken when `holds` says no. */
  append(frame: NewFrame): Promise<number>;
  /** Several in their order, in one command when no other writer is met; gives the last one's number. */
  appendAll(frames: readonly NewFrame[]): Promise<number>;
};

export type WriterOptions = {
  /**
   * Whether this writer still may write, asked whenever another one has written. A writer that was believed dead finds out
   * before it can write between its successor's frames, since the successor has written first.
   */
  holds?: () => Promise<boolean>;
  /** The log's last number, read before the right to write was taken: then `holds` need not be asked to begin with. */
  after?: number;
};

export function frameWriter(
  { org_id, mode, _id: convId }: { org_id: string; mode: Mode; _id: string },
  clock: () => Date,
  { holds = async () => true, after }: WriterOptions = {},
): FrameWriter {
  let known = after;

  function frameOf({ type, body = {}, key, transient = false }: NewFrame, seq: number): Frame {
    const at = clock();
    const passing = { expires_at: new Date(at.getTime() + TRANSIENT_DAYS * DAY_MS) };
    return {
      _id: `${convId}:${seq}`,
      org_id,
      conv_id: convId,
      seq,
      type,
      body,
      ...(key === undefined ? {} : { key }),
      at,
      ...(transient ? passing : keptUntil(mode, at, logDays)),
    };
  }

  /** Where a frame of this key stands. */
  async function standingAt(key: string | undefined): Promise<number | undefined> {
    if (key === undefined) return undefined;
    const standing = await collectionOf(FrameModel).findOne({ conv_id: convId, key }, { projection: { seq: 1 } });
    return standing?.seq;
  }

  async function appendAll(frames: readonly NewFrame[]): Promise<number> {
    let left = frames;
    let last = known ?? 0;
    while (left.length > 0) {
      if (known === undefined) {
        known = await lastSeq(convId);
        if (!(await holds())) throw new Overtaken();
      }
      const from = known + 1;
      const inserted = await insertOrdered(left.map((frame, index) => frameOf(frame, from + index)));
      if (inserted > 0) last = known += inserted;
      if (inserted === left.length) break;
      // The number is taken, or the keyed frame was there before.
      const standing = await standingAt(left[inserted]?.key);
      if (standing === undefined) known = undefined;
      else last = standing;
      left = left.slice(standing === undefined ? inserted : inserted + 1);
    }
    return last;
  }

  return { appendAll, append: (frame) => appendAll([frame]) };
}

/** How many were stored, in their order, before one that is there already. */
async function insertOrdered(frames: Frame[]): Promise<number> {
  try {
    if (frames.length === 1) await collectionOf(FrameModel).insertOne(frames[0]!);
    else await collectionOf(FrameModel).insertMany(frames);
    return frames.length;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return (error as { insertedCount?: number }).insertedCount ?? 0;
  }
}
