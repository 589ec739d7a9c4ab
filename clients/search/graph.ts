/** Keeps a table of vectors quick: a graph over many vectors, brought up to date now and then. Never changes what is found. */
import { Index, type Table } from '@lancedb/lancedb';
import type { IndexStats } from './reader.ts';

/** Below this, comparing with every vector is exact and takes about 10 ms. */
const graphFromRows = 10_000;
/** Rows that the graph does not have are compared one by one: 1,000 of them made a question with 8 callers half as dear again. */
const maxUnindexed = 1_000;
/** Each update adds a part of its own to the graph, and each is searched: nine made a question cost half as much again. */
const maxParts = 8;
/** Files of small writes, each of which a question opens. */
const maxFragments = 20;

const graph = (): Index => Index.hnswSq({ distanceType: 'dot', numPartitions: 1, m: 20, efConstruction: 150 });

export async function maintainVectors(
  table: Table,
  { rows, unindexed, fragments }: IndexStats,
  cleanupOlderThan: Date,
) {
  const index = await table.indexStats('vector_idx');
  const due = unindexed >= maxUnindexed || fragments >= maxFragments;
  const rebuild = index === undefined ? rows >= graphFromRows : (index.numIndices ?? 1) >= maxParts;
  // The files are merged before the graph is built, for else the next merge would build it once more.
  if (due || rebuild) await table.optimize({ cleanupOlderThan });
  if (rebuild) await table.createIndex('vector', { config: graph(), replace: true });
}
