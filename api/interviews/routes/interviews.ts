/**
 * Routes of an organization's interviews. They store the configuration; the interview's workflow makes the status
 * changes.
 */
import { isDeepStrictEqual } from 'node:util';
import { member, signature } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/interviews.ts';
import { launch, startSaved } from '../../../workflows/start.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import {
  changedIntent,
  checkAllowed,
  areMade,
  commandInterview,
  configured,
  foundInterview,
  makesQuestions,
  openOwnRoom,
  readMeetingUrl,
  tellChanged,
  viewInterview,
  viewItem,
} from '../interview.ts';
import { attendee, recall, takeReport } from '../reports.ts';
import { questionsAnew, takeResume } from '../resume.ts';
import { newId } from '../../../models/base/ids.ts';
import { intentFor, settleIntent, type Intent } from '../../../models/base/pending.ts';
import {
  beginInterviewRemoval,
  configureInterview,
  createInterview,
  decideInterview,
  InterviewModel,
  listInterviews,
  listRelated,
  removeInterviewContents,
  roleKey,
  setReason,
  storeScorecard,
  type Interview,
} from '../../../models/interviews/interview.ts';
import { findUser } from '../../../models/access/user.ts';
import { readTranscript } from '../../../models/interviews/transcript.ts';
import { normalizeEmail } from '../../../models/rules/access/email.ts';
import { Problem, sought } from '../../../models/rules/base/errors.ts';
import { maxFileBytes } from '../../../models/rules/knowledge/document.ts';
import { cardScores, wordsOf } from '../../../models/rules/interviews/evaluation.ts';
import { newState, type Move } from '../../../models/rules/interviews/interview.ts';
import { interviewWork } from '../../../models/rules/interviews/work.ts';

/** Errors with which an interview's workflow may answer a command. */
const moves = ['ILLEGAL_TRANSITION', 'CONFLICT', 'UNAVAILABLE'] as const;

/**
 * Makes the workflow read a change of the configuration that was stored with this intent. When that fails, the request
 * succeeds all the same, because the change is stored; the sweeper informs the workflow later.
 */
async function tellStored(ctx: Context, record: Interview, intent: Intent, actor: string): Promise<void> {
  try {
    await tellChanged(ctx, record.org_id, record._id, actor);
    await settleIntent(InterviewModel, record, intent);
  } catch (error) {
    ctx.log.warn({ err: error, interview_id: record._id }, 'the workflow reads the change later');
  }
}

