/**
 * Which sources lack vectors of the current embedding model. `embedded_by` of a document or page names the model of the
 * vectors of its live generation. The field is absent while some passages of this generation have no vector.
 */
import { acrossShards, collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { oneOf, string } from '../rules/base/fields.ts';
import { DocumentModel } from './document.ts';
import { PageModel } from './page.ts';
import { intentFor, pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { effectiveAuthority, isPage, type Authority } from '../rules/knowledge/authority.ts';
import { unprocessed } from '../rules/knowledge/document.ts';
import { embedPassagesWork } from '../rules/knowledge/work.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

export type Owner = { org_id: string; mode: Mode };

/** Holds the intent to start the embedding workflow of an organization and mode. */
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
 * Requests vectors for all passages that lack them: the sweeper starts or signals the workflow. Call it after sources
 * are published. One intent is stored for any number of sources, so that many uploads at once cost one signal. Its
 * `since` is that of the first of them, so that operators see how long the oldest one waits.
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

type Stored = Omit<Lacking, 'authority'> & {
  authority?: Authority;
  live?: boolean;
  crawl_id?: string;
  chunk_count: number;
  embedded_by?: string;
  embedded_at?: Date;
  embed_after?: Date;
};
const documents = () => collectionOf<Stored, 'documents'>(DocumentModel as never);
const pages = () => collectionOf<Stored, 'pages'>(PageModel as never);
const everywhere = [DocumentModel, PageModel].map((model) => acrossShards<Stored>(model as never));

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
    ['document', () => documents().find(filter, { projection })],
    ['website', () => pages().find({ ...filter, live: true }, { projection })],
    ['website', () => pages().find({ ...filter, live: false }, { projection })],
  ] as const;
  const found: Lacking[] = [];
  for (const [type, find] of ask) {
    if (found.length === limit) break;
    const records = await find()
      .limit(limit - found.length)
      .toArray();
    found.push(...records.map((one) => ({ ...one, authority: effectiveAuthority(one.authority, type) })));
  }
  return found;
}

/** Whether any source lacks vectors, including pages that wait for the end of their crawl. */
export async function lacksVectors({ org_id, mode }: Owner, model: string): Promise<boolean> {
  const filter = { ...lacking(model), org_id, mode };
  const lacks = async (records: ReturnType<typeof documents>): Promise<boolean> =>
    (await records.findOne(filter, { projection: { _id: 1 } })) !== null;
  return (await lacks(documents())) || (await lacks(pages()));
}

/** Whether documents are being read or sources lack vectors, so that a question without an answer may have one soon. */
export async function isIncomplete({ org_id, mode }: Owner, model: string): Promise<boolean> {
  const unread = { org_id, mode, status: { $in: [...unprocessed] } };
  const reads = await collectionOf(DocumentModel).findOne(unread, { projection: { _id: 1 } });
  return reads !== null || lacksVectors({ org_id, mode }, model);
}

/**
 * Notes that all passages of a generation have vectors; false when another generation is live now, or the source is
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

const recordsOf = (sourceId: string) => (isPage(sourceId) ? pages() : documents());

/** The sources that are marked as embedded by this model. */
export async function listEmbedded({ org_id, mode }: Owner, model: string): Promise<Set<string>> {
  const read = async (records: ReturnType<typeof documents>) =>
    records.find({ embedded_by: model, org_id, mode }, { projection: { _id: 1 } }).toArray();
  const [some, others] = await Promise.all([read(documents()), read(pages())]);
  return new Set([...some, ...others].map(({ _id }) => _id));
}

/** The organizations and modes with sources that lack vectors. */
export async function listLackingOwners(model: string): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  for (const records of everywhere) {
    const found = records.aggregate<{ _id: Owner }>([
      { $match: lacking(model) },
      { $group: { _id: { org_id: '$org_id', mode: '$mode' } } },
    ]);
    for await (const { _id } of found) owners.set(`${_id.org_id} ${_id.mode}`, _id);
  }
  return [...owners.values()];
}

/** The number of published pages of a crawl that lack vectors. */
export async function countPagesLacking({ org_id, mode }: Owner, crawlId: string, model: string): Promise<number> {
  return pages().countDocuments({ ...lacking(model), org_id, mode, crawl_id: crawlId });
}

/** The maximum number of sources of each kind that are counted; a higher count takes longer and is no more useful. */
const countedSources = 10_000;

/** The number of passages that lack vectors, in all organizations. */
export async function countPassagesLacking(model: string): Promise<number> {
  const count = async (records: (typeof everywhere)[number]): Promise<number> => {
    const [sum] = await records
      .aggregate<{ passages: number }>([
        { $match: lacking(model) },
        { $limit: countedSources },
        { $group: { _id: null, passages: { $sum: '$chunk_count' } } },
      ])
      .toArray();
    return sum?.passages ?? 0;
  };
  const counts = await Promise.all(everywhere.map(count));
  return counts.reduce((sum, one) => sum + one, 0);
}
