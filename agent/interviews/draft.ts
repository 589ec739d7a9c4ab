/**
 * Drafts an interview from a description in free text: computes the time, fills in defaults and writes the questions.
 * It stores nothing.
 */
import type { Intelligence, JobOptions } from '../../intelligence/intelligence.ts';
import { findDate } from '../../intelligence/offline/dates.ts';
import { criteriaOf } from '../../models/rules/interviews/criteria.ts';
import { interviewBounds, type InterviewMode } from '../../models/rules/interviews/interview.ts';
import type { NewQuestion } from '../../models/rules/interviews/questions.ts';
import { interviewLanguageOf, type InterviewLanguage } from '../../models/rules/language/language.ts';

export type Draft = {
  role_title: string;
  skills: string[];
  evaluation_criteria: string[];
  question_count: number;
  questions: NewQuestion[];
  mode: InterviewMode;
  language: InterviewLanguage;
  meeting_url: string | null;
  scheduled_at: Date | null;
  candidate_email: string | null;
  candidate_name: string | null;
};
export type Drafted = {
  draft: Draft;
  /** The settings that the description did not state and that have default values. */
  assumed: ('role_title' | 'question_count' | 'mode' | 'evaluation_criteria' | 'time_of_day')[];
  generated_by: 'extractive' | 'model';
};

const usual = { role_title: 'Interview', question_count: interviewBounds.questions.default, mode: 'solo' } as const;
/** A day without an hour means this hour, local time. */
const usualHour = 9;

export async function draftInterview(
  intelligence: Pick<Intelligence, 'draftInterview' | 'writeQuestions'>,
  { prompt, zone, now }: { prompt: string; zone: string; now: Date },
  options?: JobOptions,
): Promise<Drafted> {
  const { words: read, generated_by } = await intelligence.draftInterview({ prompt }, options);
  const date = findDate(read.when, now, zone, usualHour);
  const role_title = read.role_title ?? usual.role_title;
  const question_count = read.question_count ?? usual.question_count;
  const language = interviewLanguageOf(prompt);
  const criteria = criteriaOf(read.evaluation_criteria, read.skills, language);
  const order = {
    role_title,
    skills: read.skills,
    criteria,
    count: question_count,
    experience_level: role_title,
    language,
  };
  const { questions } = await intelligence.writeQuestions(order, options);
  const draft: Draft = {
    role_title,
    skills: read.skills,
    evaluation_criteria: criteria,
    question_count,
    questions,
    mode: read.mode ?? usual.mode,
    language,
    meeting_url: read.meeting_url ?? null,
    scheduled_at: date?.at ?? null,
    candidate_email: read.candidate_email ?? null,
    candidate_name: read.candidate_name ?? null,
  };
  const assumed: Drafted['assumed'] = [
    ...(['role_title', 'question_count', 'mode'] as const).filter((field) => read[field] === undefined),
    ...(read.evaluation_criteria.length === 0 ? (['evaluation_criteria'] as const) : []),
    ...(date && !date.timed ? (['time_of_day'] as const) : []),
  ];
  return { draft, assumed, generated_by };
}
