/**
 * Transcripts of meetings and interviews. Each segment is a document of its own, so that hours of speech do not exceed
 * MongoDB's document size. A segment is stored once and never changes, so the number of segments is the version of a
 * transcript.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { string } from '../rules/base/fields.ts';
import { unlessDuplicate } from '../base/connect.ts';
import { newId } from '../base/ids.ts';
import { saidFields, type Said } from '../rules/interviews/transcript.ts';
import { defined } from '../rules/base/defined.ts';

export const SegmentModel = defineModel(
  'Segment',
  'transcript_segments',
  {
    /** The id of the record: `<stream>:<id>` */
    _id: string,
    /** The id of the meeting or the interview. */
    stream: string,
    /** Sorts segments with the same time in the order in which they were sent. */
    place: string,
    ...saidFields,
  },
  [{ fields: { stream: 1, at: 1, place: 1 } }],
);
export type Segment = RecordOf<typeof SegmentModel>;

const idOf = (stream: string, id: string): string => `${stream}:${id}`;

/** The given segments that are not stored yet, without duplicate ids. */
export async function unstored(stream: string, said: readonly Said[]): Promise<Said[]> {
  const first = [...new Map(said.toReversed().map((one) => [one.id, one])).values()].toReversed();
  const stored = await collectionOf(SegmentModel)
    .find({ _id: { $in: first.map(({ id }) => idOf(stream, id)) } }, { projection: { id: 1 } })
    .toArray();
  const known = new Set(stored.map(({ id }) => id));
  return first.filter(({ id }) => !known.has(id));
}

/** Stores segments; a segment whose id is stored already stays unchanged. */
export async function storeSegments(stream: string, said: readonly Said[]): Promise<void> {
  if (said.length === 0) return;
  const batch = newId('segment');
  const segments = said.map((one, index) =>
    defined({
      ...one,
      _id: idOf(stream, one.id),
      stream,
      place: `${batch}:${String(index).padStart(5, '0')}`,
    }),
  );
  await unlessDuplicate(() => collectionOf(SegmentModel).insertMany(segments, { ordered: false }));
}

/** The number of segments, which is the version of the transcript. */
export async function countSegments(stream: string): Promise<number> {
  return collectionOf(SegmentModel).countDocuments({ stream });
}

/** The transcript in spoken order. `limit`: how many segments to read, from the first one on; 0 reads all. */
export async function readTranscript(stream: string, limit = 0): Promise<Segment[]> {
  return collectionOf(SegmentModel).find({ stream }).sort({ at: 1, place: 1 }).limit(limit).toArray();
}

export async function readLast(stream: string, count: number): Promise<Segment[]> {
  const last = await collectionOf(SegmentModel).find({ stream }).sort({ at: -1, place: -1 }).limit(count).toArray();
  return last.toReversed();
}

export const findSegment = (stream: string, id: string): Promise<Segment | null> =>
  collectionOf(SegmentModel).findOne({ _id: idOf(stream, id) });

/** Deletes the given segments, or all segments of the stream. Idempotent. */
export async function removeSegments(stream: string, said?: readonly Said[]): Promise<void> {
  const which = said === undefined ? {} : { _id: { $in: said.map(({ id }) => idOf(stream, id)) } };
  await collectionOf(SegmentModel).deleteMany({ stream, ...which });
}
