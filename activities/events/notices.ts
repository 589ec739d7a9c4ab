/**
 * Tells members that a customer waits, that a call of a tool waits for one of them, or that a delivery was given up: by
 * notifications, and in Slack and by mail as the organization chose. What is to be told is read from the records. Deliveries
 * are known by occasion and receiver, notifications by occasion and user, so each step may run again at any point.
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
  /** The occasion. */
  key: string;
  kind: SupportNotice;
  mode: Mode;
  said: Said;
  subject: NoticeSubject;
  /** Whose erasure takes it away. */
  about: string[];
  /** User ids. */
  to: readonly string[];
  /** What is gathered is also told to those who have not read the last one. */
  again?: boolean;
  /** Told in the list alone. */
  inside?: boolean;
};

export function createNoticeActivities({ clock, start, log }: NoticeDeps) {
  async function tell(org: Organization, told: Told): Promise<void> {
    const { key, kind, mode, said, subject, about, again = false, inside = false } = told;
    const { conv_id, gathered } = subject;
    if (again && gathered !== undefined) await gatherAnew(org._id, told.to, { gathered, key });
    const { title, lines } = said;
    const now = clock();
    // A conversation of test mode is forgotten, and what was told of it with it.
    const kept = conv_id === undefined ? {} : keptUntil(mode, now);
    await notify(org._id, told.to, { key, kind, title, body: lines.join('\n'), about, ...subject, ...kept }, now);
    // What leaves follows the notifications, of which each member has one an occasion.
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
    // Whoever had it may have left meanwhile; then its customer waits for anybody.
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
        // Of a customer who writes on and on.
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
    // Somebody has decided before anybody was told.
    if (!org || call?.state !== 'waiting' || call.awaited !== 'member') return;
    const { conv_id, customer_id, mode, tool_name } = call;
    await tell(org, {
      key: `approval_waiting:${callId}`,
      kind: 'approval_waiting',
      mode,
      said: approvalWords(org.name, titleOf(tool_name), conv_id, callId),
      subject: { topic: aboutConversation(conv_id), conv_id, approval_id: callId },
      about: [customer_id],
      // Every member may decide.
      to: membersOf(org),
    });
  }

  async function tellOfDelivery(orgId: string, deliveryId: string): Promise<void> {
    const [delivery, org] = await Promise.all([findDelivery(orgId, deliveryId), findOrganization(orgId)]);
    // It may have been sent again meanwhile.
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
      // What could not be told outside is not told outside.
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
