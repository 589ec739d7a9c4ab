/**
 * What an organization is told about its tasks and its members' meetings: which events there are, who is told, and the words.
 * Pure.
 */
import { oneLine, saidMail, saidSlack, supportNotices } from './notice.ts';

/** What is announced of tasks and meetings. */
export const announced = [
  'task_created',
  'task_assigned',
  'task_updated',
  'task_completed',
  'task_executed',
  'meeting_ended',
  'summary_ready',
] as const;
export type Announced = (typeof announced)[number];

/** What `notify_on` selects from. */
export const notifyEvents = [...announced, ...supportNotices] as const;
export type NotifyEvent = (typeof notifyEvents)[number];

/** What happened, as far as it is told. People are named by how members see them. */
export type Happening = {
  event: Announced;
  event_id: string;
  /** The title of the task or meeting. */
  title: string;
  task_id?: string | undefined;
  meeting_id?: string | undefined;
  /** Who did it, where a member did. */
  actor?: string | undefined;
  /** Who has the task after it. */
  assignee?: string | undefined;
  due_date?: string | undefined;
  /** Why, as a sentence. */
  note?: string | undefined;
  /** What was made of the task elsewhere. */
  links?: readonly string[];
};

/** The users whom it concerns; `assignee` and `creator` are user ids, of a meeting its owner is the creator. */
export type Concerned = { creator: string; assignee?: string | undefined };

/** What an organization chose. */
export type Chosen = { slack: boolean; email: boolean; notify_on: readonly NotifyEvent[] };

/** Who is told, each once: whether the webhook of Slack is, who is mailed, and who finds it among the notifications. */
export type Audience = { slack: boolean; mailed: string[]; notified: string[] };

/**
 * Whom an event concerns are the new assignee of an assignment, and of everything else also who made the task or meeting; as
 * far as they are members. `notify_on` chooses what the organization's webhook and its mails tell. Notifications do not follow
 * it: a task that was made, or changed in some detail, has none, unless it changed without a member's doing (`note`).
 */
export function audienceOf(
  { slack, email, notify_on }: Chosen,
  { event, note }: Pick<Happening, 'event' | 'note'>,
  { creator, assignee }: Concerned,
  isMember: (userId: string) => boolean,
): Audience {
  const both = event === 'task_assigned' ? [assignee] : [creator, assignee];
  const concerned = [...new Set(both)].filter((id) => id !== undefined && isMember(id)) as string[];
  const wanted = notify_on.includes(event);
  const quiet = event === 'task_created' || (event === 'task_updated' && note === undefined);
  return {
    slack: wanted && slack,
    mailed: wanted && email ? concerned : [],
    notified: quiet ? [] : concerned,
  };
}

const sentences: Readonly<Record<Announced, (title: string, told: Happening) => string>> = {
  task_created: (title, { actor }) => `${actor ?? 'A meeting'} made the task “${title}”.`,
  task_assigned: (title, { actor, assignee = 'somebody' }) =>
    actor === undefined || actor === assignee
      ? `${assignee} has the task “${title}” now.`
      : `${actor} assigned the task “${title}” to ${assignee}.`,
  task_updated: (title, { actor }) =>
    actor ? `${actor} changed the task “${title}”.` : `The task “${title}” changed.`,
  task_completed: (title, { actor }) =>
    actor ? `${actor} completed the task “${title}”.` : `The task “${title}” is completed.`,
  task_executed: (title) => `The task “${title}” was executed.`,
  meeting_ended: (title) => `The meeting “${title}” has ended.`,
  summary_ready: (title) => `The summary of the meeting “${title}” is ready.`,
};

const titles: Readonly<Record<Announced, string>> = {
  task_created: 'New task',
  task_assigned: 'Task assigned',
  task_updated: 'Task changed',
  task_completed: 'Task completed',
  task_executed: 'Task executed',
  meeting_ended: 'Meeting ended',
  summary_ready: 'Summary ready',
};

function linesOf(told: Happening): string[] {
  const { event, due_date, note, links = [] } = told;
  const cut = {
    ...told,
    actor: told.actor && oneLine(told.actor, 100),
    assignee: told.assignee && oneLine(told.assignee, 100),
  };
  return [
    sentences[event](oneLine(told.title), cut),
    ...(event.startsWith('task_') && due_date !== undefined ? [`Due ${due_date}.`] : []),
    ...(note === undefined ? [] : [oneLine(note, 500)]),
    ...links.slice(0, 10),
  ];
}

/** Title and body, as a notification has them. */
export const noticeText = (told: Happening): { title: string; body: string } => ({
  title: titles[told.event],
  body: linesOf(told).join('\n'),
});

const saidOf = (told: Happening) => ({ title: titles[told.event], lines: linesOf(told) });

/** Subject and text of a mail. */
export const noticeMail = (told: Happening, orgName: string): { subject: string; text: string } =>
  saidMail(saidOf(told), orgName, `${titles[told.event]}: ${told.title}`);

/** The text of a message in Slack; nothing in it becomes a mention. */
export const noticeSlack = (told: Happening): string => saidSlack(saidOf(told));
