/**
 * Prune requests. Each request lists the orphaned data that its workflow removes, as found when the request was made.
 * The record exists until the workflow has removed all this data; see activities/crawl/prune.ts.
 */
import type { SeenPage } from '../knowledge/page.ts';
import { defineModel, finderOf, removerOf, type RecordOf } from '../base/define.ts';
import { date, list, mixed, oneOf, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes } from '../rules/access/keys.ts';

/**
 * Chunks and index rows to remove. Without `generations`: all of a page that does not exist, is half deleted or belongs
 * to an abandoned set. With `generations`: only those of outdated generations of a live page.
 */
export type Orphan = {
  source_id: string;
  /** The page as it was when the orphan was found; absent when there was no page. */
  page?: SeenPage;
  /** The orphaned generations of the page; absent when the whole page is orphaned. */
  generations?: number[];
  /** The orphaned batches of index rows; set only together with `generations`. */
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

/** Finds a prune request; null when the pruning is finished. */
export const findPruning = finderOf(PruningModel);

/** Deletes the record of a finished pruning. Idempotent. */
export const deletePruning = removerOf(PruningModel);
