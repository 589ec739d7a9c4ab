/**
 * What a request to prune has decided to remove, as it was seen then. The record stands until its workflow has carried it
 * out; see activities/crawl/prune.ts.
 */
import type { SeenPage } from '../knowledge/page.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, list, mixed, oneOf, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes } from '../rules/access/keys.ts';

/** What is stored or indexed of a source and belongs to no page, or to a page that is not whole. */
export type Orphan = {
  source_id: string;
  /** The page as it was; absent when there was none. */
  page?: SeenPage;
  /** Which generations of the page are orphaned; absent when the whole page is. */
  generations?: number[];
  /** The batches of index rows that are orphaned; only with `generations`. */
  batches?: string[];
};

export const PruningModel = defineModel(
  'Pruning',
  'prunings',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    orphans: list(mixed<Orphan>()),
    requested_at: date,
    pending: pendingField,
  },
  [pendingIndex],
);
export type Pruning = RecordOf<typeof PruningModel>;

export async function createPruning(pruning: Pruning): Promise<Pruning> {
  await PruningModel.create(pruning);
  return pruning;
}

/** Null when it has been carried out. */
export async function findPruning(orgId: string, pruningId: string): Promise<Pruning | null> {
  return collectionOf(PruningModel).findOne({ _id: pruningId, org_id: orgId });
}

/** Forgets one that has been carried out. Safe to repeat. */
export async function deletePruning(orgId: string, pruningId: string): Promise<void> {
  await collectionOf(PruningModel).deleteOne({ _id: pruningId, org_id: orgId });
}
