/**
 * The texts of a task in issues, team chats and mails. Quotations from meetings are escaped or fenced, so that they
 * cannot form mentions, links or headings. Pure.
 */
import { escapeSlack, maxSlackText } from '../../../providers/slack/rules.ts';
import { dueDay, type DueDate } from '../base/due.ts';
import { fenced } from '../events/tickettext.ts';
import type { Priority } from '../base/priority.ts';
import type { TaskDetails } from './task.ts';

export type TaskTold = Pick<TaskDetails, 'title' | 'description' | 'priority'> &
  DueDate & {
    task_id: string;
    /** The verbatim quotation, for a task that was extracted from a meeting. */
    source_quote?: string;
    /** The assignee's name. */
    assignee?: string;
  };

/** The maximum length of an issue's title in GitHub; Linear allows more. */
const maxTitle = 250;
const maxText = 20_000;
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/** The text by which a retry recognizes the issue that an earlier attempt created for the task. */
export const taskMark = (taskId: string): string => `Task ${taskId}`;

export const issueTitle = ({ title }: Pick<TaskTold, 'title'>): string => cut(oneLine(title), maxTitle);

/**
 * The text of an issue. `fields`: true when priority and due date are part of the text, because the service (GitHub)
 * has no fields for them.
 */
export function issueText(told: TaskTold, { fields }: { fields: boolean }): string {
  const { description, source_quote: quote, assignee, priority, task_id } = told;
  const due = dueDay(told);
  const written = description?.trim() ?? '';
  const facts = [
    ...(assignee === undefined ? [] : [`Assigned to ${plain(assignee)}`]),
    ...(fields ? [`Priority ${priority}`, ...(due === undefined ? [] : [`Due ${due}`])] : []),
    taskMark(task_id),
  ];
  return [
    // The description of a task from a meeting may contain other people's words, so it is fenced.
    ...(written === '' ? [] : [quote === undefined ? cut(written, maxText) : fenced(cut(written, maxText))]),
    ...(quote === undefined ? [] : [`Said in a meeting:\n\n${fenced(cut(quote, maxText))}`]),
    facts.join(' · '),
  ].join('\n\n');
}

/** A name without Markdown syntax and mentions. */
const plain = (name: string): string =>
  oneLine(name)
    .replaceAll(/[<>[\]`*_@#~|\\]/g, ' ')
    .trim();

export const linearPriority: Readonly<Record<Priority, number>> = { urgent: 1, high: 2, medium: 3, low: 4 };

/** The text of a Slack message. `mention`: the assignee's Slack id, when the message goes to a channel. */
export function slackTaskText(told: TaskTold, mention: string | undefined): string {
  const { title, description, assignee, priority, task_id } = told;
  const due = dueDay(told);
  const whom =
    mention === undefined
      ? assignee === undefined
        ? ''
        : ` for ${escapeSlack(plain(assignee))}`
      : ` for <@${mention}>`;
  const facts = [`Priority ${priority}`, ...(due === undefined ? [] : [`due ${due}`]), taskMark(task_id)];
  const text = oneLine(description ?? '');
  return [
    `*Task*${whom}: ${escapeSlack(oneLine(title))}`,
    ...(text === '' ? [] : [`> ${escapeSlack(cut(text, 1_000))}`]),
    facts.join(' · '),
  ]
    .join('\n')
    .slice(0, maxSlackText);
}

export function taskMail(told: TaskTold, sender: string): { subject: string; text: string } {
  const { title, description, source_quote: quote, priority, task_id } = told;
  const due = dueDay(told);
  const subject = cut(`Task: ${title.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()}`, 200);
  const parts = [
    `${sender} has a task for you.`,
    oneLine(title),
    ...(description === undefined || description.trim() === '' ? [] : [description.trim()]),
    ...(quote === undefined ? [] : [`Said in a meeting:\n> ${oneLine(quote)}`]),
    [`Priority: ${priority}`, ...(due === undefined ? [] : [`Due: ${due}`])].join('\n'),
    `-- \n${sender} · ${taskMark(task_id)}`,
  ];
  return { subject, text: `${parts.join('\n\n')}\n` };
}
