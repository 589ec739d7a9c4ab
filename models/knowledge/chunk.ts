/**
 * Chunks: the units that sources are cut into, stored and indexed. This collection is the truth; the search index only proposes
 * candidates from it. A chunk joined with its source, as material of an answer, is a `Passage`.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, readerOf, type RecordOf } from '../base/define.ts';
import { number, oneOf, string, text } from '../rules/base/fields.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import type { CutChunk } from '../rules/knowledge/chunks.ts';

export const ChunkModel = defineModel(
  'Chunk',
  'chunks',
  {
    /** `<source>:<generation>:<ordinal>`, so that writing a generation again changes nothing. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    source_type: oneOf(['document', 'website']),
    source_id: string,
    generation: number,
    ordinal: number,
    heading: text,
    text: string,
  },
  [
    { fields: { source_id: 1, generation: 1, ordinal: 1 } },
    { fields: { org_id: 1, mode: 1, source_type: 1, source_id: 1, generation: 1 } },
  ],
);
export type Chunk = RecordOf<typeof ChunkModel>;

export type ChunkSource = Pick<Chunk, 'org_id' | 'mode' | 'source_type' | 'source_id' | 'generation'>;

/** The chunks of a source, as they are stored. */
export const chunksOf = (source: ChunkSource, cut: readonly CutChunk[]): Chunk[] =>
  cut.map((chunk) => ({
    ...source,
    ...chunk,
    _id: `${source.source_id}:${source.generation}:${chunk.ordinal}`,
  }));

/**
 * Writes all chunks of a generation; writing them again leaves one copy. None is missing in between: an attempt that was
 * slow may come to this when a later one has published them.
 */
export async function writeChunks(
  { source_id, generation }: Pick<ChunkSource, 'source_id' | 'generation'>,
  chunks: readonly Chunk[],
): Promise<void> {
  try {
    await insertChunks(chunks);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // An attempt before wrote some; they differ only if the code that cuts them has changed since.
    await collectionOf(ChunkModel).bulkWrite(
      chunks.map((chunk) => ({ replaceOne: { filter: { _id: chunk._id }, replacement: chunk, upsert: true } })),
      { ordered: false },
    );
    await collectionOf(ChunkModel).deleteMany({ source_id, generation, ordinal: { $gte: chunks.length } });
  }
}

/** Writes chunks of generations that were never written before. */
export async function insertChunks(chunks: readonly Chunk[]): Promise<void> {
  if (chunks.length > 0) await collectionOf(ChunkModel).insertMany([...chunks], { ordered: false });
}

/** One generation, in reading order. */
export async function listChunks(orgId: string, sourceId: string, generation: number): Promise<Chunk[]> {
  return collectionOf(ChunkModel)
    .find({ org_id: orgId, source_id: sourceId, generation })
    .sort({ ordinal: 1 })
    .toArray();
}

/** Removes the chunks of a source, all but those of the generation to keep. Safe to repeat. */
export async function removeChunks(orgId: string, sourceId: string, keep?: number): Promise<void> {
  await collectionOf(ChunkModel).deleteMany({
    org_id: orgId,
    source_id: sourceId,
    ...(keep === undefined ? {} : { generation: { $ne: keep } }),
  });
}

/** Removes these generations of a source. Safe to repeat. */
export async function removeGenerations(
  orgId: string,
  sourceId: string,
  generations: readonly number[],
): Promise<void> {
  await collectionOf(ChunkModel).deleteMany({ org_id: orgId, source_id: sourceId, generation: { $in: generations } });
}

const readChunk = readerOf(ChunkModel);

/** The chunks that exist now, of these ids, in this organization and mode: what an index proposes beyond is not shown. */
export async function findChunks(orgId: string, mode: Mode, ids: readonly string[]) {
  const found = await Promise.all(ids.map((id) => readChunk(id)));
  return found.flatMap((chunk) => (chunk?.org_id === orgId && chunk.mode === mode ? [chunk] : []));
}

/** Removes the chunks of sources that are gone. Safe to repeat. */
export async function removeAllChunks(orgId: string, sourceIds: readonly string[]): Promise<void> {
  await collectionOf(ChunkModel).deleteMany({ org_id: orgId, source_id: { $in: sourceIds } });
}

/** How many chunks each generation of each source of a type has. */
export async function countChunks(
  orgId: string,
  mode: Mode,
  type: Chunk['source_type'],
): Promise<{ source_id: string; generation: number; chunks: number }[]> {
  const groups = await collectionOf(ChunkModel)
    .aggregate<{ _id: { source_id: string; generation: number }; chunks: number }>([
      { $match: { org_id: orgId, mode, source_type: type } },
      { $group: { _id: { source_id: '$source_id', generation: '$generation' }, chunks: { $sum: 1 } } },
    ])
    .toArray();
  return groups.map(({ _id, chunks }) => ({ ..._id, chunks }));
}
