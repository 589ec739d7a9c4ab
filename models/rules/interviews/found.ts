/** What is found in a transcript: tasks, and what may be one and is left to a person. Bounds and shapes; no language is read here. Pure. */
import type { TaskPriority } from '../base/priority.ts';

/** A member, or somebody outside whose address was said. */
export type Someone = { userId: string } | { email: string };

/** A task that was found in one place of a transcript. */
export type FoundTask = {
  /** The segment's id. */
  segment: string;
  /** The words of the transcript that say it. */
  quote: string;
  title: string;
  /** The words before, where the title speaks of `it`. */
  context?: string;
  /** Who is to do it, as the transcript calls them. */
  owner?: string;
  assignee?: Someone;
  priority: TaskPriority;
  due?: string;
};

/** Why something that sounds like a task is none. */
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

/** `quote`, `title`: characters. `possible`: more than a person reads through is no help. */
export const extractionBounds = { tasks: 200, quote: 1_000, title: 300, possible: 20 } as const;

/** A task as a line of a summary: who, what, until when. */
export const actionItemOf = ({ owner, title, due }: Pick<FoundTask, 'owner' | 'title' | 'due'>): string =>
  `${owner === undefined ? '' : `${owner}: `}${title}${due === undefined ? '' : ` (by ${due.slice(0, 10)})`}`;
