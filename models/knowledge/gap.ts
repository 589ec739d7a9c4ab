/**
 * Unanswered questions of customers, one record a wording, grouped by what they mean; forgotten half a year after they were last asked.
 * A record knows which customers asked it, as hashes, so that the words go when nobody else's are left.
 */
import { createHash } from 'node:crypto';
import type mongoose from 'mongoose';
import { collectionOf, defineModel, defined, type RecordOf } from '../base/define.ts';
import {
  bytes,
  date,
  embedded,
  list,
  mixed,
  number,
  oneOf,
  optional,
  string,
  type ValueOf,
} from '../rules/base/fields.ts';
import { gapReasons, gapStatuses, nearestGroup, type GapReason, type GapStatus } from '../rules/knowledge/gap.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

export type GapNear = { chunk_id: string; score: number };

const keepSeconds = 180 * 86_400;
/** A wording that so many have asked is nobody's alone: further customers are only counted. Some 100 KB a record. */
const maxAskers = 1_000;

/**
 * A customer who asked, how often, and with which message the last time. Both are hashes of ids, which are nobody's once the
 * customer is forgotten.
 */
const gapAsker = embedded({
  customer: string,
  message: string,
  count: number,
});
type GapAsker = ValueOf<typeof gapAsker>;

const GapModel = defineModel(
  'Gap',
  'gaps',
  {
    /** `gap_` and a hash over organization, mode and wording, so that asking again counts the same record. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    group: string,
    question: string,
    /** How often it was asked, by whomever. */
    count: number,
    /** Of customers, the first `MAX_ASKERS` of them; who asks with a key is nobody in particular. */
    askers: list(gapAsker),
    first_asked: date,
    last_asked: date,
    why_missing: oneOf(gapReasons),
    /** The passages that came nearest when it was asked last: chunk ids and scores. */
    near: optional(mixed<GapNear[]>()),
    /** What the question means: numbers of four bytes. Vectors of two models are never compared. */
    vector: optional(bytes),
    vector_model: optional(string),
    status: oneOf(gapStatuses),
  },
  [
    { fields: { org_id: 1, mode: 1, last_asked: -1 } },
    { fields: { last_asked: 1 }, expireAfterSeconds: keepSeconds },
    { fields: { 'askers.customer': 1, _id: 1 } },
    // Those that nobody has asked any more, which are about to be removed.
    { fields: { org_id: 1, count: 1 }, partialFilterExpression: { count: 0 } },
  ],
);
export type Gap = RecordOf<typeof GapModel>;

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
export type QuestionVector = { model: string; vector: Float32Array };
export type Asked = {
  question: string;
  group: string;
  why: GapReason;
  now: Date;
  near?: GapNear[] | undefined;
  meaning?: QuestionVector | undefined;
};

/** Questions that a new one is compared with, those asked last: each a dot product of 512 numbers. */
const comparedGaps = 2_000;

/** The group of the question that asks the same, by meaning. */
export async function findGroup(
  orgId: string,
  mode: Mode,
  { model, vector }: QuestionVector,
): Promise<string | undefined> {
  const found = await collectionOf(GapModel)
    .find({ org_id: orgId, mode, vector_model: model })
    .project<{ group: string; vector: mongoose.mongo.Binary }>({ group: 1, vector: 1 })
    .sort({ last_asked: -1 })
    .limit(comparedGaps)
    .toArray();
  return nearestGroup(
    vector,
    found.map((gap) => ({ group: gap.group, vector: readVector(gap.vector) })),
  );
}

/** A copy, since numbers of four bytes must stand at an address that four divides. */
const readVector = ({ buffer }: mongoose.mongo.Binary): Float32Array =>
  new Float32Array(Uint8Array.from(buffer).buffer);
const writeVector = (vector: Float32Array): Buffer => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** Ids are random, so nothing but the id itself leads from it to its hash. */
const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 22);

/** A question that nobody has asked before. */
function freshGap(orgId: string, mode: Mode, asked: Asked) {
  const { question, group, why: why_missing, now, near, meaning } = asked;
  const vector = meaning && { vector: writeVector(meaning.vector), vector_model: meaning.model };
  const told: Told = {
    org_id: orgId,
    mode,
    group,
    question,
    last_asked: now,
    why_missing,
    ...defined({ near, ...vector }),
  };
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

type Told = Pick<
  Gap,
  'org_id' | 'mode' | 'group' | 'question' | 'last_asked' | 'why_missing' | 'near' | 'vector' | 'vector_model'
>;

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

export type GapGroup = Omit<Gap, '_id' | 'org_id' | 'group' | 'askers' | 'vector' | 'vector_model'> & {
  gap_ids: string[];
};

/** Groups, those asked last first, and how many there are. A group is as open as its most open wording. */
export async function listGaps(
  orgId: string,
  modes: readonly Mode[],
  limit: number,
  status?: GapStatus,
): Promise<{ gaps: GapGroup[]; count: number }> {
  const openness = { $indexOfArray: [gapStatuses, '$status'] };
  const groups = collectionOf(GapModel).aggregate<{
    gaps: (GapGroup & { openness: number })[];
    count: { n: number }[];
  }>([
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
        near: { $first: '$near' },
        mode: { $first: '$mode' },
        gap_ids: { $push: '$_id' },
        openness: { $min: openness },
      },
    },
    { $match: status ? { openness: gapStatuses.indexOf(status) } : {} },
    { $facet: { gaps: [{ $sort: { last_asked: -1, _id: 1 } }, { $limit: limit }], count: [{ $count: 'n' }] } },
  ]);
  const found = await groups.next();
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
  const { matchedCount } = await collectionOf(GapModel).updateMany(
    { _id: { $in: ids }, org_id: orgId, mode: { $in: modes } },
    { $set: { status } },
  );
  return matchedCount;
}
