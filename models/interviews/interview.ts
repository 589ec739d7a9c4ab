/**
 * Interviews. The workflow of an interview owns the interview's state. The record holds a copy of the state, and the
 * configuration that members set. An interview that is being removed is hidden from all queries.
 */
import { removeResume } from './resume.ts';
import { closeRoom, removeRoom, type RoomOrder } from './room.ts';
import { removeSegments } from './transcript.ts';
import { eraseCopies } from '../base/copies.ts';
import { changerOf, collectionOf, defineModel, newest, olderThan, updaterOf, type RecordOf } from '../base/define.ts';
import { date, flag, list, mixed, number, oneOf, optional, string, type RecordWith } from '../rules/base/fields.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes } from '../rules/access/keys.ts';
import type { Evaluation, QaSummary, Scorecard } from '../rules/interviews/evaluation.ts';
import {
  interviewModes,
  interviewStatuses,
  isAhead,
  isRunning,
  operations,
  type BotRef,
  type Decision,
  type InterviewState,
  type InterviewStatus,
  type Move,
} from '../rules/interviews/interview.ts';
import type { Invitation } from '../rules/interviews/invitation.ts';
import type { Question } from '../rules/interviews/questions.ts';
import { endReasonOf } from '../rules/interviews/room.ts';
import { interviewLanguages } from '../rules/language/language.ts';
import { defined } from '../rules/base/defined.ts';

/** The state of an interview with its status changes, as its workflow reports them. */
export type Projection = { orgId: string; interviewId: string; state: InterviewState; moves: readonly Move[] };
export type StoredMove = Omit<Move, 'at'> & { at: Date; /** The member's reason. */ reason?: string };
export type Candidate = { name?: string; email?: string; resume_parsed: boolean; resume_error?: string };

const questionsBy = ['rules_or_model', 'member'] as const;
export type QuestionsBy = (typeof questionsBy)[number];

/** The fields that members may change before the interview starts. */
const config = {
  role_title: string,
  interview_mode: oneOf(interviewModes),
  /** The language of the questions and the room. */
  language: oneOf(interviewLanguages),
  skills: list(string),
  evaluation_criteria: list(string),
  question_count: number,
  questions: list(mixed<Question>()),
  /**
   * Who wrote the questions. Generated questions are replaced when a resume is added later. Questions that a member
   * wrote or changed are kept.
   */
  questions_by: oneOf(questionsBy),
  meeting_url: optional(string),
  scheduled_at: optional(date),
  candidate: mixed<Candidate>(),
};
export type InterviewConfig = RecordWith<typeof config>;

export const InterviewModel = defineModel(
  'Interview',
  'interviews',
  {
    ...config,
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    /** The normalised title of the role; interviews with the same title are related. */
    role_key: string,
    created_by: string,
    status: oneOf(interviewStatuses),
    /** The number of the last status change. */
    seq: number,
    state: mixed<InterviewState>(),
    history: list(mixed<StoredMove>()),
    qa_summary: optional(mixed<QaSummary>()),
    evaluation: optional(mixed<Evaluation>()),
    scorecards: optional(list(mixed<Scorecard>())),
    decision: optional(mixed<{ decision: Decision; notes: string | null; decided_by: string; decided_at: Date }>()),
    /** The last mail to the candidate about the interview's time. */
    invited: optional(mixed<Invitation>()),
    /**
     * How often another address has replaced the candidate's; absent: never. Each replacement makes the candidate's
     * link into the room invalid, because the earlier candidate may have it.
     */
    replaced: optional(number),
    created_at: date,
    updated_at: date,
    /** True once the removal is decided; some of the interview's data may still be stored. */
    removing: flag,
    /** The ids of the last reports of the service that runs the bot, so that a repeated report is recognized. */
    reports: optional(list(string)),
    pending: pendingField,
  },
  [
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1, status: 1, _id: -1 } },
    { fields: { org_id: 1, role_key: 1, _id: -1 } },
    {
      fields: { org_id: 1, 'candidate.email': 1, _id: -1 },
      partialFilterExpression: { 'candidate.email': { $exists: true } },
    },
    { fields: { 'state.bot.id': 1 }, partialFilterExpression: { 'state.bot.id': { $exists: true } } },
    pendingIndex,
  ],
);
export type Interview = RecordOf<typeof InterviewModel>;

const update = updaterOf(InterviewModel);
const change = changerOf(InterviewModel);
const standing = { removing: { $exists: false } };

export const roleKey = (title: string): string => title.trim().toLowerCase().replaceAll(/\s+/gu, ' ');

export async function createInterview(interview: Interview): Promise<Interview> {
  await collectionOf(InterviewModel).insertOne(defined(interview));
  return interview;
}

export async function findInterview(orgId: string, interviewId: string): Promise<Interview | null> {
  return collectionOf(InterviewModel).findOne({ _id: interviewId, org_id: orgId, ...standing });
}

