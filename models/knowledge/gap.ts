/**
 * Unanswered questions, one record a wording, grouped when they are read; forgotten half a year after they were last asked.
 * A record knows which customers asked it, as hashes, so that the words go when nobody else's are left.
 */
import { createHash } from 'node:crypto';
import type mongoose from 'mongoose';
import { collectionOf, defineModel, embedded } from '../base/define.ts';
import { gapReasons, gapStatuses, type GapReason, type GapStatus } from '../rules/knowledge/gap.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

/**
 * A customer who asked, how often, and with which message the last time. Both are hashes of ids, which are nobody's once the
 * customer is forgotten.
 */
type GapAsker = { customer: string; message: string; count: number };

export type Gap = {
  /** `gap_` and a hash over organization, mode and wording, so that asking again counts the same record. */
  _id: string;
  org_id: string;
  mode: Mode;
  group: string;
  question: string;
  /** How often it was asked, by whomever. */
  count: number;
  /** Of customers, the first `MAX_ASKERS` of them; who asks with a key is nobody in particular. */
  askers: GapAsker[];
  first_asked: Date;
  last_asked: Date;
  why_missing: GapReason;
  status: GapStatus;
};

const keepSeconds = 180 * 86_400;
/** A wording that so many have asked is nobody's alone: further customers are only counted. Some 100 KB a record. */
const maxAskers = 1_000;

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
    askers: {
      type: [
        embedded<GapAsker>({
          customer: { type: String, required: true },
          message: { type: String, required: true },
          count: { type: Number, required: true },
        }),
      ],
      required: true,
    },
    first_asked: { type: Date, required: true },
    last_asked: { type: Date, required: true },
    why_missing: { type: String, enum: gapReasons, required: true },
    status: { type: String, enum: gapStatuses, required: true },
  },
  [
    { fields: { org_id: 1, mode: 1, last_asked: -1 } },
    { fields: { last_asked: 1 }, expireAfterSeconds: keepSeconds },
    { fields: { 'askers.customer': 1, _id: 1 } },
    // Those that nobody has asked any more, which are about to be removed.
    { fields: { org_id: 1, count: 1 }, partialFilterExpression: { count: 0 } },
  ],
);

/** The record of a wording; how it is spaced and capitalised does not matter. */
function gapId(orgId: string, mode: Mode, question: string): string {
  const wording = question.trim().toLowerCase().replace(/\s+/g, ' ');
  const hash = createHash('sha256')
    .update(JSON.stringify([orgId, mode, wording]))
    .digest('hex');
  return `gap_${hash.slice(0, 26)}`;
}

/** Who asked: a customer, with a message. */
export type Asker = { customerId: string; messageId: string };
export type Asked = { question: string; group: string; why: GapReason; now: Date };

/** Ids are random, so nothing but the id itself leads from it to its hash. */
const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 22);

/** A question that nobody has asked before. */
function freshGap(orgId: string, mode: Mode, { question, group, why: why_missing, now }: Asked) {
  const told = { org_id: orgId, mode, group, question, last_asked: now, why_missing };
  const _id = gapId(orgId, mode, question);
  const fresh: Gap = { _id, ...told, count: 1, askers: [], first_asked: now, status: 'open' };
  return { told, fresh };
}

/** Counts an unanswered question of a key. One that was resolved and is asked again is open again. */
export async function recordGap(orgId: string, mode: Mode, asked: Asked): Promise<void> {
  const { told, fresh } = freshGap(orgId, mode, asked);
  const first = {
    $replaceWith: { $cond: [{ $ifNull: ['$count', false] }, '$$ROOT', { $literal: { ...fresh, count: 0 } }] },
  };
  const again = [first, { $set: countedAgain(told) }];
  await collectionOf(GapModel).updateOne({ _id: fresh._id }, again, { upsert: true });
}

/**
 * The end of an aggregation that counts an unanswered question of a customer for each record it has come to; see
 * `recordCustomerGap`. An asker's message counts once, however often its answer is attempted.
 */
