/**
 * Has the model extract the fields of a job interview from a free-text request. Email addresses and the words that name
 * the time must occur in the text. Nothing is guessed about the candidate.
 */
import { z } from 'zod';
import type { Structured } from '../ai.ts';
import type { InterviewWords } from '../../intelligence.ts';
import { draftWords } from '../../offline/interviews/draft.ts';
import { draftBounds, type DraftWords } from '../../../models/rules/interviews/draft.ts';
import { interviewBounds, interviewModes } from '../../../models/rules/interviews/interview.ts';

const names = z.array(z.string().min(1).max(draftBounds.name)).max(draftBounds.names);
const shape = z.object({
  role_title: z.string().max(draftBounds.role).nullable(),
  skills: names,
  evaluation_criteria: names,
  question_count: z.number().int().min(1).max(interviewBounds.questions.max).nullable(),
  mode: z.enum(interviewModes).nullable(),
  when: z.string().max(200).nullable(),
  meeting_url: z.string().max(2_048).nullable(),
  candidate_email: z.string().max(254).nullable(),
  candidate_name: z.string().max(200).nullable(),
});
const task = `You read what somebody wants of a job interview. Give what the text says of it, and null or an empty list for what it does not say; add nothing. "mode" is solo when the AI is to run the interview, copilot when it is to help a human interviewer, shadow when it is only to listen. "when", "meeting_url", "candidate_email" and "candidate_name" are copied from the text letter by letter; compute no dates.`;

export async function draftByModel(
  { structured }: Structured,
  { prompt }: { prompt: string },
): Promise<InterviewWords> {
  const given = await structured({ name: 'interview_draft', task, data: { request: prompt }, shape });
  /** Accepts a text of the model only when the text occurs in the request. */
  const copied = (text: string | null): string | undefined =>
    text !== null && text.trim() !== '' && prompt.includes(text.trim()) ? text.trim() : undefined;
  const rules = draftWords(prompt);
  const found = {
    role_title: given.role_title?.trim() || undefined,
    question_count: given.question_count ?? undefined,
    mode: given.mode ?? undefined,
    // Patterns recognize URLs reliably, so the model is not needed for them.
    meeting_url: rules.meeting_url,
    candidate_email: copied(given.candidate_email) === rules.candidate_email ? rules.candidate_email : undefined,
    candidate_name: copied(given.candidate_name),
  };
  const said = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  const words = {
    ...(said as Partial<DraftWords>),
    skills: given.skills,
    evaluation_criteria: given.evaluation_criteria,
    when: copied(given.when) ?? '',
  };
  return { words, generated_by: 'model' };
}
