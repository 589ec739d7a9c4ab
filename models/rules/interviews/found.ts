/** What is found in a transcript: tasks, and possible tasks, which a person must confirm. Types and bounds. Pure. */
import { dueDay } from '../base/due.ts';
import type { Priority } from '../base/priority.ts';

/** A member, or a person outside the organization whose email address was said. */
export type Someone = { userId: string } | { email: string };

/** A task that was found in one place of a transcript. */
export type FoundTask = {
  /** The id of the transcript segment in which the task was found. */
  segment: string;
  /** The words of the transcript that state the task. */
  quote: string;
  title: string;
  /** The preceding words of the transcript, when the title contains a pronoun such as `it`. */
  context?: string;
  /** The assignee's name as it is in the transcript. */
  owner?: string;
  assignee?: Someone;
  priority: Priority;
  /** A day as `YYYY-MM-DD`, or a moment in UTC. */
  due?: string;
  /** If `due` is a moment: its day in the time zone of the meeting. */
  dueDay?: string;
};

/** Why a sentence that sounds like a task is only a possible task. */
export const possibleReasons = [
  'no_owner',
  'suggestion',
  'unresolved',
  'in_meeting',
  'not_accepted',
  'refused',
  'uncertain',
] as const;
export type PossibleReason = (typeof possibleReasons)[number];
export type PossibleTask = { quote: string; speaker: string; reason: PossibleReason };

/** `quote` and `title` are in characters. `possible` is small because a person must read all possible tasks. */
export const extractionBounds = { tasks: 200, quote: 1_000, title: 300, possible: 20 } as const;

/** A task as a line of a summary: the assignee, the title and the due date. */
export function actionItemOf(task: Pick<FoundTask, 'owner' | 'title' | 'due' | 'dueDay'>): string {
  const { owner, title } = task;
  const day = dueDay({ due_date: task.due, due_day: task.dueDay });
  return `${owner === undefined ? '' : `${owner}: `}${title}${day === undefined ? '' : ` (by ${day})`}`;
}
