/** Keeps a vector table fast: builds an index once there are many vectors, and updates it from time to time. */
import { Index, type Table } from '@lancedb/lancedb';
import type { IndexStats } from './reader.ts';
import { widthOf } from './vectors.ts';

/** An index is built from this many rows on. With fewer rows, a scan of all vectors is exact and takes about 10 ms. */
const indexFromRows = 10_000;
/**
 * The index is updated when at least this many rows are outside it. Such rows are scanned one by one: 1,000 of them
 * made a question cost 1.5 times as much.
 */
const maxUnindexed = 1_000;
/**
 * The index is rebuilt when it has at least this many parts. Each update adds a part, and every part is searched: nine
 * parts made a question a third more expensive.
 */
const maxParts = 8;
/** The files of small writes are merged when there are at least this many, because each question opens all of them. */
const maxFragments = 20;
/**
 * The number of bits for each dimension of a quantized vector. With 1, the nearest passages in languages other than
 * English were often missed; more than 4 costs time.
 */
const bits = 4;

/**
 * The index of a vector table: vectors quantized with RaBitQ, in partitions of LanceDB's default size, which LanceDB
 * splits as they grow. RaBitQ works only for lengths divisible by 8. Vectors of other lengths, which some endpoints
 * return, get a graph index (HNSW).
 */
const indexOf = (width: number): Index =>
  width % 8 === 0
    ? Index.ivfRq({ distanceType: 'dot', numBits: bits })
    : Index.hnswSq({ distanceType: 'dot', numPartitions: 1, m: 20, efConstruction: 150 });

export async function maintainVectors(
  table: Table,
  { rows, unindexed, fragments }: IndexStats,
  cleanupOlderThan: Date,
) {
  const known = await table.indexStats('vector_idx');
  const due = unindexed >= maxUnindexed || fragments >= maxFragments;
  const rebuild = known === undefined ? rows >= indexFromRows : (known.numIndices ?? 1) >= maxParts;
  // The files are merged before the index is built; otherwise the next merge would rebuild the index.
  if (due || rebuild) await table.optimize({ cleanupOlderThan });
  if (rebuild) {
    const config = indexOf(widthOf(await table.schema()));
    await table.createIndex('vector', { config, replace: true });
  }
}
