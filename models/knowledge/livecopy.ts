/**
 * Copies of what an organization has in test mode into live mode, as it asked for when it went live. The record stays, so that
 * members see what became of it; each document and page is taken over once, however often its workflow runs.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, embedded, flag, list, number, oneOf, optional, string, type ValueOf } from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes } from '../rules/access/keys.ts';

/** A document or page that was not taken over, and why. Its name is not kept, since it must be gone when that is deleted. */
const leftOut = embedded({
  id: string,
  reason: string,
});
export type LeftOut = ValueOf<typeof leftOut>;

export const LiveCopyModel = defineModel(
  'LiveCopy',
  'live_copies',
  {
    _id: string,
    org_id: string,
    /** The mode that is copied to. */
    mode: oneOf(modes),
    /** The member who asked for it. */
    requested_by: string,
    requested_at: date,
    /** Absent once it is finished, so that a unique index allows an organization one at a time. */
    running: flag,
    finished_at: optional(date),
    /** What was taken over, once it is finished. */
    documents: optional(number),
    pages: optional(number),
    left_out: optional(list(leftOut)),
    pending: pendingField,
  },
  [
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1 }, unique: true, partialFilterExpression: { running: true } },
    pendingIndex,
  ],
);
export type LiveCopy = RecordOf<typeof LiveCopyModel>;

/** Null when one is under way already. */
export async function createLiveCopy(copy: LiveCopy & { running: true }): Promise<LiveCopy | null> {
  try {
    await LiveCopyModel.create(copy);
    return copy;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return null;
  }
}

export async function findLiveCopy(orgId: string, copyId: string): Promise<LiveCopy | null> {
  return collectionOf(LiveCopyModel).findOne({ _id: copyId, org_id: orgId });
}

/** The one that was asked for last. */
export async function latestLiveCopy(orgId: string): Promise<LiveCopy | null> {
  return collectionOf(LiveCopyModel).findOne({ org_id: orgId }, { sort: { _id: -1 } });
}

/** Writes down what came of it. Safe to repeat. */
export async function finishLiveCopy(
  orgId: string,
  copyId: string,
  result: Required<Pick<LiveCopy, 'documents' | 'pages' | 'left_out'>>,
  now: Date,
): Promise<void> {
  await collectionOf(LiveCopyModel).updateOne(
    { _id: copyId, org_id: orgId, running: true },
    { $set: { ...result, finished_at: now }, $unset: { running: 1 } },
  );
}
