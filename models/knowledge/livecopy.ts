/**
 * Copies of an organization's knowledge from test to live mode, requested when the organization goes live. The record
 * of a copy is kept, so that members see the result. Each document and page is copied once, however often the workflow
 * runs.
 */
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, finderOf, updaterOf, type RecordOf } from '../base/define.ts';
import { date, embedded, flag, list, number, oneOf, optional, string, type ValueOf } from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

/**
 * A document or page that was not copied, with the reason. Its name is not stored, because it would remain after the
 * document is deleted.
 */
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
    /** The mode that receives the copies. */
    mode: oneOf(modes),
    /** The user id of the member who requested the copy. */
    requested_by: string,
    requested_at: date,
    /**
     * True while the copy runs, and absent once it has finished, so that a unique index allows one running copy per
     * organization.
     */
    running: flag,
    finished_at: optional(date),
    /** The numbers of copied documents and pages; set when the copy has finished. */
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

/** Stores a new copy; null when another copy is running. */
export async function createLiveCopy(copy: LiveCopy & { running: true }): Promise<LiveCopy | null> {
  return (await unlessDuplicate(() => LiveCopyModel.create(copy))) ? copy : null;
}

export const findLiveCopy = finderOf(LiveCopyModel);
const update = updaterOf(LiveCopyModel);

export async function isCopying(orgId: string, mode: Mode): Promise<boolean> {
  return (await collectionOf(LiveCopyModel).findOne({ org_id: orgId, mode, running: true })) !== null;
}

export async function latestLiveCopy(orgId: string): Promise<LiveCopy | null> {
  return collectionOf(LiveCopyModel).findOne({ org_id: orgId }, { sort: { _id: -1 } });
}

/** Stores the result of a copy. Idempotent. */
export const finishLiveCopy = (
  orgId: string,
  copyId: string,
  result: Required<Pick<LiveCopy, 'documents' | 'pages' | 'left_out'>>,
  now: Date,
) => update(orgId, copyId, { $set: { ...result, finished_at: now }, $unset: { running: 1 } }, { running: true });
