/** Zod schemas of the requests and replies that draft an interview and write questions for a role. */
import { z } from 'zod';
import { line, timestamp, timezone } from '../../base/contract/common.ts';
import { draftBounds } from '../../../models/rules/interviews/draft.ts';
import { interviewBounds, interviewModes } from '../../../models/rules/interviews/interview.ts';
import { maxResumeCharacters } from '../../../models/rules/interviews/resume.ts';

import { interviewLanguages } from '../../../models/rules/language/language.ts';
import { operation } from '../../base/contract/operation.ts';

const maxSkills = 30;
const text = (max: number) => z.string().max(max).regex(/\S/, 'must have something on it');
const draftBody = z.strictObject({
  prompt: text(draftBounds.prompt).meta({ description: 'What you want, in your own words.' }),
  timezone: timezone.optional().meta({ description: 'An IANA name: where times are meant; UTC unless told.' }),
});
const newQuestion = z.object({ category: z.string(), body: z.string() });
const signature = z.string().meta({ description: 'By which these questions are known again, as they are.' });
const generatedBy = z.enum(['extractive', 'model']);
export const draft = z
  .object({
    role_title: z.string(),
    skills: z.array(z.string()),
    evaluation_criteria: z.array(z.string()),
    question_count: z.number().int(),
    questions: z.array(newQuestion),
    questions_signature: signature,
    mode: z.enum(interviewModes),
    language: z.enum(interviewLanguages).meta({ description: 'That of the words; English where they do not tell.' }),
    meeting_url: z.string().nullable(),
    scheduled_at: timestamp.nullable(),
    candidate_email: z.string().nullable(),
    candidate_name: z.string().nullable(),
  })
  .meta({
    id: 'InterviewDraft',
    description: 'Every field with which an interview is created; null where nothing was said.',
  });
const draftReply = z.object({
  draft,
  assumed: z
    .array(z.string())
    .meta({ description: 'Fields about which the words say nothing: they have usual values.' }),
  generated_by: generatedBy,
});

const generateBody = z.strictObject({
  title: line(200),
  job_description: z.string().max(20_000),
  required_skills: z.array(line(100)).max(maxSkills),
  experience_level: z.string().max(100).meta({ description: 'As you say it: `senior`, `3 years`, `graduate`.' }),
  resume_text: z.string().max(maxResumeCharacters).optional(),
  language: z.enum(interviewLanguages).optional().meta({
    description: 'What the questions are written in; the language of the job’s description unless told.',
  }),
  question_count: z
    .number()
    .int()
    .min(1)
    .max(interviewBounds.questions.max)
    .optional()
    .meta({
      description: `${interviewBounds.questions.default} unless told.`,
    }),
  categories: z.array(line(60)).max(20).optional().meta({
    description:
      'Only questions of these. Any names; introduction, technical, behavioral, situational and motivation unless told.',
  }),
});
const generateReply = z.object({
  questions: z.array(newQuestion),
  questions_signature: signature,
  generated_by: generatedBy,
});

export const draftInterview = operation('draftInterview', 'POST /orgs/{orgId}/interviews/draft', {
  body: draftBody,
  reply: draftReply,
});
export const generateQuestions = operation('generateQuestions', 'POST /orgs/{orgId}/interviews/generate-questions', {
  body: generateBody,
  reply: generateReply,
});
