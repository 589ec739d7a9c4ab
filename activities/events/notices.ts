/**
 * Notifies members of waiting customers, tool calls that need approval, and failed deliveries. Notices go to the app,
 * to Slack as the organization has configured, and by mail as each member likes. The texts are built from the stored
 * records. Every step can be retried, because each event gives one delivery per receiver and one notification per user
 * at most.
 */
import type { Logger } from 'pino';
import { send, toMember, toSlack, type Made } from './telling.ts';
import type { Starter } from '../../providers/base/handled.ts';
import {
  gatherAnew,
  listToMail,
  notify,
  postponeMail,
  settleMail,
  toldOf,
  type MailedNotification,
  type NoticeSubject,
} from '../../models/access/notification.ts';
import { hereOf } from '../../models/access/here.ts';
import { findOrganization, type Organization } from '../../models/access/organization.ts';
import { findUser, listUsers, noticesOf } from '../../models/access/user.ts';
import { findConversation, settleTold, type Conversation, type Occasion } from '../../models/chat/conversation.ts';
import { wake } from '../../models/chat/triage.ts';
import { tellStaff } from '../../models/live/staff.ts';
import { findDelivery, type NewDelivery } from '../../models/events/delivery.ts';
import { findOrgWebhook } from '../../models/events/orgwebhook.ts';
import { findToolCall } from '../../models/mcp/call.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { mailDueAt } from '../../models/rules/access/noticesettings.ts';
import { aboutConversation } from '../../models/rules/chat/notice.ts';
import { keptUntil } from '../../models/rules/chat/retention.ts';
import type { NoticeAbout, NoticeRef } from '../../models/rules/chat/work.ts';
import {
  unreached,
  approvalWords,
  assignedWords,
  escalatedWords,
  givenUpWords,
  mentionedWords,
  repliedWords,
  snoozeOverWords,
  saidMail,
  saidSlack,
  type Said,
  type SupportNotice,
} from '../../models/rules/events/notice.ts';
import { titleOf } from '../../models/rules/mcp/tool.ts';

export type NoticeDeps = Starter & { clock: () => Date; log: Logger };
export type NoticeActivities = ReturnType<typeof createNoticeActivities>;

type Told = {
  /** The id of the event that the notice is about; used as idempotency key. */
  key: string;
  kind: SupportNotice;
  mode: Mode;
  said: Said;
  subject: NoticeSubject;
  /** The ids of the records whose erasure also erases the notice. */
  about: string[];
  /**
   * The user id of the only member whom the notice concerns. Without it, the notice concerns the members who are online
   * and not away, or all members when nobody is.
   */
  assignee?: string | undefined;
  /** True when members who have not read the previous notice of the same group are notified again. */
  again?: boolean;
  /** True for in-app notifications only, without Slack and mail. */
  inside?: boolean;
};

