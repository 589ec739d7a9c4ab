/**
 * Knowledge gaps: unanswered questions of customers. There is one record per wording; wordings with the same meaning
 * share a group. A record expires half a year after the question was last asked. The record stores hashes of the ids of
 * the customers who asked, so that it is deleted when the last of these customers is deleted.
 */
import { createHash } from 'node:crypto';
import type mongoose from 'mongoose';
import { vectorsOf, type StoredVector } from './gapvectors.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
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
import {
  gapGroup,
  gapReasons,
  gapStatuses,
  sameQuestions,
  type GapReason,
  type GapStatus,
} from '../rules/knowledge/gap.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { defined } from '../rules/base/defined.ts';
import { keptSeconds } from '../rules/base/retention.ts';

export type GapNear = { chunk_id: string; score: number };

/**
 * The maximum number of stored askers, about 100 KB. A wording that so many people use identifies nobody, so further
 * customers are only counted.
 */
const maxAskers = 1_000;

/**
 * A customer who asked the question: how often, and in which message last. Both ids are hashed, and cannot be resolved
 * once the customer is deleted.
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
    /** `gap_` and a hash over organization, mode and wording, so that the same wording is counted in one record. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    /** A hash (`newGroup`), or the group of a similar question. */
    group: string,
    question: string,
    /** How often the question was asked, by customers and API keys. */
    count: number,
    /** The first `maxAskers` customers who asked. Questions through an API key have no customer. */
    askers: list(gapAsker),
    first_asked: date,
    last_asked: date,
    why_missing: oneOf(gapReasons),
    /** The nearest passages when the question was last asked. */
    near: optional(mixed<GapNear[]>()),
    /** The question's vector, as 32-bit floats. Vectors of different models are never compared. */
    vector: optional(bytes),
    vector_model: optional(string),
    status: oneOf(gapStatuses),
    /**
     * Set when the question was asked while some passages had no vectors, because one of these passages may answer it.
     * `segments`: the segments that the question named (`askedSegments`); absent when it named none. A waiting gap is
     * not shown. When the vectors are stored, its question is asked again. A question that was asked in two different
     * sets of segments does not wait, because an answer for one set is no answer for the other. A resolved question
     * that is asked again waits for its new asker alone, because the former askers need no answer any more.
     */
    waiting: optional(mixed<{ segments?: string[] }>()),
  },
  [
    { fields: { org_id: 1, mode: 1, last_asked: -1 } },
    { fields: { last_asked: 1 }, expireAfterSeconds: keptSeconds('gaps') },
    { fields: { 'askers.customer': 1, _id: 1 } },
    // Finds gaps whose customers were all removed; these gaps are about to be deleted.
    { fields: { org_id: 1, count: 1 }, partialFilterExpression: { count: 0 } },
    { fields: { org_id: 1, mode: 1 }, partialFilterExpression: { waiting: { $exists: true } } },
  ],
);
export type Gap = RecordOf<typeof GapModel>;

/** The record id of a wording; blanks and case are normalised. */
function gapId(orgId: string, mode: Mode, question: string): string {
  const wording = question.trim().toLowerCase().replace(/\s+/g, ' ');
  const hash = createHash('sha256')
    .update(JSON.stringify([orgId, mode, wording]))
    .digest('hex');
  return `gap_${hash.slice(0, 26)}`;
}

export type Asker = { customerId: string; messageId: string };
export type QuestionVector = { model: string; vector: Float32Array };
export type Asked = {
  question: string;
  group: string;
  why: GapReason;
  now: Date;
  near?: GapNear[] | undefined;
  meaning?: QuestionVector | undefined;
  waiting?: Gap['waiting'] | undefined;
};

/**
 * The group of a question that is not similar to a known one. Other customers' questions may join the group and then
 * store it, too. A hash contains no words, so the words of this question are deleted with the customers who asked it.
 */
export const newGroup = (stems: readonly string[], question: string): string => hashOf(gapGroup(stems, question));

/** The group of the most similar known question, by embeddings; undefined when none is similar enough. */
export async function findGroup(
  orgId: string,
  mode: Mode,
  { model, vector }: QuestionVector,
): Promise<string | undefined> {
  const gaps = collectionOf(GapModel);
  const known = await vectorsOf(`${orgId} ${mode} ${model}`, (since, limit) =>
    gaps
      .find({ org_id: orgId, mode, vector_model: model, last_asked: { $gte: since } })
      .project<StoredVector>({ vector: 1, last_asked: 1 })
      .sort({ last_asked: -1 })
      .limit(limit)
      .batchSize(vectorsAtOnce),
  );
  // The gap with the most similar vector may have been deleted since the vectors were read; then the next most similar
  // gap is taken.
  for (const id of sameQuestions(vector, known)) {
    const gap = await gaps.findOne({ _id: id, org_id: orgId }, { projection: { group: 1 } });
    if (gap) return gap.group;
  }
  return undefined;
}

