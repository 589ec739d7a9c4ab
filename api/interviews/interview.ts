/** Shows interviews to members, and asks an interview's workflow for status changes. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { updateInterviewBody } from './contract/interviews.ts';
import type { Context } from '../context.ts';
import { command, earlierAnswer, illegalTransition, isGone, startSaved } from '../../workflows/start.ts';
import { viewSegment } from './meeting.ts';
import type { QuestionsAsk } from '../../intelligence/intelligence.ts';
import { newId } from '../../models/base/ids.ts';
import { intentFor } from '../../models/base/pending.ts';
import {
  findInterview,
  InterviewModel,
  noteIntent,
  orderOf,
  projectInterview,
  type Interview,
  type InterviewConfig,
  type QuestionsBy,
} from '../../models/interviews/interview.ts';
import { findRoom, openRoom, prepareRoom, tokensOf } from '../../models/interviews/room.ts';
import { readTranscript } from '../../models/interviews/transcript.ts';
import { invalid, Problem, sought } from '../../models/rules/base/errors.ts';
import { botReasons, isMeetingUrl, type BotReason } from '../../models/rules/interviews/bot.ts';
import type { Evaluation, Scorecard } from '../../models/rules/interviews/evaluation.ts';
import { criteriaOf } from '../../models/rules/interviews/criteria.ts';
import {
  interviewBounds,
  isRunning,
  maxDaysAhead,
  next,
  refusalOf,
  unique,
  type Operation,
} from '../../models/rules/interviews/interview.ts';
import type { NewQuestion } from '../../models/rules/interviews/questions.ts';
import { interviewWork, interviewWorkflowId } from '../../models/rules/interviews/work.ts';
import {
  interviewUpdates,
  reloadInterview,
  type Done,
  type InterviewCommand,
} from '../../workflows/interviews/interview.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** @throws Problem NOT_FOUND */
export const foundInterview = (orgId: string, interviewId: string): Promise<Interview> =>
  sought(findInterview(orgId, interviewId), 'interview');

/** @throws Problem ILLEGAL_TRANSITION */
export function checkAllowed({ status }: Pick<Interview, 'status'>, operation: Operation): void {
  if (next(status, operation) !== undefined) return;
  const { message, transition } = refusalOf(status, operation);
  throw illegalTransition(message, transition);
}

/** A status change that was made: its sequence number, and the interview after it. */
type Moved = { seq: number; record: Interview };
type Command = {
  orgId: string;
  interviewId: string;
  actor: string;
  cause?: string;
  /** The ids of the request, newest first: a status change that was made for one of them is not made again. */
  commandIds?: readonly string[];
  /** Runs before the status change is requested: checks preconditions or stores what the change needs. */
  prepare?: () => Promise<void>;
};
/**
 * How long a request waits for an evaluation, in ms: two attempts of a model at up to 30 seconds each, and the other
 * steps.
 */
const evaluationDeadlineMs = 120_000;

/**
 * Asks the interview's workflow to change the status. The workflow decides. When no workflow is running (it was never
 * started because Temporal was down, or an operator terminated it), a new one is started from the stored record.
 * @throws Problem NOT_FOUND, ILLEGAL_TRANSITION, CONFLICT, UNAVAILABLE
 */
export async function commandInterview(
  ctx: Context,
  operation: InterviewCommand,
  { orgId, interviewId, actor, cause, commandIds = [], prepare }: Command,
): Promise<Moved> {
  const order = { actor, ...defined({ cause }) };
  const options = {
    id: `${operation}:${commandIds[0] ?? randomUUID()}`,
    args: [order] as [typeof order],
    ...(operation === 'evaluate' || operation === 'score' ? { deadlineMs: evaluationDeadlineMs } : {}),
  };
  const update = interviewUpdates[operation];
  let made: { answer: Done } | undefined;
  for (const id of commandIds)
    made ??= await earlierAnswer(ctx, interviewWorkflowId(interviewId), update, {
      ...options,
      id: `${operation}:${id}`,
    });
  if (!made) await prepare?.();
  const ask = () => command(ctx, interviewWorkflowId(interviewId), update, options);
  const done =
    made?.answer ?? (await asking(ctx, orgId, interviewId, ask, (record) => checkAllowed(record, operation)));
  return { seq: done.seq, record: await storeDone(ctx, orgId, interviewId, done) };
}

/** Stores the state that the workflow decided, unless the workflow has stored this state or a newer one already. */
async function storeDone({ clock }: Context, orgId: string, interviewId: string, { state, moves }: Done) {
  const written =
    state && moves && (await projectInterview({ orgId, interviewId, state, moves }, clock, { newer: true }));
  return written ?? foundInterview(orgId, interviewId);
}