export function createNoticeActivities(deps: NoticeDeps) {
  const { clock, log } = deps;

  async function tell(org: Organization, told: Told): Promise<void> {
    const { key, kind, mode, said, subject, about, assignee, again = false, inside = false } = told;
    const { conv_id, gathered } = subject;
    const { title, lines } = said;
    const now = clock();
    const here = await hereOf(org, now);
    const concerned = assignee === undefined ? (here.length > 0 ? here : membersOf(org)) : [assignee];
    if (again && gathered !== undefined) await gatherAnew(org._id, concerned, { gathered, key });
    const settings = await findOrgWebhook(org._id);
    const outside = !inside && settings.notify_on.includes(kind);
    const mailed = outside ? (await listUsers(concerned)).filter((user) => noticesOf(user).mail) : [];
    const at = new Map(mailed.map((user) => [user._id, mailDueAt(noticesOf(user), here.includes(user._id), now)]));
    // A notice about a conversation in test mode expires like the conversation.
    const kept = conv_id === undefined ? {} : keptUntil(mode, now);
    const notice = { key, kind, mode, title, body: lines.join('\n'), about, ...subject, ...kept };
    await notify(org._id, concerned, notice, now, { mode, at });
    // Slack gets the notice only when at least one member has a notification with this key. No notification is stored
    // for members who have not read the previous one of the same group.
    const to = await toldOf(org._id, concerned, key);
    if (to.length === 0) return;
    if (outside && settings.slack_webhook_url !== null)
      await deliver(toSlack(`${org._id}:${mode}`, saidSlack(said)), {
        org_id: org._id,
        mode,
        key,
        kind,
        conv_id,
        about,
      });
    log.info({ org_id: org._id, kind, key, notified: to.length }, 'members told');
  }

  async function deliver(
    made: Made,
    { org_id, mode, about, key, kind, conv_id }: Pick<NewDelivery, 'org_id' | 'mode' | 'about'> & Occasioned,
  ): Promise<void> {
    const subject = conv_id === undefined ? {} : { conv_id };
    await send(deps, { ...made, org_id, mode, about, event_id: key, event_type: kind, subject });
  }

  /**
   * Mails the due notifications that were not read, and returns when the next ones are due. A mail to a member in quiet
   * hours is due at their end.
   */
  async function mailDue(orgId: string, about: NoticeAbout): Promise<Date[]> {
    const waiting = await listToMail(orgId, subjectOf(about));
    const now = clock();
    const due = waiting.filter(({ mail }) => mail.at <= now);
    const [org, users] = await Promise.all([findOrganization(orgId), listUsers(due.map(({ user_id }) => user_id))]);
    const postponed: Date[] = [];
    for (const notification of due) {
      const user = users.find(({ _id }) => _id === notification.user_id);
      // No mail is sent if the member has left or turned off mails, or if somebody has dealt with the subject of the
      // notification.
      const isOn = org && user && membersOf(org).includes(user._id) && noticesOf(user).mail;
      if (isOn && !(await isOver(notification))) {
        // No worker may have run at the due time, or the member may have changed the quiet hours. If the member is in
        // quiet hours now, the mail is postponed.
        const at = mailDueAt(noticesOf(user), false, now);
        if (at > now) {
          await postponeMail(notification, at);
          postponed.push(at);
          continue;
        }
        const { title, body, mail } = notification;
        const words = saidMail({ title, lines: [body] }, org.name, 'member');
        await deliver(toMember(user, words), { ...notification, mode: mail.mode });
      }
      await settleMail(notification);
    }
    return [...waiting.filter((one) => !due.includes(one)).map(({ mail }) => mail.at), ...postponed];
  }

  /** Whether the notification needs no action any more, although the member has not read it. */
  async function isOver({ org_id, kind, conv_id, approval_id }: MailedNotification): Promise<boolean> {
    if (approval_id !== undefined) return (await findToolCall(org_id, approval_id))?.state !== 'waiting';
    if (conv_id === undefined || !untilAnswered.includes(kind)) return false;
    const status = (await findConversation(org_id, conv_id))?.status;
    return status === undefined || status === 'pending' || status === 'resolved';
  }

  async function tellOf(org: Organization, conversation: Conversation, occasion: Occasion): Promise<void> {
    const { _id: conv_id, mode, customer_id } = conversation;
    const { event_id: key, again, to, by, reason = 'replied' } = occasion;
    const topic = aboutConversation(conv_id);
    const concerned = occasion.kind === 'snooze_over' ? [to, by] : [to];
    const assignee = concerned.find((userId) => userId !== undefined && membersOf(org).includes(userId));
    // The assignee may have left the organization meanwhile. Then the member who snoozed is notified of the end of the
    // snooze. Otherwise the other members are notified. Nobody is notified if the notice concerned only the assignee,
    // or if a customer wrote in a conversation that does not wait for a person.
    if (personal.includes(occasion.kind) && assignee === undefined) return;
    const repliedToNobody = occasion.kind === 'customer_replied' && assignee === undefined;
    if (repliedToNobody && conversation.status !== 'escalated') return;
    const kind = repliedToNobody ? 'conversation_escalated' : occasion.kind;
    const words = {
      conversation_escalated: () => escalatedWords(org.name, reason, conv_id),
      conversation_assigned: async () => assignedWords(org.name, by && (await findUser(by))?.name, conv_id),
      customer_replied: () => repliedWords(org.name, conv_id),
      mentioned: async () => mentionedWords(org.name, by && (await findUser(by))?.name, conv_id),
      snooze_over: () => snoozeOverWords(org.name, conv_id),
    };
    await tell(org, {
      key,
      kind,
      mode,
      again,
      said: await words[kind](),
      subject: {
        topic,
        conv_id,
        // Several messages of the customer in one conversation are grouped into one notice.
        gathered: occasion.kind === 'customer_replied' ? `customer_replied:${topic}` : undefined,
      },
      about: [customer_id],
      assignee,
    });
  }

  /** Notifies members of the conversation's `untold` occasions. Returns when its snooze ends, if it has an end. */
  async function tellOfConversation(orgId: string, convId: string): Promise<Date | undefined> {
    const [standing, org] = await Promise.all([findConversation(orgId, convId), findOrganization(orgId)]);
    if (!standing || !org) return undefined;
    const conversation = await woken(standing);
    for (const occasion of conversation.untold ?? []) {
      await tellOf(org, conversation, occasion);
      await settleTold(orgId, convId, [occasion.event_id]);
    }
    return conversation.snoozed?.until;
  }

  /** Returns the conversation. If its snooze has expired, ends the snooze first. */
  async function woken(conversation: Conversation): Promise<Conversation> {
    const { _id: conv_id, org_id: orgId, snoozed } = conversation;
    const now = clock();
    if (snoozed?.until === undefined || snoozed.until > now) return conversation;
    const awake = await wake(conversation, snoozed, now);
    if (awake) await tellStaff(orgId, { type: 'changed', body: { conv_id } }, now);
    // `wake` returns nothing when the snooze was ended or moved meanwhile. Then the conversation is read again.
    return awake ?? (await findConversation(orgId, conv_id)) ?? conversation;
  }

  async function tellOfApproval(orgId: string, callId: string): Promise<void> {
    const [call, org] = await Promise.all([findToolCall(orgId, callId), findOrganization(orgId)]);
    // If the call is not waiting for a member any more, nobody is notified.
    if (!org || call?.state !== 'waiting' || call.awaited !== 'member') return;
    const { conv_id, customer_id, mode, tool_name } = call;
    const assigned = (await findConversation(orgId, conv_id))?.assigned_to;
    await tell(org, {
      key: `approval_waiting:${callId}`,
      kind: 'approval_waiting',
      mode,
      said: approvalWords(org.name, titleOf(tool_name), conv_id, callId),
      subject: { topic: aboutConversation(conv_id), conv_id, approval_id: callId },
      about: [customer_id],
      // A member who has left stays the assignee, but is not notified any more. Then the other members are notified.
      assignee: membersOf(org).find((userId) => userId === assigned),
    });
  }

  async function tellOfDelivery(orgId: string, deliveryId: string): Promise<void> {
    const [delivery, org] = await Promise.all([findDelivery(orgId, deliveryId), findOrganization(orgId)]);
    // If the delivery was redelivered meanwhile, nobody is notified.
    if (!org || delivery?.status !== 'failed') return;
    const { subject, mode, kind, about } = delivery;
    const { conv_id, task_id } = subject;
    await tell(org, {
      key: `delivery_failed:${deliveryId}`,
      kind: 'delivery_failed',
      mode,
      said: givenUpWords(org.name, delivery),
      subject: { gathered: unreached(delivery), delivery_id: deliveryId, conv_id, task_id },
      about,
      // A failed notification is only reported in the app, because reporting it by Slack or mail could fail again.
      inside: kind === 'notification',
    });
  }

  return {
    /**
     * Notifies members. Returns the time until the next mail is due or the snooze ends, in ms; undefined when there is
     * neither. The caller then calls this function again, because the member may have read the notification by then, or
     * somebody may have ended the snooze.
     */
    tellMembers: async ({ orgId, ...about }: NoticeRef): Promise<number | undefined> => {
      const ends = 'convId' in about ? await tellOfConversation(orgId, about.convId) : undefined;
      if ('callId' in about) await tellOfApproval(orgId, about.callId);
      if ('deliveryId' in about) await tellOfDelivery(orgId, about.deliveryId);
      const next = [...(await mailDue(orgId, about)), ...(ends ? [ends] : [])].map((at) => at.getTime());
      return next.length === 0 ? undefined : Math.max(Math.min(...next) - clock().getTime(), 1);
    },
  };
}

/** Notices that concern one member only, so that nobody else is notified in that member's place. */
const personal: readonly SupportNotice[] = ['conversation_assigned', 'mentioned'];

/** Notices that are over once a member has answered the customer. */
const untilAnswered: readonly string[] = ['conversation_escalated', 'customer_replied'] satisfies SupportNotice[];

/** The field by which the notifications of one workflow are found. */
const subjectOf = (about: NoticeAbout) => {
  if ('convId' in about) return { conv_id: about.convId };
  return 'callId' in about ? { approval_id: about.callId } : { delivery_id: about.deliveryId };
};

const membersOf = ({ members }: Organization): string[] => members.map(({ user_id }) => user_id);

type Occasioned = { key: string; kind: string; conv_id?: string | undefined };
