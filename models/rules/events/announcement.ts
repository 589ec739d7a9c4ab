/** Announcements about tasks and meetings: the events, their audience, and the texts. Pure. */
import { oneLine, saidMail, saidSlack, supportNotices } from './notice.ts';

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

/** Whether an event is about a task, and not about a meeting, a customer or a delivery. */
export const isAboutTask = (event: string): boolean => event.startsWith('task_');

/** The events that an organization can select in `notify_on`. */
export const notifyEvents = [...announced, ...supportNotices] as const;
export type NotifyEvent = (typeof notifyEvents)[number];

/** An event with the data for its text. The fields `actor` and `assignee` are displayed names. */
export type Happening = {
  event: Announced;
  event_id: string;
  /** The title of the task or meeting. */
  title: string;
  task_id?: string | undefined;
  meeting_id?: string | undefined;
  /** The member who caused the event, if any. */
  actor?: string | undefined;
  /** The assignee after the event. */
  assignee?: string | undefined;
  due_date?: string | undefined;
  /** The reason for the event, as a sentence. */
  note?: string | undefined;
  /** URLs of the issues or messages made from the task in other services. */
  links?: readonly string[];
};

/** The user ids of the people concerned. For a meeting, the creator is its owner. */
export type Concerned = { creator: string; assignee?: string | undefined };

/** The organization's notification settings. */
export type Chosen = { slack: boolean; email: boolean; notify_on: readonly NotifyEvent[] };

/**
 * The receivers of an event: whether the Slack webhook gets it, and the user ids that get a mail or an in-app
 * notification, without duplicates.
 */
export type Audience = { slack: boolean; mailed: string[]; notified: string[] };

/**
 * The receivers of an event. An assignment concerns the new assignee; any other event concerns the assignee and the
 * creator of the task or meeting. Only current members are receivers. `notify_on` selects the events for Slack and
 * mail. In-app notifications do not depend on `notify_on`. `task_created` causes no in-app notification. Neither does
 * `task_updated` without `note`, because a member made that change.
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
    ...(isAboutTask(event) && due_date !== undefined ? [`Due ${due_date}.`] : []),
    ...(note === undefined ? [] : [oneLine(note, 500)]),
    ...links.slice(0, 10),
  ];
}

export const noticeText = (told: Happening): { title: string; body: string } => ({
  title: titles[told.event],
  body: linesOf(told).join('\n'),
});

const saidOf = (told: Happening) => ({ title: titles[told.event], lines: linesOf(told) });

export const noticeMail = (told: Happening, orgName: string): { subject: string; text: string } =>
  saidMail(saidOf(told), orgName, 'organization', `${titles[told.event]}: ${told.title}`);

/** The text of a Slack message; escaping prevents mentions. */
export const noticeSlack = (told: Happening): string => saidSlack(saidOf(told));
