/**
 * Copies of what an organization has in test mode into live mode, as it asked for when it went live. The record stays, so that
 * members see what became of it; each document and page is taken over once, however often its workflow runs.
 */
import { isDuplicate } from '../base/connect.ts';
import { defineModel, embedded } from '../base/define.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

/** A document or page that was not taken over, and why. Its name is not kept, since it must be gone when that is deleted. */
export type LeftOut = { id: string; reason: string };

export type LiveCopy = {
  _id: string;
  org_id: string;
  /** The mode that is copied to. */
  mode: Mode;
  /** The member who asked for it. */
  requested_by: string;
  requested_at: Date;
  /** Absent once it is finished, so that a unique index allows an organization one at a time. */
  running?: true;
  finished_at?: Date;
  /** What was taken over, once it is finished. */
  documents?: number;
  pages?: number;
  left_out?: LeftOut[];
  pending?: Intent[];
};

export const LiveCopyModel = defineModel<LiveCopy>(
  'LiveCopy',
  'live_copies',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    mode: { type: String, enum: modes, required: true },
    requested_by: { type: String, required: true },
    requested_at: { type: Date, required: true },
    running: Boolean,
    finished_at: Date,
    documents: Number,
    pages: Number,
    left_out: {
      type: [embedded<LeftOut>({ id: { type: String, required: true }, reason: { type: String, required: true } })],
      default: undefined,
    },
    pending: pendingField,
  },
  [
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1 }, unique: true, partialFilterExpression: { running: true } },
    pendingIndex,
  ],
);

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
  return LiveCopyModel.findOne({ _id: copyId, org_id: orgId }).lean();
}

/** The one that was asked for last. */
export async function latestLiveCopy(orgId: string): Promise<LiveCopy | null> {
  return LiveCopyModel.findOne({ org_id: orgId }).sort({ _id: -1 }).lean();
}

/** Writes down what came of it. Safe to repeat. */
export async function finishLiveCopy(
  orgId: string,
  copyId: string,
  result: Required<Pick<LiveCopy, 'documents' | 'pages' | 'left_out'>>,
  now: Date,
): Promise<void> {
  await LiveCopyModel.updateOne(
    { _id: copyId, org_id: orgId, running: true },
    { $set: { ...result, finished_at: now }, $unset: { running: 1 } },
  );
}
