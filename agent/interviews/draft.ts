/**
 * Drafts an interview from what somebody says in their own words. A language model may read the words where one is
 * configured; addresses and the words that name the time must then stand in them, and the time is computed here. Without a
 * model, or when it fails, rules read them. It stores nothing, and nothing is guessed about the candidate.
 */
import { z } from 'zod';
import { findDate } from '../../intelligence/offline/dates.ts';
import { makeQuestions } from './questions.ts';
import type { Ai } from '../../clients/ai/ai.ts';
import {
  draftBounds,
  draftModes,
  draftWords,
  type DraftMode,
  type DraftWords,
} from '../../models/rules/interviews/draft.ts';
import { criteriaOf } from '../../models/rules/interviews/criteria.ts';
import type { NewQuestion } from '../../models/rules/interviews/questions.ts';
import { interviewLanguageOf, type InterviewLanguage } from '../../models/rules/language/language.ts';

export type Draft = {
  role_title: string;
  skills: string[];
  evaluation_criteria: string[];
  question_count: number;
  questions: NewQuestion[];
  mode: DraftMode;
  language: InterviewLanguage;
  meeting_url: string | null;
  scheduled_at: Date | null;
  candidate_email: string | null;
  candidate_name: string | null;
};
export type Drafted = {
  draft: Draft;
  /** What the words did not say, and what the draft has of its own therefore. */
  assumed: ('role_title' | 'question_count' | 'mode' | 'evaluation_criteria' | 'time_of_day')[];
  generated_by: 'extractive' | 'model';
};

const usual = { role_title: 'Interview', question_count: draftBounds.usualQuestions, mode: 'solo' } as const;
/** A day without an hour: at nine in the morning. */
const usualHour = 9;

const names = z.array(z.string().min(1).max(draftBounds.name)).max(draftBounds.names);
const shape = z.object({
  role_title: z.string().max(draftBounds.role).nullable(),
  skills: names,
  evaluation_criteria: names,
  question_count: z.number().int().min(1).max(draftBounds.questions).nullable(),
  mode: z.enum(draftModes).nullable(),
  when: z.string().max(200).nullable(),
  meeting_url: z.string().max(2_048).nullable(),
  candidate_email: z.string().max(254).nullable(),
  candidate_name: z.string().max(200).nullable(),
});
const nullable = (type: string) => ({ type: [type, 'null'] });
const list = { type: 'array', items: { type: 'string' } };
const properties = {
  role_title: nullable('string'),
  skills: list,
  evaluation_criteria: list,
  question_count: nullable('integer'),
  mode: { type: ['string', 'null'], enum: [...draftModes, null] },
  when: nullable('string'),
  meeting_url: nullable('string'),
  candidate_email: nullable('string'),
  candidate_name: nullable('string'),
};
const schema = { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
const task = `You read what somebody wants of a job interview. Give what the text says of it, and null or an empty list for what it does not say; add nothing. "mode" is solo when the AI is to run the interview, copilot when it is to help a human interviewer, shadow when it is only to listen. "when", "meeting_url", "candidate_email" and "candidate_name" are copied from the text letter by letter; compute no dates.`;

type Read = DraftWords & { when: string };

/** `told`: the model failed, and why. */
export async function draftInterview(
  ai: Pick<Ai, 'model' | 'structured'>,
  { prompt, zone, now }: { prompt: string; zone: string; now: Date },
  told: (error: unknown) => void,
): Promise<Drafted> {
  const byModel = ai.model === undefined ? undefined : await readByModel(ai, prompt).catch(told);
  const read = byModel ?? { ...draftWords(prompt), when: prompt };
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
  const { questions } = await makeQuestions(ai, order, told);
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
  return { draft, assumed, generated_by: byModel ? 'model' : 'extractive' };
}

async function readByModel(ai: Pick<Ai, 'structured'>, prompt: string): Promise<Read> {
  const given = await ai.structured({ name: 'interview_draft', task, data: { request: prompt }, shape, schema });
  /** What is to be copied counts only where it stands in the text. */
  const copied = (text: string | null): string | undefined =>
    text !== null && text.trim() !== '' && prompt.includes(text.trim()) ? text.trim() : undefined;
  const rules = draftWords(prompt);
  const found = {
    role_title: given.role_title?.trim() || undefined,
    question_count: given.question_count ?? undefined,
    mode: given.mode ?? undefined,
    // An address has a form of its own, which rules read for sure.
    meeting_url: rules.meeting_url,
    candidate_email: copied(given.candidate_email) === rules.candidate_email ? rules.candidate_email : undefined,
    candidate_name: copied(given.candidate_name),
  };
  const said = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return {
    ...(said as Partial<DraftWords>),
    skills: given.skills,
    evaluation_criteria: given.evaluation_criteria,
    when: copied(given.when) ?? '',
  };
}
