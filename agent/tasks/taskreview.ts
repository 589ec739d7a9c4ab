/**
 * Reviews a task: rules say what is missing and vague; a language model, where one is configured, finds what else is vague and
 * words the task better. What it writes may have no number that the task does not have. It stores nothing.
 */
import { z } from 'zod';
import type { Ai } from '../../clients/ai/ai.ts';
import { findingsOf, type Findings, type Reviewed } from '../../intelligence/offline/review.ts';
import { numbersIn } from '../../models/rules/language/numbers.ts';
import { taskBounds } from '../../models/rules/tasks/task.ts';

export type TaskReview = Findings & { generated_by: 'extractive' | 'model' };

const shape = z.object({
  vague: z
    .array(
      z.object({
        field: z.enum(['title', 'description']),
        words: z.string().min(1).max(300),
        message: z.string().min(1).max(500),
      }),
    )
    .max(10),
  title: z.string().min(1).max(taskBounds.title),
  description: z.string().max(taskBounds.description),
});
const text = { type: 'string' };
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['vague', 'title', 'description'],
  properties: {
    vague: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['field', 'words', 'message'],
        properties: { field: { type: 'string', enum: ['title', 'description'] }, words: text, message: text },
      },
    },
    title: text,
    description: text,
  },
};
const task = `You review a task before somebody does it, in the language of the task. "vague" names the words of its title or description, copied letter by letter, that leave open what is to be done, each with a sentence that says what to write instead; none where all is clear. "title" words the task better, as one short order. "description" words the description better; what nobody has settled yet stands at its end as questions. Add no fact, name, number or date that the task does not have.`;

/** `today`: a day, as due dates are written. `told`: the model failed, and why. */
export async function reviewTask(
  ai: Pick<Ai, 'model' | 'structured'>,
  reviewed: Reviewed,
  today: string,
  told: (error: unknown) => void,
): Promise<TaskReview> {
  const byRules = findingsOf(reviewed, today);
  if (ai.model === undefined) return { ...byRules, generated_by: 'extractive' };
  const { title, description = '', source_quote = '', priority, due_date = '' } = reviewed;
  const given = { title, description, said: source_quote, priority, due_date };
  const whole = Object.values(given).join('\n');
  try {
    const read = await ai.structured({
      name: 'task_review',
      task,
      data: { task: given },
      shape,
      schema,
      problemOf(value) {
        const known = numbersIn(whole);
        const added = [...numbersIn(`${value.title}\n${value.description}`)].find((one) => !known.has(one));
        if (added !== undefined) return `the task has no ${added}.`;
        const copied = value.vague.find(({ field, words }) => !given[field].includes(words));
        return copied && `${JSON.stringify(copied.words)} does not stand in the ${copied.field}.`;
      },
    });
    const found = new Set(byRules.vague.flatMap(({ field, words }) => words.map((word) => `${field}:${word}`)));
    const more = read.vague.filter(({ field, words }) => !found.has(`${field}:${words.toLowerCase()}`));
    return {
      missing: byRules.missing,
      vague: [...byRules.vague, ...more.map(({ words, ...rest }) => ({ ...rest, words: [words] }))],
      suggestion: { title: read.title.replaceAll(/\s+/gu, ' ').trim() || title, description: read.description },
      generated_by: 'model',
    };
  } catch (error) {
    told(error);
    return { ...byRules, generated_by: 'extractive' };
  }
}
