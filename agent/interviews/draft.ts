/**
 * Drafts an interview from a description in free text: computes the time, fills in defaults and writes the questions.
 * It stores nothing.
 */
import type { Intelligence, JobOptions } from '../../intelligence/intelligence.ts';
import { findDate } from '../../intelligence/offline/dates.ts';
import { criteriaOf } from '../../models/rules/interviews/criteria.ts';
import { interviewBounds } from '../../models/rules/interviews/interview.ts';
import { interviewLanguageOf } from '../../models/rules/language/language.ts';

const usual = { role_title: 'Interview', question_count: interviewBounds.questions.default, mode: 'solo' } as const;
/** A day without an hour means this hour, local time. */
const usualHour = 9;

/** Returns the draft. `assumed`: the settings that the description does not state and that have default values. */
export async function draftInterview(
  intelligence: Pick<Intelligence, 'draftInterview' | 'writeQuestions'>,
  { prompt, zone, now }: { prompt: string; zone: string; now: Date },
  options?: JobOptions,
) {
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
  return {
    draft: {
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
    },
    assumed: [
      ...(['role_title', 'question_count', 'mode'] as const).filter((field) => read[field] === undefined),
      ...(read.evaluation_criteria.length === 0 ? ['evaluation_criteria'] : []),
      ...(date && !date.timed ? ['time_of_day'] : []),
    ],
    generated_by,
  };
}
