import { z } from 'zod';
import { email } from '../../access/contract/auth.ts';
import { cursor, id, line, moment, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { segment } from './meetings.ts';
import {
  decisions,
  interviewBounds,
  interviewModes,
  interviewStatuses,
  operationNames,
} from '../../../models/rules/interviews/interview.ts';

import { interviewLanguages } from '../../../models/rules/language/language.ts';
import { operation } from '../../base/contract/operation.ts';

const { questions, skills, criteria } = interviewBounds;
const meetingUrl = z.string().min(1).max(2_048).meta({
  description: 'Where the interview takes place; https. Without one it takes place in the room of this platform.',
});
const newQuestion = z.strictObject({ category: line(60), body: line(600) });
const config = {
  role_title: line(200),
  skills: z.array(line(100)).max(skills).optional(),
  evaluation_criteria: z.array(line(100)).max(criteria).optional().meta({
    description: 'What is scored. Without it: the skills, or else communication, problem solving and role knowledge.',
  }),
  question_count: z
    .number()
    .int()
    .min(questions.min)
    .max(questions.max)
    .optional()
    .meta({
      description: `${questions.default} unless told.`,
    }),
  questions: z.array(newQuestion).min(1).max(questions.max).optional().meta({
    description: 'Your own questions, in their order; `question_count` is then their number.',
  }),
  questions_signature: z.string().max(200).optional().meta({
    description: 'As a draft has it: its questions then follow a resume that is added later, unless they were changed.',
  }),
  meeting_url: meetingUrl.nullish(),
  scheduled_at: moment.nullish().meta({
    description: 'When it takes place: with a `meeting_url` it starts by itself.',
  }),
  candidate_email: email.nullish(),
  candidate_name: line(200).nullish(),
  mode: z.enum(interviewModes).optional().meta({ description: '`solo` unless told.' }),
  language: z.enum(interviewLanguages).optional().meta({
    description: 'What questions that are made here, and the room itself, are written in; `en` unless told.',
  }),
};
/** A field that is null counts as absent, so that a client can send a draft back unchanged. */
const createInterviewBody = z.strictObject(config);
export const updateInterviewBody = z.strictObject(config).partial();
const startBody = z
  .strictObject({ meeting_link: meetingUrl.optional(), candidate_name: line(200).optional() })
  .optional();
const cancelBody = z.strictObject({ reason: z.string().max(1_000).optional() }).optional();
const decisionBody = z.strictObject({
  decision: z.enum(decisions),
  notes: z.string().max(10_000).optional(),
});
const scorecardBody = z.strictObject({
  criteria: z.record(line(100), z.number().min(0).max(10)).meta({
    description: 'Numbers from 0 to 10, by names of the interview’s criteria; some of them may be left out.',
  }),
  notes: z.string().max(10_000).optional(),
  recommendation: z.enum(decisions).optional(),
});
export const listQuery = pageQuery.extend({ status: z.enum(interviewStatuses).optional() });

const listed = {
  interview_id: id,
  org_id: id,
  role_title: z.string(),
  status: z.enum(interviewStatuses),
  mode: z.enum(interviewModes),
  language: z.enum(interviewLanguages),
  candidate: z.object({
    name: orNull(z.string()),
    email: orNull(z.string()),
    resume_parsed: z.boolean(),
    resume_error: z.string().optional(),
  }),
  scheduled_at: orNull(timestamp),
  overall_score: orNull(z.number()),
  decision: orNull(
    z.object({
      decision: z.enum(decisions),
      notes: z.string().nullable(),
      decided_by: id,
      decided_at: timestamp,
    }),
  ),
  created_at: timestamp,
  updated_at: timestamp,
};
export const interviewItem = z.object(listed).meta({ id: 'InterviewItem' });
const interviewList = z.object({ interviews: z.array(interviewItem), cursor });
const relatedList = z.object({
  interviews: z.array(interviewItem.extend({ related_by: z.array(z.enum(['candidate', 'role'])) })),
  cursor,
});

export const question = z.object({ question_id: id, category: z.string(), body: z.string() }).meta({ id: 'Question' });
const qaSummary = z
  .object({
    summary: z.string(),
    items: z.array(
      z.object({
        question_id: id.nullable(),
        category: z.string().nullable(),
        question: z.string(),
        answer: z.string(),
        answered: z.boolean(),
      }),
    ),
    questions: z.number().int(),
    answered: z.number().int(),
    ended_early: z.boolean(),
    generated_by: z.enum(['extractive', 'model']),
    generated_at: timestamp,
  })
  .meta({ id: 'QaSummary' });
export const evaluation = z
  .object({
    overall_score: z.number().min(0).max(10),
    criteria: z.record(z.string(), z.number()),
    evidence: z.array(z.object({ criterion: z.string(), quote: z.string() })).meta({
      description: 'Of each criterion a line of the candidate, word for word.',
    }),
    recommendation: z.enum(decisions),
    strengths: z.array(z.string()),
    concerns: z.array(z.string()),
    ended_early: z.boolean(),
    generated_by: z.enum(['rules', 'model']).meta({
      description:
        '`rules`: without a language model. The numbers then say how much was told of what the candidate did; they advise nobody.',
    }),
    confidence: z.literal('low').optional().meta({ description: 'Of `rules`.' }),
    generated_at: timestamp,
  })
  .meta({ id: 'Evaluation' });
export const scorecard = z
  .object({
    user_id: id,
    name: z.string().meta({ description: 'As the member was called then.' }),
    criteria: z.record(z.string(), z.number()),
    notes: z.string().nullable(),
    recommendation: z.enum(decisions).nullable(),
    updated_at: timestamp,
  })
  .meta({ id: 'Scorecard' });
export const move = z
  .object({
    from: z.enum(interviewStatuses),
    to: z.enum(interviewStatuses),
    operation: z.enum(operationNames as [(typeof operationNames)[number], ...typeof operationNames]),
    actor: z.string().meta({ description: 'A user’s id, or `clock`, `bot`, `candidate`.' }),
    at: timestamp,
    cause: z.string().optional(),
    reason: z.string().optional(),
  })
  .meta({ id: 'Move' });

export const interviewRecord = z
  .object({
    ...listed,
    skills: z.array(z.string()),
    evaluation_criteria: z.array(z.string()),
    question_count: z.number().int(),
    questions: z.array(question),
    meeting_url: orNull(z.string()),
    room: z.object({ candidate_url: z.string(), interviewer_url: z.string(), ws_url: z.string() }).optional().meta({
      description: 'Links into the room of this platform while the interview runs; `ws_url` is the candidate’s.',
    }),
    transcript: z.array(segment),
    qa_summary: orNull(qaSummary),
    evaluation: evaluation.nullable(),
    scorecards: z.array(scorecard).meta({ description: 'What members give, one each.' }),
    history: z.array(move),
    failure: z
      .object({ reason: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the bot could not join, was not sent in time, or was lost.' }),
  })
  .meta({ id: 'Interview' });
const interviewRemovedReply = z.object({ interview_id: id, deleted: z.literal(true) });

/**
 * The reply to a report of a meeting bot service. The request has no schema, because its body is the service's own
 * message.
 */
const webhookReply = z.object({ received: z.literal(true) });

export const createInterview = operation('createInterview', 'POST /orgs/{orgId}/interviews', {
  body: createInterviewBody,
  reply: interviewRecord,
});
export const listInterviews = operation('listInterviews', 'GET /orgs/{orgId}/interviews', {
  query: listQuery,
  reply: interviewList,
});
export const getInterview = operation('getInterview', 'GET /orgs/{orgId}/interviews/{interviewId}', {
  reply: interviewRecord,
});
export const listRelatedInterviews = operation(
  'listRelatedInterviews',
  'GET /orgs/{orgId}/interviews/{interviewId}/related',
  { query: pageQuery, reply: relatedList },
);
export const updateInterview = operation('updateInterview', 'PUT /orgs/{orgId}/interviews/{interviewId}', {
  body: updateInterviewBody,
  reply: interviewRecord,
});
export const deleteInterview = operation('deleteInterview', 'DELETE /orgs/{orgId}/interviews/{interviewId}', {
  reply: interviewRemovedReply,
});
export const startInterview = operation('startInterview', 'POST /orgs/{orgId}/interviews/{interviewId}/start', {
  body: startBody,
  reply: interviewRecord,
});
export const cancelInterview = operation('cancelInterview', 'POST /orgs/{orgId}/interviews/{interviewId}/cancel', {
  body: cancelBody,
  reply: interviewRecord,
});
export const rejoinInterview = operation('rejoinInterview', 'POST /orgs/{orgId}/interviews/{interviewId}/rejoin', {
  reply: interviewRecord,
});
export const endInterview = operation('endInterview', 'POST /orgs/{orgId}/interviews/{interviewId}/end', {
  reply: interviewRecord,
});
export const evaluateInterview = operation(
  'evaluateInterview',
  'POST /orgs/{orgId}/interviews/{interviewId}/evaluate',
  { reply: interviewRecord },
);
export const uploadResume = operation('uploadResume', 'POST /orgs/{orgId}/interviews/{interviewId}/resume', {
  upload: true,
  reply: interviewRecord,
});
export const scoreInterview = operation(
  'scoreInterview',
  'POST /orgs/{orgId}/interviews/{interviewId}/generate-score',
  { reply: interviewRecord },
);
export const decideInterview = operation('decideInterview', 'PUT /orgs/{orgId}/interviews/{interviewId}/decision', {
  body: decisionBody,
  reply: interviewRecord,
});
export const scoreByHand = operation('scoreByHand', 'PUT /orgs/{orgId}/interviews/{interviewId}/scorecard', {
  body: scorecardBody,
  reply: interviewRecord,
});
export const receiveRecallReport = operation('receiveRecallReport', 'POST /webhooks/recall', {
  raw: true,
  reply: webhookReply,
});
export const receiveAttendeeReport = operation('receiveAttendeeReport', 'POST /webhooks/attendee', {
  raw: true,
  reply: webhookReply,
});
