/**
 * Chunks: the units into which sources are split, stored and indexed. This collection is authoritative; the search
 * index only proposes candidates. A chunk joined with its source is a `Passage`.
 */
import type mongoose from 'mongoose';
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, readerInMode, type RecordOf } from '../base/define.ts';
import { bytes, number, oneOf, optional, string, text } from '../rules/base/fields.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import type { CutChunk } from '../rules/knowledge/chunks.ts';
import { sentencesName } from '../rules/knowledge/compared.ts';

export const ChunkModel = defineModel(
  'Chunk',
  'chunks',
  {
    /** `<source>:<generation>:<ordinal>`, so that writing a generation again is idempotent. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    source_type: oneOf(['document', 'website']),
    source_id: string,
    generation: number,
    ordinal: number,
    heading: text,
    text: string,
    /**
     * `sentences`: the packed vectors of the chunk's sentences (`comparedTexts`); absent until they are computed.
     * `sentences_by`: the `sentencesName` with which they were computed; vectors of another version are not used.
     */
    sentences: optional(bytes),
    sentences_by: optional(string),
  },
  [
    { fields: { org_id: 1, source_id: 1, generation: 1, ordinal: 1 } },
    { fields: { org_id: 1, mode: 1, source_type: 1, source_id: 1, generation: 1 } },
  ],
);
type Stored = RecordOf<typeof ChunkModel>;
export type Chunk = Omit<Stored, 'sentences' | 'sentences_by'>;

/** Vectors of sentences take more room than the text, so they are read only where they are used. */
const withoutSentences = { sentences: 0, sentences_by: 0 } as const;

export type ChunkSource = Pick<Chunk, 'org_id' | 'mode' | 'source_type' | 'source_id' | 'generation'>;

export const chunksOf = (source: ChunkSource, cut: readonly CutChunk[]): Chunk[] =>
  cut.map((chunk) => ({
    ...source,
    ...chunk,
    _id: `${source.source_id}:${source.generation}:${chunk.ordinal}`,
  }));

/**
 * Writes all chunks of a generation. Idempotent. A repeated write replaces each chunk in place, so that no chunk is
 * missing while answers use it. A slow attempt may still write after a later attempt has published the generation.
 */
export async function writeChunks(
  { org_id, source_id, generation }: Pick<ChunkSource, 'org_id' | 'source_id' | 'generation'>,
  chunks: readonly Chunk[],
): Promise<void> {
  try {
    await insertChunks(chunks);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // An earlier attempt wrote some of these chunks. The new texts differ only if the splitting code has changed since.
    await collectionOf(ChunkModel).bulkWrite(
      chunks.map((chunk) => ({ replaceOne: { filter: { _id: chunk._id, org_id }, replacement: chunk, upsert: true } })),
      { ordered: false },
    );
    await collectionOf(ChunkModel).deleteMany({ org_id, source_id, generation, ordinal: { $gte: chunks.length } });
  }
}

/** Inserts chunks of generations that were never written before. */
export async function insertChunks(chunks: readonly Chunk[]): Promise<void> {
  if (chunks.length > 0) await collectionOf(ChunkModel).insertMany([...chunks], { ordered: false });
}

/** The chunks of one generation, in reading order. */
export async function listChunks(orgId: string, sourceId: string, generation: number): Promise<Chunk[]> {
  return collectionOf(ChunkModel)
    .find({ org_id: orgId, source_id: sourceId, generation }, { projection: withoutSentences })
    .sort({ ordinal: 1 })
    .toArray();
}

/** Deletes the chunks of these sources: all, or those whose `generation` fulfils the condition. Idempotent. */
export async function removeChunks(
  orgId: string,
  sourceIds: readonly string[],
  generation?: { $lt: number } | { $ne: number } | { $in: readonly number[] },
): Promise<void> {
  const which = { org_id: orgId, source_id: { $in: sourceIds }, ...(generation && { generation }) };
  await collectionOf(ChunkModel).deleteMany(which);
}

/**
 * The existing chunks with these ids in this organization and mode. The search index may still propose ids of deleted
 * chunks; these ids are left out.
 */
export const findChunks = readerInMode(ChunkModel, 'source_type source_id generation heading text');

type PackedSentences = Pick<Chunk, '_id' | 'org_id'> & { packed: Int8Array };
/** Stores the packed vectors of chunks' sentences. Idempotent; a chunk that was deleted meanwhile stays deleted. */
export async function saveSentences(found: readonly PackedSentences[]): Promise<void> {
  if (found.length === 0) return;
  await collectionOf(ChunkModel).bulkWrite(
    found.map(({ _id, org_id, packed }) => ({
      updateOne: {
        filter: { _id, org_id },
        update: { $set: { sentences: Buffer.from(packed.buffer), sentences_by: sentencesName } },
      },
    })),
    { ordered: false },
  );
}

const readSentences = readerInMode(ChunkModel, 'sentences sentences_by');

/**
 * The packed vectors of these chunks' sentences, as far as they are stored in the current version (`sentencesName`).
 */
export async function findSentences(
  orgId: string,
  mode: Mode,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Int8Array>> {
  const found = await readSentences(orgId, mode, ids);
  return new Map(
    found.flatMap(({ _id, sentences, sentences_by }) => {
      if (sentences_by !== sentencesName) return [];
      const { buffer } = sentences as unknown as mongoose.mongo.Binary;
      return [[_id, new Int8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)] as const];
    }),
  );
}

/** The number of chunks in each generation of each source of a type. */
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
