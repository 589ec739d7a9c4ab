/** Compares tasks and summaries of meetings with their labels. */
import { DateTime } from 'luxon';
import type { Action, LabelledTask, Real, Written } from './data.ts';
import { contentStems, stemsOf } from './porter.ts';
import type { FoundTask } from '../../models/rules/interviews/found.ts';

const shortLine = 30;
const nameOf = ({ assignee }: FoundTask): string | undefined =>
  assignee && 'userId' in assignee ? assignee.userId : undefined;

/** How well a task matches a labelled action; 0 when it does not. */
function fitOf(task: FoundTask, action: Action, meeting: Real): number {
  const wanted = contentStems(action.text.replace(/^(?:the )?[^.]*? (?=(?:will|was|were|is|needs?|has|have)\b)/iu, ''));
  const has = contentStems(`${task.title} ${task.quote}`);
  const shared = [...wanted].filter((stem) => has.has(stem)).length;
  if (action.lines.length === 0) return shared >= 2 && shared * 2 >= wanted.size ? shared : 0;
  const at = Number(task.segment);
  if (!action.lines.includes(at)) return 0;
  const isOwner = nameOf(task) !== undefined && action.owners.includes(nameOf(task)!);
  const isAlone =
    meeting.segments[at]!.text.split(/\s+/u).length <= shortLine &&
    meeting.actions.filter(({ lines }) => lines.includes(at)).length === 1;
  const quoted = [...wanted].filter((stem) => contentStems(task.quote).has(stem)).length;
  return quoted > 0 || isOwner || isAlone ? 1 + quoted + (isOwner ? 2 : 0) : 0;
}

const fitWritten = (task: FoundTask, label: LabelledTask): number =>
  label.lines.includes(Number(task.segment)) ? 1 : 0;

export type Pairs<T> = { pairs: { task: FoundTask; label: T }[]; fitting: FoundTask[]; unfit: FoundTask[] };

/**
 * Matches tasks and labels one to one, the best match first. `fitting`: all tasks that match some label, including
 * duplicates.
 */
function paired<T>(
  tasks: readonly FoundTask[],
  labels: readonly T[],
  fit: (task: FoundTask, label: T) => number,
): Pairs<T> {
  const all = tasks
    .flatMap((task) => labels.map((label) => ({ task, label, worth: fit(task, label) })))
    .filter(({ worth }) => worth > 0)
    .toSorted((a, b) => b.worth - a.worth);
  const pairs: { task: FoundTask; label: T }[] = [];
  for (const { task, label } of all)
    if (!pairs.some((pair) => pair.task === task || pair.label === label)) pairs.push({ task, label });
  const fitting = tasks.filter((task) => all.some((one) => one.task === task));
  return { pairs, fitting, unfit: tasks.filter((task) => !fitting.includes(task)) };
}

export const pairedReal = (tasks: readonly FoundTask[], meeting: Real): Pairs<Action> =>
  paired(tasks, meeting.actions, (task, action) => fitOf(task, action, meeting));
export const pairedWritten = (tasks: readonly FoundTask[], { tasks: labels }: Written): Pairs<LabelledTask> =>
  paired(tasks, labels, fitWritten);

/** Whether a date is one of those that the label allows. */
export function isDueRight(due: string | undefined, label: LabelledTask, startedAt: Date, zone: string): boolean {
  const now = DateTime.fromJSDate(startedAt, { zone });
  if (due === undefined) return label.due.includes('none');
  const day = DateTime.fromISO(due, { zone }).toISODate();
  return label.due.some((wanted) => daysOf(wanted, now).some((one) => one.toISODate() === day));
}

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
function daysOf(wanted: string, now: DateTime): DateTime[] {
  const [kind, value = ''] = wanted.split(':');
  const weekday = weekdays.indexOf(value) + 1;
  const until = (days: number): DateTime => now.plus({ days });
  if (kind === 'days') return [until(Number(value))];
  if (kind === 'weekday') return [until((weekday - now.weekday + 7) % 7 || 7)];
  if (kind === 'nextweek') return [now.startOf('week').plus({ days: 6 + weekday })];
  if (kind === 'weekend') return [5, 6, 7].map((day) => now.startOf('week').plus({ days: day - 1 }));
  if (kind === 'weekend2') return [6, 7].map((day) => now.startOf('week').plus({ days: day - 1 }));
  if (kind === 'monthend') return [now.endOf('month')];
  if (kind === 'dom') {
    const day = now.set({ day: Number(value) });
    return [day < now ? day.plus({ months: 1 }) : day];
  }
  if (kind === 'date') return [DateTime.fromISO(`${now.year}-${value}`)];
  return [];
}

/** Whether a title has at least half of the word stems of the label's title. */
export function holdsHalf(title: string, label: LabelledTask): boolean {
  const wanted = contentStems(label.title);
  const has = contentStems(title);
  return [...wanted].filter((stem) => has.has(stem)).length * 2 >= wanted.size;
}

/** ROUGE-1 F1 of word stems, including stop words. */
export function rouge1(summary: string, reference: string): number {
  const counted = (text: string): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const one of stemsOf(text)) counts.set(one, (counts.get(one) ?? 0) + 1);
    return counts;
  };
  const [made, wanted] = [counted(summary), counted(reference)];
  let shared = 0;
  for (const [stem, count] of made) shared += Math.min(count, wanted.get(stem) ?? 0);
  const size = (counts: Map<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
  return shared === 0 ? 0 : (2 * shared) / (size(made) + size(wanted));
}