/** The interviews of an organization, newest first; `after` is the last id of the previous page. */
export async function listInterviews(
  orgId: string,
  status: InterviewStatus | undefined,
  limit: number,
  after: string | undefined,
): Promise<Interview[]> {
  const which = { org_id: orgId, ...standing, ...defined({ status }), ...olderThan(after) };
  return newest(collectionOf(InterviewModel).find(which), limit);
}

/**
 * Other interviews of the same candidate or for the same role, newest first; `after` is the last id of the previous
 * page.
 */
export async function listRelated(
  { _id, org_id, role_key, candidate }: Interview,
  limit: number,
  after: string | undefined,
): Promise<Interview[]> {
  const same = [{ role_key }, ...(candidate.email === undefined ? [] : [{ 'candidate.email': candidate.email }])];
  const which = { org_id, ...standing, _id: { $ne: _id, ...olderThan(after)._id }, $or: same };
  return newest(collectionOf(InterviewModel).find(which), limit);
}

type ConfigChange = { [F in keyof InterviewConfig]?: InterviewConfig[F] | undefined } & {
  role_key?: string;
  'candidate.name'?: string | undefined;
  'candidate.email'?: string | undefined;
};

/**
 * Changes the configuration of an interview that has not started; null when there is no such interview, its state does
 * not allow a change, or another request changed the candidate's address meanwhile. `intent`: the intent to signal the
 * interview's workflow.
 */
export async function configureInterview(
  orgId: string,
  interviewId: string,
  config: ConfigChange,
  now: Date,
  intent?: Intent,
): Promise<Interview | null> {
  const write = (only: object, counted: object = {}) =>
    change(
      orgId,
      interviewId,
      { $set: { ...defined(config), updated_at: now }, ...(intent ? { $push: { pending: intent } } : {}), ...counted },
      { ...standing, status: { $in: [...operations.update.from] }, ...only },
    );
  const email = config['candidate.email'];
  if (email === undefined) return write({});
  // One update stores the new address and counts the replacement, so that the new address never has the old link.
  const another = await write({ 'candidate.email': { $exists: true, $ne: email } }, { $inc: { replaced: 1 } });
  return another ?? write({ 'candidate.email': { $in: [email, null] } });
}

/** Stores the last mail to the candidate, unless a mail with the same or a higher sequence number is stored. */
export const noteInvited = (orgId: string, interviewId: string, invited: Invitation) =>
  update(
    orgId,
    interviewId,
    { $set: { invited } },
    { ...standing, 'invited.sequence': { $not: { $gte: invited.sequence } } },
  );

/** Stores an intent in an interview. Null when there is no such interview. */
export const noteIntent = (orgId: string, interviewId: string, intent: Intent) =>
  change(orgId, interviewId, { $push: { pending: intent } }, standing);

const reportsKept = 100;

/**
 * Stores the id of a bot's report, and the intent to process the report. Null when the report came before, or there is
 * no such interview.
 */
export const noteReport = (orgId: string, interviewId: string, reportId: string, intent: Intent) =>
  change(
    orgId,
    interviewId,
    { $push: { pending: intent, reports: { $each: [reportId], $slice: -reportsKept } } },
    { ...standing, reports: { $ne: reportId } },
  );

/**
 * Stores the workflow's state and new status changes, and closes the room of an interview that is over.
 *
 * Idempotent, even when several processes write at once: a state older than the stored one changes nothing, and each
 * status change is stored once. Null when nothing changed, or the interview does not exist any more.
 *
 * `newer`: true when the given state may lack data that the workflow has stored under the same `seq`. Then the state is
 * stored only if its `seq` is higher than the stored one.
 */
export async function projectInterview(
  { orgId, interviewId, state, moves }: Projection,
  clock: () => Date,
  { newer = false } = {},
): Promise<Interview | null> {
  const made = moves.map((move) => ({ ...move, at: new Date(move.at) }));
  const unknown = { $filter: { input: { $literal: made }, cond: { $gt: ['$$this.seq', '$seq'] } } };
  const written = await change(
    orgId,
    interviewId,
    [
      {
        $set: {
          history: { $concatArrays: ['$history', unknown] },
          status: state.status,
          seq: state.seq,
          state: { $literal: state },
          updated_at: clock(),
        },
      },
    ],
    { ...standing, seq: newer ? { $lt: state.seq } : { $lte: state.seq } },
  );
  if (!isRunning(state.status) && !isAhead(state.status))
    await closeRoom(interviewId, endReasonOf(moves.at(-1)?.cause, state.status), clock);
  return written;
}

export const setReason = (orgId: string, interviewId: string, seq: number, reason: string) =>
  update(orgId, interviewId, { $set: { 'history.$.reason': reason } }, { ...standing, 'history.seq': seq });

