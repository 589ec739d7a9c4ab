/** Keeps a table of vectors quick: an index over many vectors, brought up to date now and then. Never changes what is found. */
import { Index, type Table } from '@lancedb/lancedb';
import type { IndexStats } from './reader.ts';
import { widthOf } from './vectors.ts';

/** Below this, comparing with every vector is exact and takes about 10 ms. */
const indexFromRows = 10_000;
/** Rows that the index does not have are compared one by one: 1,000 of them made a question half as dear again. */
const maxUnindexed = 1_000;
/** Each update adds a part of its own to the index, and each is searched: nine made a question a third dearer. */
const maxParts = 8;
/** Files of small writes, each of which a question opens. */
const maxFragments = 20;
/** Of each number of a vector. With 1, the nearest in other languages than English were often missed; more cost time. */
const bits = 4;

/**
 * Vectors in few bits (RaBitQ), in partitions of the library's own size, which it splits as they grow; those of an endpoint whose
 * length the library cannot index so are in a graph.
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
  // The files are merged before the index is built, for else the next merge would build it once more.
  if (due || rebuild) await table.optimize({ cleanupOlderThan });
  if (rebuild) {
    const config = indexOf(widthOf(await table.schema()));
    await table.createIndex('vector', { config, replace: true });
  }
}