/** Makes the workflow read a member's changes of the configuration from the record. */
export async function tellChanged(ctx: Context, orgId: string, interviewId: string, actor: string): Promise<void> {
  const options = { id: `reload:${randomUUID()}`, args: [{ actor }] as [{ actor: string }] };
  const ask = () => command(ctx, interviewWorkflowId(interviewId), reloadInterview, options);
  await asking(ctx, orgId, interviewId, ask, () => undefined);
}

async function asking<R>(
  ctx: Context,
  orgId: string,
  interviewId: string,
  ask: () => Promise<R>,
  check: (record: Interview) => void,
): Promise<R> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'CONFLICT') throw error;
    // The workflow may have ended just before this request; then the stored record gives the reason for the refusal.
    check(await foundInterview(orgId, interviewId));
    if (!isGone(error)) throw error;
    const intent = changedIntent(ctx, orgId, interviewId);
    const record = await sought(noteIntent(orgId, interviewId, intent), 'interview');
    await startSaved(ctx, InterviewModel, record, [intent]);
    return ask();
  }
}

/** The intent to signal the workflow that the record changed; starts a workflow if none is running. */
export const changedIntent = (ctx: Context, orgId: string, interviewId: string) =>
  intentFor(interviewWork(orgId, interviewId, 'changed'), ctx.clock());

type Given = z.infer<typeof updateInterviewBody>;

const numbered = (questions: readonly NewQuestion[]) =>
  questions.map(({ category, body }) => ({ question_id: newId('question'), category, body }));

/** The text that is signed: the organization and all questions that this server wrote. */
const questionsText = (orgId: string, questions: readonly NewQuestion[]): string =>
  JSON.stringify([orgId, ...questions.map(({ category, body }) => [category, body])]);
const signingPurpose = 'questions made here';

/**
 * Signs the questions of a draft. If an interview is created with these questions later, the signature proves that this
 * server wrote them.
 */
export const signQuestions = (
  { secrets }: Pick<Context, 'secrets'>,
  orgId: string,
  questions: readonly NewQuestion[],
): string => secrets.sign(signingPurpose, questionsText(orgId, questions));

/** Whether this server wrote these questions and nobody has changed them since. */
export const areMade = (
  { secrets }: Pick<Context, 'secrets'>,
  orgId: string,
  { questions, questions_signature: signature }: Pick<Given, 'questions' | 'questions_signature'>,
): boolean =>
  questions !== undefined &&
  signature !== undefined &&
  secrets.verify(signingPurpose, questionsText(orgId, questions), signature) === true;

const isSame = (given: readonly NewQuestion[], standing: readonly NewQuestion[]): boolean =>
  questionsText('', given) === questionsText('', standing);

/**
 * The configuration to store for a request. `before`: the configuration so far; `made`: whether this server wrote the
 * request's questions.
 */
export async function configured(
  ctx: Context,
  given: Given,
  { before, made }: { before?: Interview; made: boolean },
): Promise<Omit<InterviewConfig, 'candidate'>> {
  const role_title = (given.role_title ?? before!.role_title).trim();
  const skills = given.skills ? unique(given.skills) : (before?.skills ?? []);
  const language = given.language ?? before?.language ?? 'en';
  const criteria =
    given.evaluation_criteria || !before
      ? criteriaOf(given.evaluation_criteria, skills, language)
      : before.evaluation_criteria;
  const count =
    given.questions?.length ?? given.question_count ?? before?.question_count ?? interviewBounds.questions.default;
  const order = { role_title, skills, criteria, count, language };
  const rest = {
    role_title,
    interview_mode: given.mode ?? before?.interview_mode ?? ('solo' as const),
    language,
    skills,
    evaluation_criteria: criteria,
    question_count: count,
    questions: await questionsAs(ctx, given, order, before),
    questions_by: questionsBy(given, made || (await isUsual(ctx, given, order)), before),
  };
  // A field that is null counts as absent: a client may send a draft, in which every unknown field is null.
  const [link, time] = [given.meeting_url ?? undefined, given.scheduled_at ?? undefined];
  const url = link === undefined ? before?.meeting_url : readMeetingUrl(link, 'meeting_url');
  const at = time === undefined ? before?.scheduled_at : readSchedule(time, ctx.clock());
  return { ...rest, ...defined({ meeting_url: url }), ...(at ? { scheduled_at: at } : {}) };
}

/**
 * The questions in the request. If there are none: new questions when the request changes a field that questions depend
 * on, else the stored questions.
 */
async function questionsAs(ctx: Context, given: Given, order: QuestionsAsk, before: Interview | undefined) {
  if (given.questions) return numbered(given.questions);
  return before && !makesQuestions(given) ? before.questions : numbered(await questionsAtOnce(ctx, order));
}

/**
 * The questions are written without a model, because a request that creates or changes an interview must not wait for
 * one.
 */
async function questionsAtOnce({ intelligence }: Context, order: QuestionsAsk): Promise<NewQuestion[]> {
  return (await intelligence.writeQuestions(order, { atOnce: true })).questions;
}