type Result = Partial<Pick<Interview, 'qa_summary' | 'evaluation'>>;

export const storeResult = (orgId: string, interviewId: string, result: Result, now: Date) =>
  update(orgId, interviewId, { $set: { ...result, updated_at: now } }, standing);

/** Stores the decision on a candidate; null when there is no such interview in a state that allows a decision. */
export const decideInterview = (orgId: string, interviewId: string, decision: NonNullable<Interview['decision']>) =>
  change(
    orgId,
    interviewId,
    { $set: { decision, updated_at: decision.decided_at } },
    { ...standing, status: { $in: [...operations.decide.from] } },
  );

/**
 * Stores a member's scorecard in place of the same member's earlier one. Null when there is no such interview in a
 * state that allows a scorecard.
 */
export async function storeScorecard(orgId: string, interviewId: string, card: Scorecard): Promise<Interview | null> {
  const others = {
    $filter: { input: { $ifNull: ['$scorecards', []] }, cond: { $ne: ['$$this.user_id', { $literal: card.user_id }] } },
  };
  return change(
    orgId,
    interviewId,
    [{ $set: { scorecards: { $concatArrays: [others, [{ $literal: card }]] }, updated_at: card.updated_at } }],
    { ...standing, status: { $in: [...operations.scorecard.from] } },
  );
}

export async function findByBot({
  kind,
  id,
}: BotRef): Promise<Pick<Interview, '_id' | 'org_id' | 'mode' | 'state'> | null> {
  return collectionOf(InterviewModel).findOne(
    { 'state.bot.id': id, 'state.bot.kind': kind },
    { projection: { org_id: 1, mode: 1, state: 1 } },
  );
}

/**
 * Decides the removal: from now on the interview is hidden, and the candidate's data is removed from its record. Null
 * when there is no such interview.
 */
export async function beginInterviewRemoval(
  orgId: string,
  interviewId: string,
  intent?: Intent,
): Promise<Interview | null> {
  return change(
    orgId,
    interviewId,
    {
      $set: {
        removing: true,
        candidate: { resume_parsed: false },
        role_title: '',
        role_key: '',
        skills: [],
        evaluation_criteria: [],
        questions: [],
        history: [],
      },
      $unset: { qa_summary: 1, evaluation: 1, scorecards: 1, decision: 1, meeting_url: 1, invited: 1 },
      ...(intent ? { $push: { pending: intent } } : {}),
    },
    intent ? standing : {},
  );
}

/** Deletes the interview's data in other collections. Idempotent. */
export async function removeInterviewContents(orgId: string, interviewId: string): Promise<void> {
  await removeSegments(interviewId);
  await removeRoom(orgId, interviewId);
  await removeResume(interviewId);
  await eraseCopies([interviewId]);
}

/** The data with which an interview's room is opened. */
export const orderOf = ({
  _id,
  org_id,
  mode,
  interview_mode,
  language,
  role_title,
  candidate,
  questions,
  replaced,
}: Interview): RoomOrder => ({
  _id,
  org_id,
  mode,
  interview_mode,
  language,
  role_title,
  questions,
  ...defined({ candidate_name: candidate.name, replaced }),
});

/** Stores that the resume was read, or the error. After an error, a resume that was read earlier stays in use. */
export async function noteResume(
  { _id, org_id }: Pick<Interview, '_id' | 'org_id'>,
  outcome: { read: true } | { error: string },
  now: Date,
): Promise<boolean> {
  const noted =
    'read' in outcome
      ? { $set: { 'candidate.resume_parsed': true, updated_at: now }, $unset: { 'candidate.resume_error': 1 as const } }
      : { $set: { 'candidate.resume_error': outcome.error, updated_at: now } };
  return update(org_id, _id, noted, standing);
}

/** Replaces the questions, unless the interview has started or the questions changed meanwhile. */
export const personalize = (
  { _id, org_id, questions }: Pick<Interview, '_id' | 'org_id' | 'questions'>,
  made: readonly Question[],
  now: Date,
) =>
  update(
    org_id,
    _id,
    { $set: { questions: [...made], updated_at: now } },
    { ...standing, status: { $in: [...operations.update.from] }, questions },
  );

/** The record of an interview that is being removed. Its state names the bots that must leave. */
export async function findRemoved(
  orgId: string,
  interviewId: string,
): Promise<Pick<Interview, '_id' | 'state'> | null> {
  return collectionOf(InterviewModel).findOne(
    { _id: interviewId, org_id: orgId, removing: true },
    { projection: { state: 1 } },
  );
}

/** Deletes the record of an interview whose removal was decided. */
export async function forgetInterview(orgId: string, interviewId: string): Promise<void> {
  await collectionOf(InterviewModel).deleteOne({ _id: interviewId, org_id: orgId, removing: true });
}