export const interviewRoutes = [
  route(contract.createInterview, {
    summary: 'Create an interview, as a draft, or scheduled when it has a time.',
    auth: member(),
    status: 201,
    async handle({ params: { orgId }, body, principal: { userId, org } }, ctx) {
      const now = ctx.clock();
      const config = await configured(ctx, body, { made: areMade(ctx, orgId, body) });
      const at = now.toISOString();
      const history: Move[] = config.scheduled_at
        ? [{ seq: 1, from: 'draft', to: 'scheduled', operation: 'schedule', actor: userId, at }]
        : [];
      const due = config.meeting_url === undefined ? undefined : config.scheduled_at?.toISOString();
      const state = newState(history, due);
      const record: Interview = {
        ...config,
        _id: newId('interview'),
        org_id: orgId,
        mode: org.environment === 'production' ? 'live' : 'test',
        role_key: roleKey(config.role_title),
        candidate: {
          resume_parsed: false,
          ...(body.candidate_name ? { name: body.candidate_name } : {}),
          ...(body.candidate_email ? { email: normalizeEmail(body.candidate_email) } : {}),
        },
        created_by: userId,
        status: state.status,
        seq: state.seq,
        state,
        history: history.map((move) => ({ ...move, at: now })),
        created_at: now,
        updated_at: now,
      };
      await launch(ctx, InterviewModel, [interviewWork(orgId, record._id)], ([intent]) =>
        createInterview({ ...record, pending: [intent] }),
      );
      return viewInterview(ctx, record);
    },
  }),
  route(contract.listInterviews, {
    summary: 'The interviews of the organization, the newest first.',
    auth: member(),
    async handle({ params: { orgId }, query }) {
      const { entries, cursor } = await paged(query, (limit, after) =>
        listInterviews(orgId, query.status, limit, after),
      );
      return { interviews: entries.map(viewItem), cursor };
    },
  }),
  route(contract.getInterview, {
    summary: 'One interview with its questions, transcript, history and evaluation.',
    auth: member(),
    async handle({ params: { orgId, interviewId } }, ctx) {
      return viewInterview(ctx, await foundInterview(orgId, interviewId));
    },
  }),
  route(contract.listRelatedInterviews, {
    summary: 'Other interviews of the same candidate, or for the same role; the newest first.',
    auth: member(),
    async handle({ params: { orgId, interviewId }, query }) {
      const record = await foundInterview(orgId, interviewId);
      const { entries, cursor } = await paged(query, (limit, after) => listRelated(record, limit, after));
      const interviews = entries.map((other) => ({
        ...viewItem(other),
        related_by: [
          ...(record.candidate.email !== undefined && other.candidate.email === record.candidate.email
            ? (['candidate'] as const)
            : []),
          ...(other.role_key === record.role_key ? (['role'] as const) : []),
        ],
      }));
      return { interviews, cursor };
    },
  }),
  route(contract.updateInterview, {
    summary: 'Change the configuration before the start; what is left out stays. A time makes a draft scheduled.',
    auth: member(),
    errors: [...moves],
    async handle({ params: { orgId, interviewId }, body, principal: { userId } }, ctx) {
      const before = await foundInterview(orgId, interviewId);
      checkAllowed(before, 'update');
      const now = ctx.clock();
      const config = await configured(ctx, body, { before, made: areMade(ctx, orgId, body) });
      const personal = makesQuestions(body) ? await questionsAnew(ctx, interviewId, config) : undefined;
      const change = {
        ...config,
        questions: personal ?? config.questions,
        role_key: roleKey(config.role_title),
        'candidate.name': body.candidate_name ?? undefined,
        'candidate.email': body.candidate_email ? normalizeEmail(body.candidate_email) : undefined,
      };
      // Only the fields that differ are written, so that a concurrent change of another field stays.
      const differing = Object.fromEntries(
        Object.entries(change).filter(([name, value]) => !isDeepStrictEqual(value, before[name as keyof Interview])),
      );
      const intent = changedIntent(ctx, orgId, interviewId);
      const record = await configureInterview(orgId, interviewId, differing, now, intent);
      if (!record) {
        checkAllowed(await foundInterview(orgId, interviewId), 'update');
        throw new Problem('CONFLICT');
      }
      await tellStored(ctx, record, intent, userId);
      return viewInterview(ctx, await foundInterview(orgId, interviewId));
    },
  }),
  route(contract.deleteInterview, {
    summary: 'Remove an interview with everything that was said and made of it; its bot leaves.',
    auth: member(),
    async handle({ params: { orgId, interviewId } }, ctx) {
      const intent = intentFor(interviewWork(orgId, interviewId, 'remove'), ctx.clock());
      const record = await sought(beginInterviewRemoval(orgId, interviewId, intent), 'interview');
      await removeInterviewContents(orgId, interviewId);
      await startSaved(ctx, InterviewModel, record, [intent]);
      return { interview_id: interviewId, deleted: true as const };
    },
  }),
  route(contract.startInterview, {
    summary: 'Send the bot, or open the room, and begin.',
    auth: member(),
    errors: [...moves],
    async handle({ params: { orgId, interviewId }, body, principal: { userId }, commandIds }, ctx) {
      const before = await foundInterview(orgId, interviewId);
      const untold: Intent[] = [];
      const prepare = async (): Promise<void> => {
        checkAllowed(before, 'start');
        if (body?.meeting_link === undefined && body?.candidate_name === undefined) return;
        const url = body.meeting_link === undefined ? undefined : readMeetingUrl(body.meeting_link, 'meeting_link');
        const change = { meeting_url: url, 'candidate.name': body.candidate_name };
        // If the bot cannot join, the interview becomes `scheduled` again, and its workflow starts it at its time. So
        // the workflow must know the link.
        const intent = url === undefined ? undefined : changedIntent(ctx, orgId, interviewId);
        const record = await configureInterview(orgId, interviewId, change, ctx.clock(), intent);
        if (!record) return checkAllowed(await foundInterview(orgId, interviewId), 'start');
        if (!intent) return;
        // Before the interview's time, the workflow reads the link before the start, so that the candidate is told of
        // the link. After that time, a workflow that reads the link starts the interview at once, and would refuse the
        // member's start. So it then reads the link after the start.
        if (record.scheduled_at && record.scheduled_at > ctx.clock()) await tellStored(ctx, record, intent, userId);
        else untold.push(intent);
      };
      const order = { orgId, interviewId, actor: userId, commandIds, prepare };
      const { record } = await commandInterview(ctx, 'start', order);
      await startSaved(ctx, InterviewModel, record, untold);
      // The workflow opens the room too, but maybe after this reply. The room is opened here so that the reply contains
      // its links.
      await openOwnRoom(ctx, record);
      return viewInterview(ctx, record);
    },
  }),
  route(contract.cancelInterview, {
    summary: 'Cancel it in any state before completed; its bot leaves.',
    auth: member(),
    errors: [...moves],
    async handle({ params: { orgId, interviewId }, body, principal: { userId }, commandIds }, ctx) {
      await foundInterview(orgId, interviewId);
      const order = { orgId, interviewId, actor: userId, commandIds };
      const { seq, record } = await commandInterview(ctx, 'cancel', order);
      if (!body?.reason) return viewInterview(ctx, record);
      // The reason is stored here and not sent to the workflow, because no text that people wrote may get into a
      // workflow's history.
      await setReason(orgId, interviewId, seq, body.reason);
      return viewInterview(ctx, await foundInterview(orgId, interviewId));
    },
  }),
  ...(
    [
      [contract.rejoinInterview, 'rejoin', 'Send the bot again after it was lost.'],
      [contract.endInterview, 'end', 'End the interview; what was said is evaluated at once (phase 1).'],
      [contract.evaluateInterview, 'evaluate', 'Make the summary of questions and answers anew (phase 1).'],
    ] as const
  ).map(([operation, command, summary]) =>
    route(operation, {
      summary,
      auth: member(),
      errors: [...moves],
      async handle({ params: { orgId, interviewId }, principal: { userId }, commandIds }, ctx) {
        await foundInterview(orgId, interviewId);
        const order = { orgId, interviewId, actor: userId, commandIds };
        const { record } = await commandInterview(ctx, command, order);
        return viewInterview(ctx, record);
      },
    }),
  ),
  route(contract.uploadResume, {
    summary: 'Read the candidate’s resume, PDF or DOCX; before the start it makes the questions personal.',
    auth: member(),
    maxBytes: maxFileBytes,
    errors: ['CONFLICT', 'UNSUPPORTED_FILE_TYPE', 'TOO_LARGE'],
    async handle({ params: { orgId, interviewId }, file }, ctx) {
      await takeResume(ctx, await foundInterview(orgId, interviewId), file);
      return viewInterview(ctx, await foundInterview(orgId, interviewId));
    },
  }),
  route(contract.scoreInterview, {
    summary: 'Score each criterion, with a line of the candidate that shows it (phase 2); it is then completed.',
    auth: member(),
    errors: [...moves, 'NO_TRANSCRIPT'],
    async handle({ params: { orgId, interviewId }, principal: { userId }, commandIds }, ctx) {
      const record = await foundInterview(orgId, interviewId);
      const prepare = async (): Promise<void> => {
        checkAllowed(record, 'score');
        const said = await readTranscript(interviewId);
        const interviewed = { questions: [], criteria: [], said, candidate: record.candidate.name };
        if (record.state.summarized && wordsOf(interviewed).length === 0)
          throw new Problem('NO_TRANSCRIPT', { message: 'The candidate said nothing, so there is nothing to score.' });
      };
      const order = { orgId, interviewId, actor: userId, commandIds, prepare };
      const { record: scored } = await commandInterview(ctx, 'score', order);
      return viewInterview(ctx, scored);
    },
  }),
  route(contract.decideInterview, {
    summary: 'Record what was decided; a later decision takes the place of this one.',
    auth: member(),
    errors: ['ILLEGAL_TRANSITION', 'CONFLICT'],
    async handle({ params: { orgId, interviewId }, body: { decision, notes }, principal: { userId } }, ctx) {
      const decided = { decision, notes: notes ?? null, decided_by: userId, decided_at: ctx.clock() };
      const record = await decideInterview(orgId, interviewId, decided);
      if (record) return viewInterview(ctx, record);
      checkAllowed(await foundInterview(orgId, interviewId), 'decide');
      throw new Problem('CONFLICT');
    },
  }),
  route(contract.scoreByHand, {
    summary: 'Give the candidate your own numbers; they take the place of those that you gave before.',
    auth: member(),
    errors: ['ILLEGAL_TRANSITION', 'CONFLICT'],
    async handle({ params: { orgId, interviewId }, body, principal: { userId } }, ctx) {
      const before = await foundInterview(orgId, interviewId);
      checkAllowed(before, 'scorecard');
      const user = await findUser(userId);
      const card = {
        user_id: userId,
        name: user?.name ?? '',
        scores: cardScores(body.criteria, before.evaluation_criteria),
        notes: body.notes ?? null,
        recommendation: body.recommendation ?? null,
        updated_at: ctx.clock(),
      };
      const record = await storeScorecard(orgId, interviewId, card);
      if (record) return viewInterview(ctx, record);
      checkAllowed(await foundInterview(orgId, interviewId), 'scorecard');
      throw new Problem('CONFLICT');
    },
  }),
];

/** The largest report that is accepted. A report usually has a few hundred bytes. */
const maxReportBytes = 256 * 1024;

export const botReportRoutes = (
  [
    [contract.receiveRecallReport, 'recall', recall, 'What Recall.ai reports of its bots.'],
    [contract.receiveAttendeeReport, 'attendee', attendee, 'What Attendee reports of its bots.'],
  ] as const
).map(([operation, service, provider, summary]) =>
  route(operation, {
    summary,
    auth: signature(provider),
    otherParameters: 'ignored',
    maxBytes: maxReportBytes,
    async handle({ raw, principal: { sender } }, ctx) {
      await takeReport(ctx, service, sender.id, raw);
      return { received: true as const };
    },
  }),
);
