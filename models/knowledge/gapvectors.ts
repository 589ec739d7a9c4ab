/**
 * The vectors of an organization's unanswered questions, kept in memory: of some thousand vectors of 2 KB only those of
 * questions that were asked since are read again. Vectors alone are kept; the record is read when it is the nearest.
 */
import { LRUCache } from 'lru-cache';
import type mongoose from 'mongoose';

/** How many questions a new one is compared with, the latest first. They take 4 MB. */
const comparedGaps = 2_000;
/** The organizations whose questions are kept, and for how long after they were first read, in ms. */
const keptOwners = 16;
const keptMs = 10 * 60_000;
/** Clocks of processes differ, so questions of this time before the latest known one are read again, in ms. */
const overlapMs = 5_000;

export type StoredVector = { _id: string; vector: mongoose.mongo.Binary; last_asked: Date };
/** Reads the questions asked since, at most so many, the latest first. */
export type ReadSince = (since: Date, limit: number) => AsyncIterable<StoredVector>;

/** The vectors by gap, the one asked last at the end. */
type Kept = { vectors: Map<string, Float32Array>; latest: number };
const owners = new LRUCache<string, Kept>({ max: keptOwners, ttl: keptMs });

/** The vectors of the owner's latest questions. `owner`: organization, mode and model. */
export async function vectorsOf(owner: string, read: ReadSince): Promise<ReadonlyMap<string, Float32Array>> {
  const kept = owners.get(owner) ?? { vectors: new Map(), latest: 0 };
  const fresh: StoredVector[] = [];
  // A cursor gives other work its turn between its batches.
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
