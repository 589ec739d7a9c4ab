/**
 * Interviews. The workflow of an interview owns its state; this record is its projection, and what members configure. One
 * that is being removed is found by nobody.
 */
import { removeResume } from './resume.ts';
import { closeRoom, removeRoom, type RoomOrder } from './room.ts';
import { removeSegments } from './transcript.ts';
import { eraseCopies } from '../base/copies.ts';
import { collectionOf, defined, defineModel, type RecordOf } from '../base/define.ts';
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

/** What the workflow of an interview says of it. */
export type Projection = { orgId: string; interviewId: string; state: InterviewState; moves: readonly Move[] };
export type StoredMove = Omit<Move, 'at'> & { at: Date; /** What the member wrote. */ reason?: string };
export type Candidate = { name?: string; email?: string; resume_parsed: boolean; resume_error?: string };

const questionsBy = ['rules_or_model', 'member'] as const;
export type QuestionsBy = (typeof questionsBy)[number];

/** What members may change before the start. */
const config = {
  role_title: string,
  interview_mode: oneOf(interviewModes),
  /** What questions and the room are written in; English where none is stored. */
  language: optional(oneOf(interviewLanguages)),
  skills: list(string),
  evaluation_criteria: list(string),
  question_count: number,
  questions: list(mixed<Question>()),
  /** Those that were made here follow a resume that is added later; those that a member wrote or changed stay. */
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
    /** The role's title in lower case: interviews for the same role are related. */
    role_key: string,
    created_by: string,
    status: oneOf(interviewStatuses),
    /** Of the last move. */
    seq: number,
    state: mixed<InterviewState>(),
    history: list(mixed<StoredMove>()),
    qa_summary: optional(mixed<QaSummary>()),
    evaluation: optional(mixed<Evaluation>()),
    scorecards: optional(list(mixed<Scorecard>())),
    decision: optional(mixed<{ decision: Decision; notes: string | null; decided_by: string; decided_at: Date }>()),
    /** The last mail to its candidate about its time. */
    invited: optional(mixed<Invitation>()),
    created_at: date,
    updated_at: date,
    /** Its removal is decided. */
    removing: flag,
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

const standing = (orgId: string, interviewId: string) => ({
  _id: interviewId,
  org_id: orgId,
  removing: { $exists: false },
});

export const roleKey = (title: string): string => title.trim().toLowerCase().replaceAll(/\s+/gu, ' ');

export async function createInterview(interview: Interview): Promise<Interview> {
  await collectionOf(InterviewModel).insertOne(defined(interview) as Interview);
  return interview;
}

export async function findInterview(orgId: string, interviewId: string): Promise<Interview | null> {
  return collectionOf(InterviewModel).findOne(standing(orgId, interviewId));
}

/** The newest first, after the one with this id. */
export async function listInterviews(
  orgId: string,
  status: InterviewStatus | undefined,
  limit: number,
  after: string | undefined,
): Promise<Interview[]> {
  const which = {
    org_id: orgId,
    removing: { $exists: false },
    ...(status === undefined ? {} : { status }),
    ...(after === undefined ? {} : { _id: { $lt: after } }),
  };
  return collectionOf(InterviewModel).find(which).sort({ _id: -1 }).limit(limit).toArray();
}

/** Other interviews of the same candidate or for the same role, the newest first. */
export async function listRelated(
  { _id, org_id, role_key, candidate }: Interview,
  limit: number,
): Promise<Interview[]> {
  const same = [{ role_key }, ...(candidate.email === undefined ? [] : [{ 'candidate.email': candidate.email }])];
  return collectionOf(InterviewModel)
    .find({ org_id, removing: { $exists: false }, _id: { $ne: _id }, $or: same })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

type ConfigChange = { [F in keyof InterviewConfig]?: InterviewConfig[F] | undefined } & {
  role_key?: string;
  'candidate.name'?: string | undefined;
  'candidate.email'?: string | undefined;
};

/**
 * Changes the configuration of an interview that has not started. Null when there is none in such a state. `intent`: to tell
 * its workflow.
 */
export async function configureInterview(
  orgId: string,
  interviewId: string,
  change: ConfigChange,
  now: Date,
  intent?: Intent,
): Promise<Interview | null> {
  return collectionOf(InterviewModel).findOneAndUpdate(
    { ...standing(orgId, interviewId), status: { $in: [...operations.update.from] } },
    { $set: { ...defined(change), updated_at: now }, ...(intent ? { $push: { pending: intent } } : {}) },
    { returnDocument: 'after' },
  );
}

/** Notes the last mail to the candidate; one with a lower number changes nothing. */
export async function noteInvited(orgId: string, interviewId: string, invited: Invitation): Promise<void> {
  await collectionOf(InterviewModel).updateOne(
    { ...standing(orgId, interviewId), 'invited.sequence': { $not: { $gte: invited.sequence } } },
    { $set: { invited } },
  );
}

/** Notes an intent. Null when there is no such interview. */
export async function noteIntent(orgId: string, interviewId: string, intent: Intent): Promise<Interview | null> {
  return collectionOf(InterviewModel).findOneAndUpdate(
    standing(orgId, interviewId),
    { $push: { pending: intent } },
    { returnDocument: 'after' },
  );
}

/**
 * Writes what the workflow says, its state and the moves that are not known to be stored, and closes the room of an interview
 * that is over. A state that is older than the stored one changes nothing, and a move is stored once, so that it may be written
 * again, and by several. `newer`: nor does one of the same move, which knows less than what the workflow stored after it. Null
 * when it changes nothing, or there is no such interview any more.
 */
export async function projectInterview(
  { orgId, interviewId, state, moves }: Projection,
  clock: () => Date,
  { newer = false } = {},
): Promise<Interview | null> {
  const made = moves.map((move) => ({ ...move, at: new Date(move.at) }));
  const unknown = { $filter: { input: { $literal: made }, cond: { $gt: ['$$this.seq', '$seq'] } } };
  const written = await collectionOf(InterviewModel).findOneAndUpdate(
    { ...standing(orgId, interviewId), seq: newer ? { $lt: state.seq } : { $lte: state.seq } },
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
    { returnDocument: 'after' },
  );
  if (!isRunning(state.status) && !isAhead(state.status))
    await closeRoom(interviewId, endReasonOf(moves.at(-1)?.cause, state.status), clock);
  return written;
}

/** Adds to a move what the member wrote who asked for it. */
export async function setReason(orgId: string, interviewId: string, seq: number, reason: string): Promise<void> {
  await collectionOf(InterviewModel).updateOne(
    { ...standing(orgId, interviewId), 'history.seq': seq },
    { $set: { 'history.$.reason': reason } },
  );
}

type Result = Partial<Pick<Interview, 'qa_summary' | 'evaluation'>>;

/** Stores what an evaluation gave. */
export async function storeResult(orgId: string, interviewId: string, result: Result, now: Date): Promise<void> {
  await collectionOf(InterviewModel).updateOne(standing(orgId, interviewId), { $set: { ...result, updated_at: now } });
}

/** Null when there is no such interview in a state that allows a decision. */
export async function decideInterview(
  orgId: string,
  interviewId: string,
  decision: NonNullable<Interview['decision']>,
): Promise<Interview | null> {
  return collectionOf(InterviewModel).findOneAndUpdate(
    { ...standing(orgId, interviewId), status: { $in: [...operations.decide.from] } },
    { $set: { decision, updated_at: decision.decided_at } },
    { returnDocument: 'after' },
  );
}

/**
 * Puts a member's scorecard in place of the one that the same member gave before. Null when there is no such interview in a
 * state that allows it.
 */
export async function storeScorecard(orgId: string, interviewId: string, card: Scorecard): Promise<Interview | null> {
  const others = {
    $filter: { input: { $ifNull: ['$scorecards', []] }, cond: { $ne: ['$$this.user_id', { $literal: card.user_id }] } },
  };
  return collectionOf(InterviewModel).findOneAndUpdate(
    { ...standing(orgId, interviewId), status: { $in: [...operations.scorecard.from] } },
    [{ $set: { scorecards: { $concatArrays: [others, [{ $literal: card }]] }, updated_at: card.updated_at } }],
    { returnDocument: 'after' },
  );
}

/** Whose bot this is. */
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
 * Decides the removal: from here on nobody finds the interview, and what it says of the candidate is gone from its record.
 * Null when there is none.
 */
export async function beginInterviewRemoval(
  orgId: string,
  interviewId: string,
  intent?: Intent,
): Promise<Interview | null> {
  return collectionOf(InterviewModel).findOneAndUpdate(
    intent ? standing(orgId, interviewId) : { _id: interviewId, org_id: orgId },
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
    { returnDocument: 'after' },
  );
}

/** Removes what belongs to an interview and is kept elsewhere. Safe to repeat. */
export async function removeInterviewContents(interviewId: string): Promise<void> {
  await removeSegments(interviewId);
  await removeRoom(interviewId);
  await removeResume(interviewId);
  await eraseCopies([interviewId]);
}

/** What the room of an interview is opened with. */
export const orderOf = ({
  _id,
  org_id,
  mode,
  interview_mode,
  language,
  role_title,
  candidate,
  questions,
}: Interview): RoomOrder => ({
  _id,
  org_id,
  mode,
  interview_mode,
  role_title,
  questions,
  ...(language === undefined ? {} : { language }),
  ...(candidate.name === undefined ? {} : { candidate_name: candidate.name }),
});

/** Says in the interview that its resume was read, or why not; an earlier one that was read goes on to count then. */
export async function noteResume(
  { _id, org_id }: Pick<Interview, '_id' | 'org_id'>,
  outcome: { read: true } | { error: string },
  now: Date,
): Promise<boolean> {
  const change =
    'read' in outcome
      ? { $set: { 'candidate.resume_parsed': true, updated_at: now }, $unset: { 'candidate.resume_error': 1 as const } }
      : { $set: { 'candidate.resume_error': outcome.error, updated_at: now } };
  return (await collectionOf(InterviewModel).updateOne(standing(org_id, _id), change)).matchedCount === 1;
}

/** Puts questions in place of those that stood there, unless it has started or somebody has changed them meanwhile. */
export async function personalize(
  { _id, org_id, questions }: Pick<Interview, '_id' | 'org_id' | 'questions'>,
  made: readonly Question[],
  now: Date,
): Promise<void> {
  await collectionOf(InterviewModel).updateOne(
    { ...standing(org_id, _id), status: { $in: [...operations.update.from] }, questions },
    { $set: { questions: [...made], updated_at: now } },
  );
}

/** What is left of an interview that is being removed: the state, in which its bots are. */
export async function findRemoved(
  orgId: string,
  interviewId: string,
): Promise<Pick<Interview, '_id' | 'state'> | null> {
  return collectionOf(InterviewModel).findOne(
    { _id: interviewId, org_id: orgId, removing: true },
    { projection: { state: 1 } },
  );
}

/** Removes the record of an interview whose removal was decided. */
export async function forgetInterview(orgId: string, interviewId: string): Promise<void> {
  await collectionOf(InterviewModel).deleteOne({ _id: interviewId, org_id: orgId, removing: true });
}
