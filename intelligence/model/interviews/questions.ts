/** Has the model write the questions of an interview, and checks their number, categories and repetition. */
import { z } from 'zod';
import type { Structured } from '../ai.ts';
import type { QuestionsAsk, WrittenQuestions } from '../../intelligence.ts';
import { skillsOf } from '../../offline/interviews/skills.ts';
import type { NewQuestion } from '../../../models/rules/interviews/questions.ts';
import { maxResumeCharacters } from '../../../models/rules/interviews/resume.ts';
import { languageNames } from '../../../models/rules/language/language.ts';
import { fold } from '../../../models/rules/language/words.ts';

/** The length at which a resume or a job description is truncated for the model, in characters. */
const maxRead = 24_000;
/** The maximum length of a question in an interview, in characters. */
const maxQuestion = 600;

const shape = z.object({
  questions: z
    .array(z.object({ category: z.string().min(1).max(60), body: z.string().min(8).max(maxQuestion) }))
    .min(1)
    .max(100),
});
export async function questionsByModel({ structured }: Structured, order: QuestionsAsk): Promise<WrittenQuestions> {
  const { questions } = await structured({
    name: 'interview_questions',
    task: taskOf(order),
    data: dataOf(order),
    shape,
    problemOf: (value) => problemOf(value.questions, order),
  });
  return {
    questions: questions.map(({ category, body }) => ({ category, body: oneLine(body) })),
    generated_by: 'model',
  };
}

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();

function taskOf({ count, categories, resume, language = 'en' }: QuestionsAsk): string {
  const kinds = categories?.length
    ? `Use only these categories, each of them at least once where there are enough questions: ${JSON.stringify(categories)}.`
    : 'The categories are introduction, technical, behavioral, situational and motivation.';
  const ofResume = resume
    ? ' Let some questions take up what the resume says, quoting it; say nothing about the candidate that it does not say.'
    : '';
  return `You write the questions of a job interview: exactly ${count}, each a different one of one or two sentences, for the role, the skills and the level in the data, written in ${languageNames[language]}. ${kinds}${ofResume} Ask nothing about age, origin, religion, health, family or other private matters.`;
}

function dataOf(order: QuestionsAsk): Record<string, unknown> {
  const { role_title, criteria, experience_level, job_description, resume } = order;
  return {
    role: { role_title, skills: skillsOf(order), criteria, experience_level },
    ...(job_description ? { job_description: job_description.slice(0, maxRead) } : {}),
    ...(resume ? { resume: resume.slice(0, Math.min(maxRead, maxResumeCharacters)) } : {}),
  };
}

function problemOf(questions: readonly NewQuestion[], { count, categories }: QuestionsAsk): string | undefined {
  if (questions.length !== count) return `there are ${questions.length} questions, not ${count}.`;
  if (new Set(questions.map(({ body }) => fold(oneLine(body)))).size !== count) return 'a question stands there twice.';
  const stray = categories?.length ? questions.find(({ category }) => !categories.includes(category)) : undefined;
  return stray ? `the category ${JSON.stringify(stray.category)} was not asked for.` : undefined;
}
