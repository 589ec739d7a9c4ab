/**
 * Stores many documents at once, with the records, chunks and index rows that workers would write, by the same models
 * and client. So a benchmark need not wait for thousands of uploads.
 */
import { createEmbedder } from '../clients/embedding/embedder.ts';
import { vectorsName } from '../clients/embedding/vectors.ts';
import { createSearch } from '../clients/knowledge/search/search.ts';
import type { IndexStats } from '../clients/knowledge/search/search.ts';
import { findEmbedding } from '../engines/embedding/embedding.ts';
import { ChunkModel } from '../models/knowledge/chunk.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { DocumentModel } from '../models/knowledge/document.ts';
import type { CutChunk } from '../models/rules/knowledge/chunks.ts';
import { sentencesName } from '../models/rules/knowledge/compared.ts';
import type { Stage } from './stage.ts';

export type Stored = { id: string; filename: string; segments: string[]; chunks: Omit<CutChunk, 'ordinal'>[] };
/**
 * `vectorOf`: the vector of the passage with this number. `sentencesOf`: the packed vectors of the sentences of a text.
 */
export type StoredVectors = {
  model: string;
  vectorOf(number: number): Float32Array;
  sentencesOf?(text: string): Int8Array;
};

const batch = 250;

/**
 * `vectors`: one entry for each model, the platform's own model first. When none is given, passages have no vectors.
 */
export async function storeDocuments(
  stage: Stage,
  documents: readonly Stored[],
  ...vectors: readonly StoredVectors[]
): Promise<IndexStats> {
  const [own] = vectors;
  await connectMongo(stage.mongodbUri);
  const search = createSearch({ uri: stage.searchUri });
  const table = { org_id: stage.orgId, mode: 'test' as const };
  const now = new Date();
  let stored = 0;
  for (let at = 0; at < documents.length; at += batch) {
    const part = documents.slice(at, at + batch);
    const records = part.map(({ id, filename, segments, chunks }) => ({
      _id: id,
      org_id: stage.orgId,
      mode: table.mode,
      filename,
      file_type: 'md' as const,
      mime_type: 'text/markdown',
      file_size: 1,
      sha256: id,
      status: 'indexed' as const,
      segments,
      uploaded_by: 'bench',
      generation: 1,
      live_generation: 1,
      chunk_count: chunks.length,
      tags_version: 0,
      created_at: now,
      updated_at: now,
      indexed_at: now,
      ...(own && { embedded_by: own.model, embedded_at: now }),
    }));
    await DocumentModel.insertMany(records, { lean: true });
    const chunks = part.flatMap(({ id, chunks: list }) =>
      list.map((chunk, ordinal) => ({
        _id: `${id}:1:${ordinal}`,
        org_id: stage.orgId,
        mode: table.mode,
        source_type: 'document' as const,
        source_id: id,
        generation: 1,
        ordinal,
        heading: chunk.heading,
        text: chunk.text,
        ...(own?.sentencesOf && {
          sentences: Buffer.from(own.sentencesOf(chunk.text).buffer),
          sentences_by: sentencesName,
        }),
      })),
    );
    await ChunkModel.insertMany(chunks, { lean: true });
    const segments = new Map(part.map((document) => [document.id, document.segments]));
    await search.add(
      table,
      chunks.map(({ _id, source_id, heading, text }) => ({
        id: _id,
        source_id,
        generation: '1',
        segments: segments.get(source_id) ?? [],
        authority: 'normal' as const,
        heading,
        text,
      })),
    );
    for (const { model, vectorOf } of vectors)
      await search.addVectors(
        { ...table, model },
        chunks.map(({ _id: id, source_id, generation }, index) => ({
          id,
          source_id,
          generation,
          segments: segments.get(source_id) ?? [],
          authority: 'normal' as const,
          language: 'en',
          vector: vectorOf(stored + index),
        })),
      );
    stored += chunks.length;
  }
  const stats = await search.maintain(table);
  for (const { model } of vectors) await search.maintain({ ...table, model });
  search.close();
  await disconnectMongo();
  return stats;
}

/** Embeds the passages of stored documents in this process, as the workers would do in the background. */
export async function storeVectors(stage: Stage, documents: readonly Stored[]): Promise<void> {
  const embedder = createEmbedder({ folder: await findEmbedding((line) => console.log(`  ${line}`)) });
  const search = createSearch({ uri: stage.searchUri });
  const key = { org_id: stage.orgId, mode: 'test' as const, model: vectorsName };
  const chunks = documents.flatMap(({ id, segments, chunks: list }) =>
    list.map((chunk, ordinal) => ({ ...chunk, id: `${id}:1:${ordinal}`, source_id: id, segments })),
  );
  for (let at = 0; at < chunks.length; at += batch) {
    const part = chunks.slice(at, at + batch);
    const vectors = await embedder.embed(part.map(({ heading, text }) => ({ kind: 'passage', heading, text })));
    const rows = part.map(({ id, source_id, segments }, index) => ({
      id,
      source_id,
      segments,
      generation: 1,
      authority: 'normal' as const,
      language: 'en',
      vector: vectors[index]!,
    }));
    await search.addVectors(key, rows);
  }
  search.close();
  await embedder.close();
}
