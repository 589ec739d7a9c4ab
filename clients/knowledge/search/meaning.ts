/**
 * The vector search in a table: the nearest passages, and a sample of the table that shows how similar passages usually
 * are to the question.
 */
import { setImmediate } from 'node:timers/promises';
import type { Table } from '@lancedb/lancedb';
import { LRUCache } from 'lru-cache';
import { found, sql } from './rows.ts';
import type { OpenTable, Tables } from './tables.ts';
import { fromArrow, widthOf } from './vectors.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';
import type { Neighbours } from '../../../models/rules/knowledge/relevance.ts';
import { sourceOf, type Meaning } from '../../../models/rules/knowledge/retrieval.ts';

/**
 * A passage with its cosine similarities to the question: one for each part of the vector. Each embedding model
 * computes one part.
 */
export type Compared = { id: string; authority: Authority; cosines: number[] };

/** The number of passages in a sample. More would hardly change the mean and the spread of the cosines. */
const sampleSize = 256;
/** The number of passages of a sample whose nearest neighbours are looked for. */
const comparedOfSample = 64;
/**
 * A passage counts as a copy of another one when their similarity is at least this. On this scale the mean similarity
 * is 0 and identity is 1. A copy does not count as a neighbour, because it does not show how near different texts are.
 * Other passages of the copy's source do not count either, nor do passages in another language, which may be
 * translations.
 */
const copy = 0.75;
/** The size of the cache of samples in a process, in bytes; one sample of 1,280 dimensions takes 1.3 MB. */
const sampleBytes = 48 * 2 ** 20;
/**
 * A changed table keeps its cached sample while its number of rows differs by at most this share and the sample is not
 * older than `sampleKeptMs`.
 */
const sampleRowsMayDiffer = 0.1;
const sampleKeptMs = 60_000;

/**
 * How a large table's index is searched. `partitions`: the number of nearest partitions to search. A table of 100,000
 * rows has 25 partitions, so all of them are searched. `refine`: the index finds this many times the requested number
 * of candidates, which are then compared exactly. At 100,000 rows this finds all of the nearest 20 passages, also
 * within a segment.
 */
const partitions = 64;
const refine = 2;

type Sample = {
  folder: bigint | undefined;
  version: number;
  rows: number;
  taken: number;
  bytes: number;
  sampled: Promise<SampledPassages>;
  /** The nearest neighbours of the sampled passages. The key is the weights of the vector's parts. */
  neighbours: Map<string, Promise<Neighbours>>;
};
/**
 * `values`: the vectors of the passages, one after the other. `passages`: the source and the language of each passage.
 */
type SampledPassages = { values: Float32Array; passages: { source: string; language: string }[] };
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
 * The parts of the question's vector, weighted and joined. The weights are applied to the question only, so they may
 * change without embedding any passage again.
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
 * The cosine of each of the question's vectors with the passage's vector of the same model: the dot product of unit
 * vectors. `from`: the index in `values` where the passage begins.
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

/** A question's cosines with a table's sample of passages, and how near the sample's passages are to each other. */
export async function backgroundOf(
  tables: Tables,
  samples: Samples,
  name: string,
  opened: OpenTable,
  { parts, weights }: Meaning,
): Promise<{ background: number[][]; neighbours: Neighbours }> {
  const sample = await sampleOf(tables, samples, name, opened);
  const sampled = await sample.sampled;
  const width = opened.width ?? 0;
  const key = weights.join(' ');
  const neighbours = sample.neighbours.get(key) ?? neighboursOf(sampled, parts, weights, sample.rows);
  sample.neighbours.set(key, neighbours);
  const background = sampled.passages.map((_, at) => cosines(parts, sampled.values, at * width));
  return { background, neighbours: await neighbours };
}

