/**
 * The vector search in a table: the nearest passages, and a sample of the table that shows how similar passages usually
 * are to the question.
 */
import type { Table } from '@lancedb/lancedb';
import { LRUCache } from 'lru-cache';
import { found, sql } from './rows.ts';
import type { OpenTable, Tables } from './tables.ts';
import { fromArrow, widthOf } from './vectors.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';
import type { Meaning } from '../../../models/rules/knowledge/retrieval.ts';

/** A passage with one cosine similarity to the question for each part of the vector. */
export type Compared = { id: string; authority: Authority; cosines: number[] };

/** The number of passages in a sample. More would hardly change the mean and the spread of the cosines. */
const sampleSize = 256;
/** The size of the cache of samples in a process, in bytes; one sample of 1,280 dimensions takes 1.3 MB. */
const sampleBytes = 48 * 2 ** 20;
/**
 * A sample stays valid while the table's number of rows differs by less than this share, and for `sampleKeptMs` while
 * the table changes.
 */
const sampleRowsMayDiffer = 0.1;
const sampleKeptMs = 60_000;

/**
 * How a large table's index is searched. `partitions`: the nearest partitions to search (a table of 100,000 rows has
 * 25, so all). `refine`: the factor of additional candidates, which are compared exactly. At 100,000 rows this found
 * all of the nearest 20 passages, also within a segment.
 */
const partitions = 64;
const refine = 2;

type Sample = {
  folder: bigint | undefined;
  version: number;
  rows: number;
  taken: number;
  bytes: number;
  values: Promise<Float32Array>;
};
export type Samples = LRUCache<string, Sample>;
export const createSamples = (): Samples =>
  new LRUCache({ maxSize: sampleBytes, sizeCalculation: ({ bytes }) => bytes });

/** Whether the table has vectors, with as many dimensions as the question's. */
export async function comparable(opened: OpenTable, { parts }: Meaning): Promise<boolean> {
  opened.width ??= widthOf(await opened.table.schema());
  return opened.width > 0 && opened.width === parts.reduce((sum, part) => sum + part.length, 0);
}

/** The nearest passages by the weighted sum of the parts' cosines. */
export async function nearest(
  table: Table,
  meaning: Meaning,
  condition: string | undefined,
  limit: number,
): Promise<Compared[]> {
  if (meaning.weights.every((weight) => weight === 0)) return [];
  const query = table
    .query()
    .nearestTo(weighted(meaning))
    .column('vector')
    .distanceType('dot')
    .nprobes(partitions)
    .refineFactor(refine)
    .select(['candidate', 'vector', '_distance'])
    .limit(limit);
  return compared(await (condition === undefined ? query : query.where(condition)).toArray(), meaning);
}

/**
 * The question's parts as one weighted vector. The weights are applied to the question only, so they may change without
 * embedding any passage again.
 */
function weighted({ parts, weights }: Meaning): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let from = 0;
  for (const [at, part] of parts.entries()) {
    whole.set(
      part.map((value) => value * (weights[at] ?? 0)),
      from,
    );
    from += part.length;
  }
  return whole;
}

/** The vector scores of passages that the lexical search found. Passages without a vector are left out. */
export async function byIds(table: Table, meaning: Meaning, ids: readonly string[]): Promise<Compared[]> {
  if (ids.length === 0) return [];
  const wanted = `id IN (${ids.map(sql).join(', ')})`;
  return compared(await table.query().where(wanted).select(['candidate', 'vector']).toArray(), meaning);
}

function compared(rows: readonly { candidate: unknown; vector: unknown }[], { parts }: Meaning): Compared[] {
  return rows.map((row) => ({ ...found(row), cosines: cosines(parts, fromArrow(row.vector), 0) }));
}

/**
 * The cosine of each part: for unit vectors, the dot product. `from`: the index in `values` where the passage begins.
 */
function cosines(parts: readonly Float32Array[], values: Float16Array | Float32Array, from: number): number[] {
  let offset = from;
  return parts.map((part) => {
    let sum = 0;
    for (let at = 0; at < part.length; at += 1) sum += part[at]! * values[offset + at]!;
    offset += part.length;
    return Math.max(-1, Math.min(1, sum));
  });
}

/** The cosines between a question and a table's sample of passages. */
export async function backgroundOf(
  tables: Tables,
  samples: Samples,
  name: string,
  opened: OpenTable,
  { parts }: Meaning,
): Promise<number[][]> {
  const values = await sampleOf(tables, samples, name, opened);
  const width = opened.width ?? 0;
  return Array.from({ length: values.length / width }, (_, at) => cosines(parts, values, at * width));
}

/** A sample of passages at even distances. It is cached, and taken again when the table has changed much. */
async function sampleOf({ clock }: Tables, samples: Samples, name: string, opened: OpenTable): Promise<Float32Array> {
  const known = samples.get(name);
  const version = await opened.table.version();
  const same = known !== undefined && known.folder === opened.folder;
  if (same && known.version === version) return known.values;
  const rows = await opened.table.countRows();
  if (same && clock() - known.taken < sampleKeptMs && Math.abs(rows - known.rows) <= sampleRowsMayDiffer * known.rows)
    return known.values;
  const width = opened.width ?? 0;
  const values = take(opened.table, rows, width);
  const bytes = 4 * (1 + width * Math.min(rows, sampleSize));
  samples.set(name, { folder: opened.folder, version, rows, taken: clock(), bytes, values });
  values.catch(() => samples.delete(name));
  return values;
}

async function take(table: Table, rows: number, width: number): Promise<Float32Array> {
  const size = Math.min(rows, sampleSize);
  if (size === 0) return new Float32Array(0);
  const offsets = Array.from({ length: size }, (_, at) => Math.floor((at * rows) / size));
  const taken = await table.takeOffsets(offsets).select(['vector']).toArray();
  const values = new Float32Array(taken.length * width);
  for (const [at, { vector }] of taken.entries()) values.set(fromArrow(vector), at * width);
  return values;
}