/** The number of vectors in one batch from MongoDB; decoding them takes about a millisecond. */
const vectorsAtOnce = 100;

const writeVector = (vector: Float32Array): Buffer => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** Ids are random, so a hash of an id cannot be traced back without knowing the id. */
const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** The record of a new question, and the fields that are updated when it is asked again. */
function freshGap(orgId: string, mode: Mode, asked: Asked) {
  const { question, group, why: why_missing, now, near, meaning, waiting } = asked;
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
  const fresh: Gap = { _id, ...told, count: 1, askers: [], first_asked: now, status: 'open', ...defined({ waiting }) };
  return { told, fresh };
}

/** Counts an unanswered question that came through an API key. A resolved question becomes open again. */
export async function recordGap(orgId: string, mode: Mode, asked: Asked): Promise<void> {
  const { told, fresh } = freshGap(orgId, mode, asked);
  const first = {
    $replaceWith: { $cond: [{ $ifNull: ['$count', false] }, '$$ROOT', { $literal: { ...fresh, count: 0 } }] },
  };
  const again = [first, { $set: countedAgain(told, asked) }];
  await collectionOf(GapModel).updateOne({ _id: fresh._id, org_id: orgId }, again, { upsert: true });
}

/**
 * Aggregation stages that count an unanswered question of a customer; see `recordCustomerGap`. Each message counts
 * once, however often its answer is attempted.
 */
export function countingGap(orgId: string, mode: Mode, asked: Asked, asker: Asker): mongoose.PipelineStage[] {
  const { told, fresh } = freshGap(orgId, mode, asked);
  const by: GapAsker = { customer: hashOf(asker.customerId), message: hashOf(asker.messageId), count: 1 };
  const again = [{ $set: countedAgain(told, asked, by) }];
  return [
    { $replaceWith: { $literal: { ...fresh, askers: [by] } } },
    { $merge: { into: 'gaps', on: '_id', whenMatched: again, whenNotMatched: 'insert' } },
  ] as mongoose.PipelineStage[];
}

type Told = Pick<
  Gap,
  'org_id' | 'mode' | 'group' | 'question' | 'last_asked' | 'why_missing' | 'near' | 'vector' | 'vector_model'
>;

/** The updated fields of a question that is asked again. */
function countedAgain(told: Told, { waiting }: Asked, by?: GapAsker) {
  const status = { $cond: [{ $eq: ['$status', 'resolved'] }, 'open', '$status'] };
  const literal: Record<string, unknown> = Object.fromEntries(
    Object.entries(told).map(([field, value]) => [field, { $literal: value }]),
  );
  // One record counts all who asked, and an answer deletes it for all of them. So it waits only while all of them named
  // the same segments. A resolved question waits again, because the article that resolves it may still be read.
  const sameWaiting = { $eq: ['$waiting', { $literal: waiting }] };
  const mayWait = { $or: [sameWaiting, { $eq: ['$status', 'resolved'] }] };
  literal['waiting'] = waiting === undefined ? '$$REMOVE' : { $cond: [mayWait, { $literal: waiting }, '$$REMOVE'] };
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
 * Removes a customer from all gaps, and deletes the wordings that nobody else has asked. Idempotent, also after an
 * interruption. Call this function after the customer's messages are deleted: a question is only counted while its
 * message exists, so no question is counted again.
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
  // The deletion includes gaps whose count an interrupted earlier call has set to 0. A question that is asked again
  // meanwhile has a higher count and stays.
  await collectionOf(GapModel).deleteMany({ org_id: orgId, count: 0 });
}

/** How many unanswered wordings a customer has asked. */
export async function countGapsOf(orgId: string, customerId: string): Promise<number> {
  return collectionOf(GapModel).countDocuments({ 'askers.customer': hashOf(customerId), org_id: orgId });
}

/** `count`: how often this customer asked the question. */
export type CustomerGap = Pick<Gap, '_id' | 'question' | 'count' | 'why_missing'>;

/** A customer's unanswered questions after the id `after`, sorted by id. */
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

/** The maximum number of wordings of a group whose ids are listed, so that an entry of the list stays small. */
const maxNamedWordings = 100;

