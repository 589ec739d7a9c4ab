/**
 * The frame log: the frames of a stream, numbered from 1 without gaps, which API processes send to sockets. A stream is
 * named by the id of the record that sockets follow: a conversation, a room, a dashboard. The log is no archive:
 * messages and other lasting data are stored elsewhere.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, mixed, number, optional, string } from '../rules/base/fields.ts';
import { isDuplicate } from '../base/connect.ts';
import { publishFrames } from './channels.ts';
import { defined } from '../rules/base/defined.ts';
import { expiryOf } from '../rules/base/retention.ts';

/**
 * `transient`: the frame is kept only for a short time, because the next frame replaces it. `key`: an idempotency key.
 */
export type NewFrame = { type: string; body?: Record<string, unknown>; key?: string; transient?: boolean };

export const FrameModel = defineModel(
  'Frame',
  'frames',
  {
    /** The id: `<stream>:<seq>`, so that a number is never given twice. */
    _id: string,
    org_id: string,
    /** The id of the record that sockets follow. */
    stream: string,
    /** Numbers a stream's frames from 1. */
    seq: number,
    type: string,
    /** The other properties of the frame's JSON, as they are sent. */
    body: mixed<Record<string, unknown>>(),
    /** The idempotency key of a frame that may be appended only once. */
    key: optional(string),
    at: date,
    expires_at: optional(date),
  },
  [
    { fields: { org_id: 1, stream: 1, seq: 1 }, unique: true },
    { fields: { org_id: 1, stream: 1, key: 1 }, unique: true, partialFilterExpression: { key: { $exists: true } } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
);
export type Frame = RecordOf<typeof FrameModel>;
export type Stream = { readonly orgId: string; readonly stream: string };
const inside = ({ orgId, stream }: Stream) => ({ org_id: orgId, stream });
const idOf = (stream: string, seq: number): string => `${stream}:${seq}`;

/** The number and key of a stream's last frame; the number is 0 when it has none. */
export type LastFrame = Pick<Frame, 'seq' | 'key'>;
export async function lastFrame(stream: Stream): Promise<LastFrame> {
  const options = { sort: { seq: -1 }, projection: { _id: 0, seq: 1, key: 1 } } as const;
  return (await collectionOf(FrameModel).findOne<LastFrame>(inside(stream), options)) ?? { seq: 0 };
}

/** The number of a stream's last frame; 0 when it has none. */
export const lastSeq = async (stream: Stream): Promise<number> => (await lastFrame(stream)).seq;

/** The place of a frame: its stream and number. */
type FramePlace = Pick<Frame, 'stream' | 'seq'>;
/**
 * The places of the frames that directly follow these places; a place that no frame follows directly is left out. The
 * query reads at most one frame for each place, and finds every stream that goes on, because numbers have no gaps. An
 * expired transient frame leaves a gap, but only days after it was appended, when followers are long past it.
 */
export async function nextFrames(places: readonly (Stream & FramePlace)[]): Promise<FramePlace[]> {
  const orgIds = [...new Set(places.map(({ orgId }) => orgId))];
  const ids = places.map(({ stream, seq }) => idOf(stream, seq + 1));
  // Without the hint, MongoDB may read all frames of the organizations.
  const options = { projection: { _id: 0, stream: 1, seq: 1 }, hint: { _id: 1 } } as const;
  return collectionOf(FrameModel)
    .find<FramePlace>({ org_id: { $in: orgIds }, _id: { $in: ids } }, options)
    .toArray();
}

/** A stream's frames after this number, in order. */
export async function framesAfter(stream: Stream, seq: number, limit: number): Promise<Frame[]> {
  return collectionOf(FrameModel)
    .find({ ...inside(stream), seq: { $gt: seq } })
    .sort({ seq: 1 })
    .limit(limit)
    .toArray();
}

/** The number of stored frames with numbers above `after`, up to `upTo`. */
export async function countFrames(stream: Stream, after: number, upTo: number): Promise<number> {
  return collectionOf(FrameModel).countDocuments({ ...inside(stream), seq: { $gt: after, $lte: upTo } });
}

export async function hasFrame(stream: Stream, key: string): Promise<boolean> {
  return (await collectionOf(FrameModel).findOne({ ...inside(stream), key }, { projection: { _id: 1 } })) !== null;
}

/** Thrown when another writer has taken the right to write; nothing was written. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/**
 * Appends to one stream's log. The writer remembers the last number, so that an append without a concurrent writer is
 * one insert.
 */
export type FrameWriter = {
  /**
   * Returns the frame's number; for a frame whose key exists already, the number of the earlier one. @throws Superseded
   * when `holds` returns false.
   */
  append(frame: NewFrame): Promise<number>;
  /**
   * Appends several frames in order, with one command when there is no concurrent writer; returns the number of the
   * last one.
   */
  appendAll(frames: readonly NewFrame[]): Promise<number>;
};

/**
 * The stream to append to, and the expiry of its frames that are not transient; without an expiry they are kept
 * forever.
 */
export type FrameLog = Stream & { keptUntil(at: Date): { expires_at?: Date } };

export type WriterOptions = {
  /**
   * Whether this writer still has the right to write. It is called whenever another writer has written. A writer that
   * takes over from one that seemed dead writes a frame first. So the old writer finds the next number taken, calls
   * `holds`, and stops before it writes between the new writer's frames.
   */
  holds?: () => Promise<boolean>;
  /**
   * The log's last number. If it was read before the right to write was taken, the first append need not call `holds`.
   */
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
      _id: idOf(stream, seq),
      org_id: orgId,
      stream,
      seq,
      type,
      body,
      ...defined({ key }),
      at,
      ...(transient ? { expires_at: expiryOf('frames', at) } : keptUntil(at)),
    };
  }

  /** The number of the frame with this key, if there is one. */
  async function seqOf(key: string | undefined): Promise<number | undefined> {
    if (key === undefined) return undefined;
    const standing = await collectionOf(FrameModel).findOne({ org_id: orgId, stream, key });
    // The process that appended the frame may have died before publishing the frame, so the frame is published again.
    if (standing) publishFrames([standing]);
    return standing?.seq;
  }

  async function appendAll(frames: readonly NewFrame[]): Promise<number> {
    let left = frames;
    let last = known ?? 0;
    while (left.length > 0) {
      if (known === undefined) {
        known = await lastSeq({ orgId, stream });
        if (!(await holds())) throw new Superseded();
      }
      const from = known + 1;
      const inserted = await insertOrdered(left.map((frame, index) => frameOf(frame, from + index)));
      if (inserted > 0) last = known += inserted;
      if (inserted === left.length) break;
      // Another writer has taken the number, or the key exists already.
      const standing = await seqOf(left[inserted]?.key);
      if (standing === undefined) known = undefined;
      else last = standing;
      left = left.slice(standing === undefined ? inserted : inserted + 1);
    }
    return last;
  }

  return { appendAll, append: (frame) => appendAll([frame]) };
}

/**
 * Inserts the frames in order, up to the first whose number or key exists already. Publishes the inserted frames and
 * returns their count.
 */
async function insertOrdered(frames: Frame[]): Promise<number> {
  const inserted = await insertUntilTaken(frames);
  publishFrames(frames.slice(0, inserted));
  return inserted;
}

async function insertUntilTaken(frames: Frame[]): Promise<number> {
  try {
    if (frames.length === 1) await collectionOf(FrameModel).insertOne(frames[0]!);
    else await collectionOf(FrameModel).insertMany(frames);
    return frames.length;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return (error as { insertedCount?: number }).insertedCount ?? 0;
  }
}
