/**
 * Has the model review a task: the model names vague words besides those that rules find, and rewords the task. The new
 * wording may contain no number that the task does not contain.
 */
import { z } from 'zod';
import type { Structured } from '../ai.ts';
import type { ReviewAsk, TaskReview } from '../../intelligence.ts';
import { findingsOf } from '../../offline/review.ts';
import { numbersIn } from '../numbers.ts';
import { taskBounds } from '../../../models/rules/tasks/task.ts';

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
const task = `You review a task before somebody does it, in the language of the task. "vague" names the words of its title or description, copied letter by letter, that leave open what is to be done, each with a sentence that says what to write instead; none where all is clear. "title" words the task better, as one short order. "description" words the description better; what nobody has settled yet stands at its end as questions. Add no fact, name, number or date that the task does not have.`;

export async function reviewByModel({ structured }: Structured, ask: ReviewAsk): Promise<TaskReview> {
  const byRules = findingsOf(ask.task, ask.today);
  const { title, description = '', source_quote = '', priority, due_date = '' } = ask.task;
  const given = { title, description, said: source_quote, priority, due_date };
  const whole = Object.values(given).join('\n');
  const read = await structured({
    name: 'task_review',
    task,
    data: { task: given },
    shape,
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
}
