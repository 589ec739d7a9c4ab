/** Unanswered questions, one record a wording, grouped when they are read; forgotten half a year after they were last asked. */
import { createHash } from 'node:crypto';
import { defineModel } from './define.ts';
import { gapReasons, gapStatuses, type GapReason, type GapStatus } from './rules/gap.ts';
import { modes, type Mode } from './rules/keys.ts';

export type Gap = {
  /** `gap_` and a hash over organization, mode and wording, so that asking again counts the same record. */
  _id: string;
  org_id: string;
  mode: Mode;
  group: string;
  question: string;
  count: number;
  first_asked: Date;
  last_asked: Date;
  why_missing: GapReason;
  status: GapStatus;
};

const KEEP_SECONDS = 180 * 86_400;

const GapModel = defineModel<Gap>(
  'Gap',
  'gaps',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    mode: { type: String, enum: modes, required: true },
    group: { type: String, required: true },
    question: { type: String, required: true },
    count: { type: Number, required: true },
    first_asked: { type: Date, required: true },
    last_asked: { type: Date, required: true },
    why_missing: { type: String, enum: gapReasons, required: true },
    status: { type: String, enum: gapStatuses, required: true },
  },
  [{ fields: { org_id: 1, mode: 1, last_asked: -1 } }, { fields: { last_asked: 1 }, expireAfterSeconds: KEEP_SECONDS }],
);

/** The record of a wording; how it is spaced and capitalised does not matter. */
function gapId(orgId: string, mode: Mode, question: string): string {
  const wording = question.trim().toLowerCase().replace(/\s+/g, ' ');
  const hash = createHash('sha256')
    .update(JSON.stringify([orgId, mode, wording]))
    .digest('hex');
  return `gap_${hash.slice(0, 26)}`;
}

/** Counts an unanswered question. One that was resolved and is asked again is open again. */
export async function recordGap(
  orgId: string,
  mode: Mode,
  asked: { question: string; group: string; why: GapReason; now: Date },
): Promise<void> {
  const reopened = { $cond: [{ $in: [{ $ifNull: ['$status', 'resolved'] }, ['resolved']] }, 'open', '$status'] };
  await GapModel.collection.updateOne(
    { _id: gapId(orgId, mode, asked.question) as never },
    [
      {
        $set: {
          org_id: orgId,
          mode,
          group: { $literal: asked.group },
          question: { $literal: asked.question },
          count: { $add: [{ $ifNull: ['$count', 0] }, 1] },
          first_asked: { $ifNull: ['$first_asked', asked.now] },
          last_asked: asked.now,
          why_missing: asked.why,
          status: reopened,
        },
      },
    ],
    { upsert: true },
  );
}

/**
 * Forgets what somebody asked, a wording as often as it occurs here: those that nobody else has asked. Of a wording that
 * others share nothing says who asked it.
 */
export async function forgetGaps(orgId: string, mode: Mode, questions: readonly string[]): Promise<void> {
  const times = new Map<string, number>();
  for (const question of questions) {
    const id = gapId(orgId, mode, question);
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  if (times.size === 0) return;
  await GapModel.bulkWrite(
    [...times].map(([_id, count]) => ({ deleteOne: { filter: { _id, org_id: orgId, count: { $lte: count } } } })),
  );
}

export type GapGroup = Omit<Gap, '_id' | 'org_id' | 'mode' | 'group'> & { gap_ids: string[] };

/** Groups, those asked last first, and how many there are. A group is as open as its most open wording. */
export async function listGaps(
  orgId: string,
  modes: readonly Mode[],
  limit: number,
  status?: GapStatus,
): Promise<{ gaps: GapGroup[]; count: number }> {
  const openness = { $indexOfArray: [gapStatuses, '$status'] };
  const [found] = await GapModel.aggregate<{ gaps: (GapGroup & { openness: number })[]; count: { n: number }[] }>([
    { $match: { org_id: orgId, mode: { $in: modes } } },
    { $sort: { count: -1, last_asked: -1 } },
    {
      $group: {
        _id: { mode: '$mode', group: '$group' },
        question: { $first: '$question' },
        count: { $sum: '$count' },
        first_asked: { $min: '$first_asked' },
        last_asked: { $max: '$last_asked' },
        why_missing: { $first: '$why_missing' },
        gap_ids: { $push: '$_id' },
        openness: { $min: openness },
      },
    },
    { $match: status ? { openness: gapStatuses.indexOf(status) } : {} },
    { $facet: { gaps: [{ $sort: { last_asked: -1, _id: 1 } }, { $limit: limit }], count: [{ $count: 'n' }] } },
  ]);
  return {
    gaps: (found?.gaps ?? []).map((g) => ({ ...g, status: gapStatuses[g.openness]! })),
    count: found?.count[0]?.n ?? 0,
  };
}

/** Gives how many of these there were. */
export async function setGapStatus(
  orgId: string,
  modes: readonly Mode[],
  ids: readonly string[],
  status: GapStatus,
): Promise<number> {
  const { matchedCount } = await GapModel.updateMany(
    { _id: { $in: ids }, org_id: orgId, mode: { $in: modes } },
    { $set: { status } },
  );
  return matchedCount;
}
