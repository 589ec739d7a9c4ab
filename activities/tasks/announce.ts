/**
 * Announces events of tasks and meetings: to the organization by Slack and mail as it has configured, and to the people
 * concerned by in-app notifications. Every step can be retried, because each event gives one delivery per receiver and
 * one notification per user at most.
 */
import type { Logger } from 'pino';
import { send, toMember, toSlack } from '../events/telling.ts';
import type { Starter } from '../../providers/base/handled.ts';
import { notify } from '../../models/access/notification.ts';
import { findOrganization, organizationIdsOf, type Organization } from '../../models/access/organization.ts';
import { listUsers } from '../../models/access/user.ts';
import { findOrgWebhook } from '../../models/events/orgwebhook.ts';
import { findMeeting } from '../../models/interviews/meeting.ts';
import { findTask, settleEvents, type Task, type TaskEvent } from '../../models/tasks/task.ts';
import {
  audienceOf,
  noticeMail,
  noticeSlack,
  noticeText,
  type Concerned,
  type Happening,
} from '../../models/rules/events/announcement.ts';
import type { MeetingHappened, TaskRef } from '../../models/rules/events/work.ts';

export type AnnounceDeps = Starter & { clock: () => Date; log: Logger };
export type AnnounceActivities = ReturnType<typeof createAnnounceActivities>;

export function createAnnounceActivities(deps: AnnounceDeps) {
  const { clock, log } = deps;

  async function tell(org: Organization, told: Happening, concerned: Concerned): Promise<void> {
    const { event, event_id, task_id, meeting_id } = told;
    const about = [task_id, meeting_id].filter((id) => id !== undefined);
    const settings = await findOrgWebhook(org._id);
    const members = new Set(org.members.map(({ user_id }) => user_id));
    const chosen = { slack: settings.slack_webhook_url !== null, email: settings.email_notifications };
    const audience = audienceOf({ ...chosen, notify_on: settings.notify_on }, told, concerned, (id) => members.has(id));
    const mode = org.environment === 'production' ? 'live' : 'test';
    const fresh = [
      ...(audience.slack ? [toSlack(org._id, noticeSlack(told))] : []),
      ...(await listUsers(audience.mailed)).map((user) => toMember(user, noticeMail(told, org.name))),
    ];
    for (const made of fresh)
      await send(deps, { ...made, org_id: org._id, mode, event_id, event_type: event, subject: {}, about });
    const { notified } = audience;
    await notify(org._id, notified, { key: event_id, kind: event, ...noticeText(told), task_id, about }, clock());
    log.info({ org_id: org._id, event, event_id, deliveries: fresh.length, notified: notified.length }, 'announced');
  }

  async function tellOfTask(org: Organization, task: Task, happened: TaskEvent): Promise<void> {
    const { actor, assigned_to, note, type, event_id } = happened;
    const people = await listUsers([actor, assigned_to].filter((id) => id !== undefined));
    const nameOfUser = (id: string | undefined) => people.find(({ _id }) => _id === id)?.name;
    await tell(
      org,
      {
        event: type,
        event_id,
        title: task.title,
        task_id: task._id,
        actor: nameOfUser(actor),
        assignee: nameOfUser(assigned_to),
        due_date: task.due_date,
        note,
        ...(type === 'task_executed' ? { links: task.external_links.map(({ url }) => url) } : {}),
      },
      { creator: task.created_by, assignee: assigned_to },
    );
  }

  return {
    announceTask: async ({ orgId, taskId }: TaskRef) => {
      const [task, org] = await Promise.all([findTask(orgId, taskId), findOrganization(orgId)]);
      if (!task || !org) return;
      for (const happened of task.unannounced) {
        await tellOfTask(org, task, happened);
        await settleEvents(orgId, taskId, [happened.event_id]);
      }
    },

    /**
     * Announces an event of a meeting. The organization is the one that the meeting's owner chose, or else the only
     * organization that the owner belongs to.
     */
    announceMeeting: async ({ owner, meetingId, event, version }: MeetingHappened) => {
      const meeting = await findMeeting(owner, meetingId);
      if (!meeting) return;
      const belongsTo = await organizationIdsOf(owner);
      const only = belongsTo.length === 1 ? belongsTo[0] : undefined;
      const orgId = meeting.told_org ?? only;
      const org = orgId !== undefined && belongsTo.includes(orgId) ? await findOrganization(orgId) : null;
      if (!org) return;
      const event_id = `${event}:${meetingId}:${version}`;
      await tell(org, { event, event_id, title: meeting.title, meeting_id: meetingId }, { creator: owner });
    },
  };
}