/**
 * Whether the questions are exactly those that `questionsAtOnce` writes for this order. Normally a signature proves
 * that this server wrote the questions. This comparison proves it when the caller leaves the signature out.
 */
async function isUsual(ctx: Context, { questions }: Given, order: QuestionsAsk): Promise<boolean> {
  if (!questions) return false;
  const orders = [order, { ...order, experience_level: order.role_title }];
  const usual = await Promise.all(orders.map((one) => questionsAtOnce(ctx, one)));
  return usual.some((one) => isSame(questions, one));
}

function questionsBy(given: Given, made: boolean, before: Interview | undefined): QuestionsBy {
  const { questions } = given;
  const stays = questions ? before && isSame(questions, before.questions) : before && !makesQuestions(given);
  if (stays) return before!.questions_by;
  return questions && !made ? 'member' : 'rules_or_model';
}

/** Whether new questions must be written: the request has none, but changes a field that questions depend on. */
export const makesQuestions = ({ questions, ...given }: Given): boolean =>
  questions === undefined &&
  [given.role_title, given.skills, given.evaluation_criteria, given.question_count, given.language].some(
    (one) => one !== undefined,
  );

/** @throws Problem VALIDATION */
export function readMeetingUrl(url: string, field: string): string {
  if (isMeetingUrl(url)) return url;
  throw invalid(['body', field], 'must be the address of an online meeting, beginning with https://');
}

/**
 * A start time that lies this many ms in the past is still accepted, because the caller's clock may be a minute behind.
 */
const lateMs = 60_000;

function readSchedule(text: string, now: Date): Date {
  const at = new Date(text);
  const ahead = at.getTime() - now.getTime();
  if (ahead >= -lateMs && ahead <= maxDaysAhead * 86_400_000) return at;
  throw invalid(['body', 'scheduled_at'], `must be in the future, at most ${maxDaysAhead} days from now`);
}

export const viewItem = (record: Interview) => ({
  ...record,
  interview_id: record._id,
  mode: record.interview_mode,
  // The score is stored before the interview is completed, but shown only when it is completed.
  overall_score: record.status === 'completed' ? record.evaluation?.overall_score : null,
});

const viewEvaluation = ({ scores, ...rest }: Evaluation) => ({
  ...rest,
  criteria: Object.fromEntries(scores.map(({ criterion, score }) => [criterion, score])),
  evidence: scores.map(({ criterion, quote }) => ({ criterion, quote })),
});

const viewScorecard = ({ scores, ...rest }: Scorecard) => ({
  ...rest,
  criteria: Object.fromEntries(scores.map(({ criterion, score }) => [criterion, score])),
});

/** Whether the interview takes place in an external call, to which a service sends a bot. */
const isElsewhere = ({ config }: Pick<Context, 'config'>, { meeting_url }: Interview): boolean =>
  meeting_url !== undefined && config.meetingBots.apiKey !== undefined;

/**
 * The links into the room, from the moment the interview is scheduled. There are no links when the interview takes
 * place in an external call or is over.
 */
async function viewRoom(ctx: Pick<Context, 'secrets' | 'config'>, record: Interview) {
  const { secrets, config } = ctx;
  const { publicUrl } = config;
  const isComing = record.status === 'scheduled' && !isElsewhere(ctx, record);
  // The room is created when its links are first shown; it opens when the interview starts.
  if (isComing) await prepareRoom(orderOf(record), secrets);
  const room = isComing || isRunning(record.status) ? await findRoom(record._id) : null;
  if (!room || room.ended_at) return {};
  const { candidate, interviewer } = tokensOf(room, secrets);
  return {
    room: {
      candidate_url: `${publicUrl}/rooms/${candidate}`,
      interviewer_url: `${publicUrl}/rooms/${interviewer}`,
      ws_url: `${publicUrl.replace(/^http/, 'ws')}/v1/rooms/ws/${candidate}`,
    },
  };
}

/** Opens the room of an interview that has started, unless it takes place in an external call. */
export async function openOwnRoom(ctx: Context, record: Interview): Promise<void> {
  if (!isElsewhere(ctx, record) && isRunning(record.status)) await openRoom(orderOf(record), ctx.secrets, ctx.clock());
}

export async function viewInterview(ctx: Pick<Context, 'secrets' | 'config'>, record: Interview) {
  const { state, status, evaluation } = record;
  const { failure } = state;
  const [room, transcript] = await Promise.all([viewRoom(ctx, record), readTranscript(record._id)]);
  return {
    ...viewItem(record),
    ...room,
    transcript: transcript.map(viewSegment),
    evaluation: status === 'completed' && evaluation ? viewEvaluation(evaluation) : null,
    scorecards: (record.scorecards ?? []).map(viewScorecard),
    failure:
      failure === undefined
        ? null
        : { reason: failure, message: failure in botReasons ? botReasons[failure as BotReason] : failure },
  };
}