export type GapGroup = Omit<Gap, '_id' | 'org_id' | 'group' | 'askers' | 'vector' | 'vector_model' | 'waiting'> & {
  /** The ids of at most `maxNamedWordings` wordings. Any of these ids identifies the whole group in `setGapStatus`. */
  gap_ids: string[];
  /** The lowest id of the group's wordings. It orders groups that were last asked at the same time. */
  lowest_id: string;
};

/**
 * A page of gap groups, the most recently asked first, and the total number of groups; `after` is the last group of the
 * previous page. A group's status is the one among its wordings' statuses that comes first in `gapStatuses`. A question
 * that waits for vectors is left out, but not for longer than `waitsAtMostMs`.
 */
export async function listGaps(
  orgId: string,
  modes: readonly Mode[],
  {
    limit,
    after,
    status,
    now,
  }: {
    limit: number;
    after?: Pick<GapGroup, 'last_asked' | 'lowest_id'> | undefined;
    status?: GapStatus | undefined;
    now: Date;
  },
): Promise<{ gaps: GapGroup[]; count: number }> {
  const settled = {
    $or: [{ waiting: { $exists: false } }, { last_asked: { $lt: new Date(now.getTime() - waitsAtMostMs) } }],
  };
  const openness = { $indexOfArray: [gapStatuses, '$status'] };
  const rest = after && {
    $or: [
      { last_asked: { $lt: after.last_asked } },
      { last_asked: after.last_asked, lowest_id: { $gt: after.lowest_id } },
    ],
  };
  const groups = collectionOf(GapModel).aggregate<{
    gaps: (GapGroup & { openness: number })[];
    count: { n: number }[];
  }>([
    { $match: { org_id: orgId, mode: { $in: modes }, ...settled } },
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
        lowest_id: { $min: '$_id' },
        openness: { $min: openness },
      },
    },
    { $set: { gap_ids: { $slice: ['$gap_ids', maxNamedWordings] } } },
    { $match: status ? { openness: gapStatuses.indexOf(status) } : {} },
    {
      $facet: {
        gaps: [{ $match: rest ?? {} }, { $sort: { last_asked: -1, lowest_id: 1 } }, { $limit: limit }],
        count: [{ $count: 'n' }],
      },
    },
  ]);
  const found = await groups.next();
  return {
    gaps: (found?.gaps ?? []).map((g) => ({ ...g, status: gapStatuses[g.openness]! })),
    count: found?.count[0]?.n ?? 0,
  };
}

/**
 * How long questions may wait for vectors, in ms. A longer wait means that embedding is broken rather than late, so the
 * questions are then shown as gaps.
 */
const waitsAtMostMs = 3_600_000;

export type WaitingGap = Pick<Gap, '_id' | 'question'> & { waiting: NonNullable<Gap['waiting']> };

export async function listWaitingGaps(orgId: string, mode: Mode, limit: number): Promise<WaitingGap[]> {
  return collectionOf(GapModel)
    .find({ org_id: orgId, mode, waiting: { $exists: true } })
    .project<WaitingGap>({ question: 1, waiting: 1 })
    .limit(limit)
    .toArray();
}

/**
 * Ends the waiting of a question. An answered question was no gap, so its record is deleted. Any other question is
 * shown as a gap from then on. Nothing changes when the record no longer waits for the segments that were read, because
 * the question was asked in other segments meanwhile.
 */
export async function settleGap(
  orgId: string,
  { _id, waiting }: Pick<WaitingGap, '_id' | 'waiting'>,
  answered: boolean,
): Promise<void> {
  const which = { _id, org_id: orgId, waiting: { $eq: waiting } };
  if (answered) await collectionOf(GapModel).deleteOne(which);
  else await collectionOf(GapModel).updateOne(which, { $unset: { waiting: 1 } });
}

/**
 * Sets the status of all wordings in the groups to which these gaps belong, because lists do not name every wording.
 * Returns how many wordings the groups have.
 */
export async function setGapStatus(
  orgId: string,
  modes: readonly Mode[],
  ids: readonly string[],
  status: GapStatus,
): Promise<number> {
  const gaps = collectionOf(GapModel);
  const named = await gaps
    .find({ _id: { $in: [...ids] }, org_id: orgId, mode: { $in: [...modes] } })
    .project<Pick<Gap, 'mode' | 'group'>>({ mode: 1, group: 1 })
    .toArray();
  const groupsIn = (mode: Mode) => named.filter((one) => one.mode === mode).map(({ group }) => group);
  const { matchedCount } = await gaps.updateMany(
    { org_id: orgId, $or: modes.map((mode) => ({ mode, group: { $in: groupsIn(mode) } })) },
    { $set: { status } },
  );
  return matchedCount;
}