/** Returns a cached sample of the table's passages, taken at evenly spaced rows. */
async function sampleOf({ clock }: Tables, samples: Samples, name: string, opened: OpenTable): Promise<Sample> {
  const known = samples.get(name);
  const version = await opened.table.version();
  const same = known !== undefined && known.folder === opened.folder;
  if (same && known.version === version) return known;
  const rows = await opened.table.countRows();
  if (same && clock() - known.taken < sampleKeptMs && Math.abs(rows - known.rows) <= sampleRowsMayDiffer * known.rows)
    return known;
  const width = opened.width ?? 0;
  const sampled = take(opened.table, rows, width);
  const bytes = 4 * (1 + width * Math.min(rows, sampleSize));
  const sample = { folder: opened.folder, version, rows, taken: clock(), bytes, sampled, neighbours: new Map() };
  samples.set(name, sample);
  sampled.catch(() => samples.delete(name));
  return sample;
}

async function take(table: Table, rows: number, width: number): Promise<SampledPassages> {
  const size = Math.min(rows, sampleSize);
  if (size === 0) return { values: new Float32Array(0), passages: [] };
  const offsets = Array.from({ length: size }, (_, at) => Math.floor((at * rows) / size));
  const taken = await table.takeOffsets(offsets).select(['candidate', 'language', 'vector']).toArray();
  const values = new Float32Array(taken.length * width);
  for (const [at, { vector }] of taken.entries()) values.set(fromArrow(vector), at * width);
  return {
    values,
    passages: taken.map((row) => ({ source: sourceOf(found(row).id), language: String(row.language) })),
  };
}

/**
 * For `comparedOfSample` passages of a sample, finds the nearest passage of another source in the same language. Yields
 * to the event loop after every eight passages.
 */
async function neighboursOf(
  sample: SampledPassages,
  parts: readonly Float32Array[],
  weights: readonly number[],
  rows: number,
): Promise<Neighbours> {
  const sampled = sample.passages.length;
  const size = Math.min(sampled, comparedOfSample);
  const near: number[][] = [];
  for (let at = 0; at < size; at += 1) {
    const neighbour = neighbourOf(Math.floor((at * sampled) / size), sample, parts, weights);
    if (neighbour !== undefined) near.push(neighbour);
    if (at % 8 === 7) await setImmediate();
  }
  return { near, sampled, rows };
}

/**
 * Finds a passage's nearest neighbour in the sample; undefined when there is none. Returns one number for each part of
 * the vector: the cosine of the two passages minus the passage's mean cosine with the sample.
 */
function neighbourOf(
  index: number,
  { values, passages }: SampledPassages,
  parts: readonly Float32Array[],
  weights: readonly number[],
): number[] | undefined {
  const width = parts.reduce((sum, part) => sum + part.length, 0);
  const { source, language } = passages[index]!;
  const own = splitLike(parts, values, index * width);
  const all = passages.map((_, at) => cosines(own, values, at * width));
  const mean = own.map((_, part) => all.reduce((sum, each) => sum + each[part]!, 0) / all.length);
  const above = all.map((each) => each.map((cosine, part) => cosine - mean[part]!));
  const sum = (each: readonly number[]): number =>
    each.reduce((total, value, part) => total + value * (weights[part] ?? 0), 0);
  const limit = copy * sum(above[index]!);
  // When one passage of a source is a copy, none of that source's passages counts as a neighbour.
  const copies = new Set([source, ...passages.filter((_, at) => sum(above[at]!) >= limit).map((one) => one.source)]);
  return above
    .filter((_, at) => !copies.has(passages[at]!.source) && passages[at]!.language === language)
    .reduce<number[] | undefined>((best, each) => (best && sum(best) >= sum(each) ? best : each), undefined);
}

/** The vector that begins at `from`, split into parts of the same lengths as `parts`. */
function splitLike(parts: readonly Float32Array[], values: Float32Array, from: number): Float32Array[] {
  let offset = from;
  return parts.map(({ length }) => values.subarray(offset, (offset += length)));
}
