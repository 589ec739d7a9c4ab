/**
 * The vectors of an organization's unanswered questions, kept in memory. There may be thousands, of 2 KB each, so each
 * call reads only the vectors of questions that were asked since the last call. Only vectors are kept in memory; the
 * record of a question is read when the question turns out to be the nearest.
 */
import { LRUCache } from 'lru-cache';
import type mongoose from 'mongoose';

/**
 * How many stored questions a new question is compared with, the latest first. The vectors of so many questions take 4
 * MB.
 */
const comparedGaps = 2_000;
/** For how many owners (see `vectorsOf`) vectors are kept, and for how long after they were first read, in ms. */
const keptOwners = 16;
const keptMs = 10 * 60_000;
/**
 * Questions that were asked up to this many ms before the latest known one are read again, because the clocks of
 * processes differ.
 */
const overlapMs = 5_000;

export type StoredVector = { _id: string; vector: mongoose.mongo.Binary; last_asked: Date };
/** Reads the questions asked since `since`, at most `limit`, the latest first. */
export type ReadSince = (since: Date, limit: number) => AsyncIterable<StoredVector>;

/** `vectors`: by gap id, the question asked last at the end. `latest`: when that last question was asked, in ms. */
type Kept = { vectors: Map<string, Float32Array>; latest: number };
const owners = new LRUCache<string, Kept>({ max: keptOwners, ttl: keptMs });

/** The vectors of the owner's latest questions. `owner`: organization, mode and model. */
export async function vectorsOf(owner: string, read: ReadSince): Promise<ReadonlyMap<string, Float32Array>> {
  const kept = owners.get(owner) ?? { vectors: new Map(), latest: 0 };
  const fresh: StoredVector[] = [];
  // The vectors are read from a cursor, so that the event loop can do other work between two batches.
  for await (const gap of read(new Date(kept.latest - overlapMs), comparedGaps)) fresh.push(gap);
  for (const { _id, vector, last_asked } of fresh.toReversed()) {
    kept.vectors.delete(_id);
    kept.vectors.set(_id, floatsOf(vector));
    kept.latest = Math.max(kept.latest, last_asked.getTime());
  }
  for (const id of kept.vectors.keys()) {
    if (kept.vectors.size <= comparedGaps) break;
    kept.vectors.delete(id);
  }
  if (!owners.has(owner)) owners.set(owner, kept);
  return kept.vectors;
}

/** Copies the bytes, because a Float32Array needs an offset that is a multiple of four. */
const floatsOf = ({ buffer }: mongoose.mongo.Binary): Float32Array => new Float32Array(Uint8Array.from(buffer).buffer);
