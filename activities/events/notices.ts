/**
 * Notifies members of waiting customers, tool calls that need approval, and failed deliveries: by in-app notifications,
 * and by Slack and mail as the organization has configured. The texts are built from the stored records. Deliveries are
 * deduplicated by occasion and receiver, notifications by occasion and user, so every step can be retried.
 */
import type { Logger } from 'pino';
import { withHeartbeat } from '../base/heartbeat.ts';
import type { Starter } from '../../providers/base/handled.ts';
import { gatherAnew, notify, toldOf, type NoticeSubject } from '../../models/access/notification.ts';
import { findOrganization, type Organization } from '../../models/access/organization.ts';
import { findUser, listUsers, type User } from '../../models/access/user.ts';
import { findConversation, settleTold, type Conversation, type Occasion } from '../../models/chat/conversation.ts';
import { createDelivery, DeliveryModel, findDelivery, type NewDelivery } from '../../models/events/delivery.ts';
import { findOrgWebhook } from '../../models/events/orgwebhook.ts';
import { findToolCall } from '../../models/mcp/call.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { aboutConversation } from '../../models/rules/chat/notice.ts';
import { keptUntil } from '../../models/rules/chat/retention.ts';
import type { NoticeRef } from '../../models/rules/chat/work.ts';
import { nameOf } from '../../models/rules/access/mailbox.ts';
import {
  unreached,
  approvalWords,
  assignedWords,
  escalatedWords,
  givenUpWords,
  repliedWords,
  saidMail,
  saidSlack,
  type Said,
  type SupportNotice,
} from '../../models/rules/events/notice.ts';
import { slackLane, slackWebhookName, type NotificationPayload } from '../../models/rules/events/notification.ts';
import { titleOf } from '../../models/rules/mcp/tool.ts';

export type NoticeDeps = Starter & { clock: () => Date; log: Logger };
export type NoticeActivities = ReturnType<typeof createNoticeActivities>;

type Told = {
  /** The id of the occasion; used as idempotency key. */
  key: string;
  kind: SupportNotice;
  mode: Mode;
  said: Said;
  subject: NoticeSubject;
  /** The ids of the records with which the notice is erased. */
  about: string[];
  /** The user ids of the members to notify. */
  to: readonly string[];
  /** True when members who have not read the previous notice of the same group are notified again. */
  again?: boolean;
  /** True for in-app notifications only, without Slack and mail. */
  inside?: boolean;
};

