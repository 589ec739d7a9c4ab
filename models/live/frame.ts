/**
 * The frame log: what the sockets of a stream show, numbered, in order, without gaps. A stream is anything that sockets
 * follow, named by the id of its record: a conversation, a room, a dashboard. API processes tail the log. It is no history:
 * a slice keeps elsewhere what is worth keeping.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, mixed, number, optional, string } from '../rules/base/fields.ts';
import { isDuplicate } from '../base/connect.ts';

/** `transient`: worth nothing once the frame that follows it is there. */
export type NewFrame = { type: string; body?: Record<string, unknown>; key?: string; transient?: boolean };

const dayMs = 86_400_000;
/** Longer than anybody waits for what a transient frame announces. */
const transientDays = 2;

export const FrameModel = defineModel(
  'Frame',
  'frames',
  {
    /** `<stream>:<seq>`: the same number is never given twice. */
    _id: string,
    org_id: string,
    /** The id of the record that sockets follow. */
    stream: string,
    /** Counts a stream's frames from 1. */
    seq: number,
    type: string,
    /** The frame's other members, as they are sent. */
    body: mixed<Record<string, unknown>>(),
    /** Of a frame that must be there once, however often it is appended. */
    key: optional(string),
    at: date,
    expires_at: optional(date),
  },
  [
    { fields: { stream: 1, seq: 1 }, unique: true },
    { fields: { stream: 1, key: 1 }, unique: true, partialFilterExpression: { key: { $exists: true } } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type Frame = RecordOf<typeof FrameModel>;

/** The number of a stream's last frame; 0 when it has none. */
export async function lastSeq(stream: string): Promise<number> {
  const last = await collectionOf(FrameModel).findOne({ stream }, { sort: { seq: -1 }, projection: { seq: 1 } });
  return last?.seq ?? 0;
}

/** A stream's frames after this number, in order, at most `limit`. */
export async function framesAfter(stream: string, seq: number, limit: number): Promise<Frame[]> {
  return collectionOf(FrameModel)
    .find({ stream, seq: { $gt: seq } })
    .sort({ seq: 1 })
    .limit(limit)
    .toArray();
}

/** How many frames the log holds after this number, up to that one. */
export async function countFrames(stream: string, after: number, upTo: number): Promise<number> {
  return collectionOf(FrameModel).countDocuments({ stream, seq: { $gt: after, $lte: upTo } });
}

/** Whether a keyed frame has been appended. */
export async function hasFrame(stream: string, key: string): Promise<boolean> {
  return (await collectionOf(FrameModel).findOne({ stream, key }, { projection: { _id: 1 } })) !== null;
}

/** Thrown when another writer has taken the right to write; nothing was written. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/** Appends to one stream's log. Keeps the last number it knows, so an append that meets no other writer is one insert. */
export type FrameWriter = {
  /** The frame's number; of a keyed frame that was there before, that one's. @throws Superseded when `holds` says no. */
  append(frame: NewFrame): Promise<number>;
  /** Several in their order, in one command when no other writer is met; gives the last one's number. */
  appendAll(frames: readonly NewFrame[]): Promise<number>;
};

/** Where frames are appended, and how long those that are not transient are kept; without an end, forever. */
export type FrameLog = { orgId: string; stream: string; keptUntil(at: Date): { expires_at?: Date } };

export type WriterOptions = {
  /**
   * Whether this writer still has the right to write, asked whenever another one has written. A writer that was believed
   * dead learns that it was replaced before it can write between its successor's frames: the successor has written first.
   */
  holds?: () => Promise<boolean>;
  /** The log's last number, read before the right to write was taken: then `holds` need not be asked to begin with. */
  after?: number;
};

export function frameWriter(
  { orgId, stream, keptUntil }: FrameLog,
  clock: () => Date,
  { holds = async () => true, after }: WriterOptions = {},
): FrameWriter {
  let known = after;

  function frameOf({ type, body = {}, key, transient = false }: NewFrame, seq: number): Frame {
    const at = clock();
    return {
      _id: `${stream}:${seq}`,
      org_id: orgId,
      stream,
      seq,
      type,
      body,
      ...(key === undefined ? {} : { key }),
      at,
      ...(transient ? { expires_at: new Date(at.getTime() + transientDays * dayMs) } : keptUntil(at)),
    };
  }

  /** The number of the frame with this key, if there is one. */
  async function seqOf(key: string | undefined): Promise<number | undefined> {
    if (key === undefined) return undefined;
    const standing = await collectionOf(FrameModel).findOne({ stream, key }, { projection: { seq: 1 } });
    return standing?.seq;
  }

  async function appendAll(frames: readonly NewFrame[]): Promise<number> {
    let left = frames;
    let last = known ?? 0;
    while (left.length > 0) {
      if (known === undefined) {
        known = await lastSeq(stream);
        if (!(await holds())) throw new Superseded();
      }
      const from = known + 1;
      const inserted = await insertOrdered(left.map((frame, index) => frameOf(frame, from + index)));
      if (inserted > 0) last = known += inserted;
      if (inserted === left.length) break;
      // Another writer has taken the number, or the keyed frame was there before.
      const standing = await seqOf(left[inserted]?.key);
      if (standing === undefined) known = undefined;
      else last = standing;
      left = left.slice(standing === undefined ? inserted : inserted + 1);
    }
    return last;
  }

  return { appendAll, append: (frame) => appendAll([frame]) };
}

/** How many were stored, in their order, before one whose number or key is taken. */
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
