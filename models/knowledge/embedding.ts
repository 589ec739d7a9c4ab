/**
 * Finds sources that lack vectors of the current embedding model. `embedded_by` of a document or page names the model
 * of the vectors of its live generation. The field is absent while some passages of this generation have no vector.
 */
import { acrossShards, collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { oneOf, string } from '../rules/base/fields.ts';
import { DocumentModel } from './document.ts';
import { PageModel } from './page.ts';
import { intentFor, pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { authorityOf, ownersOf, recordsOf, sourceModels, sourcesIn, type Owner, type SourceRecord } from './source.ts';
import type { Authority } from '../rules/knowledge/authority.ts';
import { unprocessed } from '../rules/knowledge/document.ts';
import { embedPassagesWork } from '../rules/knowledge/work.ts';
import { modes } from '../rules/access/keys.ts';

/** For each organization and mode, a record that stores the intent to start the embedding workflow. */
export const EmbeddingWorkModel = defineModel(
  'EmbeddingWork',
  'embedding_work',
  {
    org_id: string,
    mode: oneOf(modes),
    _id: string,
    pending: pendingField,
  },
  [pendingIndex],
);
export type EmbeddingWork = RecordOf<typeof EmbeddingWorkModel>;

/**
 * Requests vectors for all passages that lack them: the sweeper starts or signals the workflow. Call this function
 * after sources are published. One intent is stored for any number of sources, so that many uploads at once cost one
 * signal. The intent keeps the `since` of the first request, so that operators see how long the oldest request waits.
 */
export async function wakeEmbedding({ org_id, mode }: Owner, now: Date): Promise<void> {
  const work = embedPassagesWork(org_id, mode);
  const intent: Intent = { ...intentFor(work, now), next_at: now };
  const since = { $ifNull: [{ $min: '$pending.since' }, now] };
  await collectionOf(EmbeddingWorkModel).updateOne(
    { _id: work.id },
    [{ $set: { org_id, mode, pending: [{ $mergeObjects: [{ $literal: intent }, { since }] }] } }],
    { upsert: true },
  );
}

/** A source that lacks vectors. */
export type Lacking = Owner & {
  _id: string;
  live_generation: number;
  segments: string[];
  /** The effective authority tier: the stored one, or else the default of the source type. */
  authority: Authority;
  tags_version: number;
};

const lacking = (model: string) => ({
  embedded_by: { $ne: model },
  live_generation: { $exists: true },
});

/**
 * Sources that lack vectors: documents first, then live pages, then pages of a set that a crawl is building. Pages of a
 * running crawl wait until `embed_after`.
 */
export async function listLacking(
  { org_id, mode }: Owner,
  model: string,
  { limit, without, now }: { limit: number; without: readonly string[]; now: Date },
): Promise<Lacking[]> {
  const waiting = { embed_after: { $not: { $gt: now } } };
  const filter = { ...lacking(model), ...waiting, org_id, mode, _id: { $nin: [...without] } };
  const projection = { org_id: 1, mode: 1, live_generation: 1, segments: 1, authority: 1, tags_version: 1 };
  const ask = [
    [DocumentModel, {}],
    [PageModel, { live: true }],
    [PageModel, { live: false }],
  ] as const;
  const found: Lacking[] = [];
  for (const [of, which] of ask) {
    if (found.length === limit) break;
    const records = await sourcesIn(of)
      .find<SourceRecord & Pick<Lacking, 'live_generation'>>({ ...filter, ...which }, { projection })
      .limit(limit - found.length)
      .toArray();
    found.push(...records.map((one) => ({ ...one, authority: authorityOf(one) })));
  }
  return found;
}

/** Whether any source lacks vectors, including pages that wait for the end of their crawl. */
export async function lacksVectors({ org_id, mode }: Owner, model: string): Promise<boolean> {
  const filter = { ...lacking(model), org_id, mode };
  for (const records of sourceModels.map(sourcesIn))
    if (await records.findOne(filter, { projection: { _id: 1 } })) return true;
  return false;
}

/** Whether documents are being read or sources lack vectors, so that a question without an answer may have one soon. */
export async function isIncomplete({ org_id, mode }: Owner, model: string): Promise<boolean> {
  const unread = { org_id, mode, status: { $in: [...unprocessed] } };
  const reads = await collectionOf(DocumentModel).findOne(unread, { projection: { _id: 1 } });
  return reads !== null || lacksVectors({ org_id, mode }, model);
}

/**
 * Stores that all passages of a generation have vectors; false when another generation is live now, or the source is
 * deleted.
 */
export async function markEmbedded(
  { _id, org_id, live_generation }: Pick<Lacking, '_id' | 'org_id' | 'live_generation'>,
  model: string,
  now: Date,
): Promise<boolean> {
  const marked = { $set: { embedded_by: model, embedded_at: now } };
  const { matchedCount } = await recordsOf(_id).updateOne({ _id, org_id, live_generation }, marked);
  return matchedCount === 1;
}

/** Requests new vectors for a source, because the stored vectors do not match the source's record. */
export async function unmarkEmbedded(orgId: string, sourceId: string): Promise<void> {
  const gone = { $unset: { embedded_by: 1, embedded_at: 1 } } as const;
  await recordsOf(sourceId).updateOne({ _id: sourceId, org_id: orgId }, gone);
}

export async function listEmbedded({ org_id, mode }: Owner, model: string): Promise<Set<string>> {
  const found = await Promise.all(
    sourceModels.map((of) =>
      sourcesIn(of)
        .find({ embedded_by: model, org_id, mode }, { projection: { _id: 1 } })
        .toArray(),
    ),
  );
  return new Set(found.flat().map(({ _id }) => _id));
}

/** Requests vectors for all passages, of all organizations, that have no vectors of this model. */
export async function wakeLacking(model: string, now: Date): Promise<void> {
  for (const owner of await ownersOf(lacking(model))) await wakeEmbedding(owner, now);
}

/** The number of published pages of a crawl that lack vectors. */
export async function countPagesLacking({ org_id, mode }: Owner, crawlId: string, model: string): Promise<number> {
  return sourcesIn(PageModel).countDocuments({ ...lacking(model), org_id, mode, crawl_id: crawlId });
}

/** The maximum number of sources of each kind that are counted; a higher count takes longer and is no more useful. */
const countedSources = 10_000;

/** The number of passages that lack vectors, in all organizations. */
export async function countPassagesLacking(model: string): Promise<number> {
  const count = async (of: (typeof sourceModels)[number]): Promise<number> => {
    const [sum] = await acrossShards<SourceRecord>(of as never)
      .aggregate<{ passages: number }>([
        { $match: lacking(model) },
        { $limit: countedSources },
        { $group: { _id: null, passages: { $sum: '$chunk_count' } } },
      ])
      .toArray();
    return sum?.passages ?? 0;
  };
  const counts = await Promise.all(sourceModels.map(count));
  return counts.reduce((sum, one) => sum + one, 0);
}