export function createNoticeActivities({ clock, start, log }: NoticeDeps) {
  async function tell(org: Organization, told: Told): Promise<void> {
    const { key, kind, mode, said, subject, about, again = false, inside = false } = told;
    const { conv_id, gathered } = subject;
    if (again && gathered !== undefined) await gatherAnew(org._id, told.to, { gathered, key });
    const { title, lines } = said;
    const now = clock();
    // A notice about a conversation in test mode expires like the conversation.
    const kept = conv_id === undefined ? {} : keptUntil(mode, now);
    await notify(org._id, told.to, { key, kind, title, body: lines.join('\n'), about, ...subject, ...kept }, now);
    // Slack and mail only follow for members who got a notification. Each member gets one per occasion.
    const to = await toldOf(org._id, told.to, key);
    if (to.length === 0) return;
    const settings = await findOrgWebhook(org._id);
    const outside = !inside && settings.notify_on.includes(kind);
    const mailed = outside && settings.email_notifications ? await listUsers(to) : [];
    const fresh = [
      ...(outside && settings.slack_webhook_url !== null ? [toSlack(org, mode, said)] : []),
      ...mailed.map((user) => toMember(org, user, said)),
    ];
    for (const one of fresh) {
      const { delivery, intents } = await createDelivery(
        {
          ...one,
          org_id: org._id,
          mode,
          kind: 'notification',
          event_id: key,
          event_type: kind,
          subject: conv_id === undefined ? {} : { conv_id },
          about,
        },
        clock(),
      );
      await start(DeliveryModel, delivery, intents);
    }
    log.info({ org_id: org._id, kind, key, deliveries: fresh.length, notified: to.length }, 'members told');
  }

  async function tellOf(org: Organization, conversation: Conversation, occasion: Occasion): Promise<void> {
    const { _id: conv_id, mode, customer_id } = conversation;
    const { event_id: key, again, to, by, reason = 'replied' } = occasion;
    const topic = aboutConversation(conv_id);
    const everybody = membersOf(org);
    const has = to !== undefined && everybody.includes(to) ? [to] : [];
    // The assignee may have left the organization meanwhile; then all members are notified.
    const left = occasion.kind === 'customer_replied' && has.length === 0;
    const kind = left ? 'conversation_escalated' : occasion.kind;
    const words = {
      conversation_escalated: () => escalatedWords(org.name, reason, conv_id),
      conversation_assigned: async () => assignedWords(org.name, by && (await findUser(by))?.name, conv_id),
      customer_replied: () => repliedWords(org.name, conv_id),
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
        // Several messages of one customer are grouped into one notice.
        gathered: occasion.kind === 'customer_replied' ? `customer_replied:${topic}` : undefined,
      },
      about: [customer_id],
      to: has.length > 0 || kind === 'conversation_assigned' ? has : everybody,
    });
  }

  async function tellOfConversation(orgId: string, convId: string): Promise<void> {
    const [conversation, org] = await Promise.all([findConversation(orgId, convId), findOrganization(orgId)]);
    if (!conversation || !org) return;
    for (const occasion of conversation.untold ?? []) {
      await tellOf(org, conversation, occasion);
      await settleTold(orgId, convId, [occasion.event_id]);
    }
  }

  async function tellOfApproval(orgId: string, callId: string): Promise<void> {
    const [call, org] = await Promise.all([findToolCall(orgId, callId), findOrganization(orgId)]);
    // The call was already decided, so nobody is notified.
    if (!org || call?.state !== 'waiting' || call.awaited !== 'member') return;
    const { conv_id, customer_id, mode, tool_name } = call;
    await tell(org, {
      key: `approval_waiting:${callId}`,
      kind: 'approval_waiting',
      mode,
      said: approvalWords(org.name, titleOf(tool_name), conv_id, callId),
      subject: { topic: aboutConversation(conv_id), conv_id, approval_id: callId },
      about: [customer_id],
      to: membersOf(org),
    });
  }

  async function tellOfDelivery(orgId: string, deliveryId: string): Promise<void> {
    const [delivery, org] = await Promise.all([findDelivery(orgId, deliveryId), findOrganization(orgId)]);
    // The delivery may have been redelivered meanwhile.
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
      to: membersOf(org),
      // A failed notification is only reported in the app, because reporting it by Slack or mail could fail again.
      inside: kind === 'notification',
    });
  }

  return {
    tellMembers: ({ orgId, ...about }: NoticeRef): Promise<void> =>
      withHeartbeat(async () => {
        if ('convId' in about) return tellOfConversation(orgId, about.convId);
        return 'callId' in about ? tellOfApproval(orgId, about.callId) : tellOfDelivery(orgId, about.deliveryId);
      }),
  };
}

const membersOf = ({ members }: Organization): string[] => members.map(({ user_id }) => user_id);

type Made = Pick<NewDelivery, 'lane' | 'destination' | 'payload' | 'line'>;

const toSlack = (org: Organization, mode: Mode, said: Said): Made => ({
  lane: slackLane,
  line: `notification:${org._id}:${mode}:${slackLane}`,
  destination: slackWebhookName,
  payload: { slack: { text: saidSlack(said) } } satisfies NotificationPayload,
});

const toMember = (org: Organization, { _id, name, email }: User, said: Said): Made => ({
  lane: `mail:${_id}`,
  destination: email,
  payload: {
    mail: { to: { name: nameOf(name), address: email }, ...saidMail(said, org.name) },
  } satisfies NotificationPayload,
});