export function countingGap(orgId: string, mode: Mode, asked: Asked, asker: Asker): mongoose.PipelineStage[] {
  const { told, fresh } = freshGap(orgId, mode, asked);
  const by: GapAsker = { customer: hashOf(asker.customerId), message: hashOf(asker.messageId), count: 1 };
  // Gaps that were stored before askers were have none.
  const again = [{ $set: { askers: { $ifNull: ['$askers', []] } } }, { $set: countedAgain(told, by) }];
  return [
    { $replaceWith: { $literal: { ...fresh, askers: [by] } } },
    { $merge: { into: 'gaps', on: '_id', whenMatched: again, whenNotMatched: 'insert' } },
  ] as mongoose.PipelineStage[];
}

type Told = Pick<Gap, 'org_id' | 'mode' | 'group' | 'question' | 'last_asked' | 'why_missing'>;

/** The fields of a gap that is asked once more. */
function countedAgain(told: Told, by?: GapAsker) {
  const status = { $cond: [{ $eq: ['$status', 'resolved'] }, 'open', '$status'] };
  const literal = Object.fromEntries(Object.entries(told).map(([field, value]) => [field, { $literal: value }]));
  const more = { $add: ['$count', 1] };
  if (!by) return { ...literal, status, count: more };
  const counted = { $in: [by.message, '$askers.message'] };
  return { ...literal, status, count: { $cond: [counted, '$count', more] }, askers: askersWith(by) };
}

function askersWith(by: GapAsker) {
  const isOther = { $ne: ['$$asker.customer', by.customer] };
  const isCounted = { $eq: ['$$asker.message', by.message] };
  const again = { ...by, count: { $add: ['$$asker.count', 1] } };
  const known = {
    $map: { input: '$askers', as: 'asker', in: { $cond: [{ $or: [isOther, isCounted] }, '$$asker', again] } },
  };
  const added = {
    $cond: [{ $lt: [{ $size: '$askers' }, maxAskers] }, { $concatArrays: ['$askers', [by]] }, '$askers'],
  };
  return { $cond: [{ $in: [by.customer, '$askers.customer'] }, known, added] };
}

/**
 * Takes a customer out of what it asked, and removes the words that nobody else has asked. Safe to repeat, also when it was
 * interrupted. Call it once the customer's messages are gone, without which nothing is counted.
 */
export async function forgetGaps(orgId: string, customerId: string): Promise<void> {
  const customer = hashOf(customerId);
  const those = (operator: '$eq' | '$ne') => ({
    $filter: { input: '$askers', as: 'asker', cond: { [operator]: ['$$asker.customer', customer] } },
  });
  const times = { $sum: { $map: { input: those('$eq'), as: 'asker', in: '$$asker.count' } } };
  await collectionOf(GapModel).updateMany({ 'askers.customer': customer, org_id: orgId }, [
    { $set: { askers: those('$ne'), count: { $subtract: ['$count', times] } } },
  ]);
  // Also what somebody else left who was interrupted here. One that is asked again meanwhile stays.
  await collectionOf(GapModel).deleteMany({ org_id: orgId, count: 0 });
}

/** How many wordings a customer has asked in vain. */
export async function countGapsOf(orgId: string, customerId: string): Promise<number> {
  return collectionOf(GapModel).countDocuments({ 'askers.customer': hashOf(customerId), org_id: orgId });
}

/** `count`: how often this customer asked it. */
export type CustomerGap = Pick<Gap, '_id' | 'question' | 'count' | 'why_missing'>;

/** What a customer has asked in vain, by id, from behind `after` on. */
export async function listGapsOf(
  orgId: string,
  customerId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<CustomerGap[]> {
  const customer = hashOf(customerId);
  const found = await collectionOf(GapModel)
    .find({
      'askers.customer': customer,
      org_id: orgId,
      ...(after === undefined ? {} : { _id: { $gt: after } }),
    })
    .project<Pick<Gap, '_id' | 'question' | 'askers' | 'why_missing'>>({
      question: 1,
      why_missing: 1,
      askers: { $elemMatch: { customer } },
    })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
  return found.map(({ askers, ...gap }) => ({ ...gap, count: askers[0]!.count }));
}

export type GapGroup = Omit<Gap, '_id' | 'org_id' | 'mode' | 'group' | 'askers'> & { gap_ids: string[] };

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
