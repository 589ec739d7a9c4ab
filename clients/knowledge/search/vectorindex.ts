/**
 * Keeps a table of vectors fast: builds an index over many vectors and updates it from time to time. It never changes
 * which rows are found.
 */
import { Index, type Table } from '@lancedb/lancedb';
import type { IndexStats } from './reader.ts';
import { widthOf } from './vectors.ts';

/** With fewer rows, comparing every vector is exact and takes about 10 ms. */
const indexFromRows = 10_000;
/** Rows outside the index are compared one by one: 1,000 of them made a question half as expensive again. */
const maxUnindexed = 1_000;
/** Each update adds a part to the index, and each part is searched: nine made a question a third more expensive. */
const maxParts = 8;
/** How many files of small writes are left; a question opens each. */
const maxFragments = 20;
/**
 * Bits for each number of a vector. With 1, the nearest passages in other languages than English were often missed;
 * more cost time.
 */
const bits = 4;

/**
 * Vectors in few bits (RaBitQ), in partitions of the library's own size, which it splits as they grow. Vectors of an
 * endpoint whose length the library cannot index like this are in a graph.
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
  // The files are merged before the index is built; otherwise the next merge would build it again.
  if (due || rebuild) await table.optimize({ cleanupOlderThan });
  if (rebuild) {
    const config = indexOf(widthOf(await table.schema()));
    await table.createIndex('vector', { config, replace: true });
  }
}
