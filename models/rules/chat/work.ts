/** The workflows of conversations and their customers. Pure. */
import { customerTaskTimeoutMs, workOf } from '../base/work.ts';

/** The signal that a message, a member's reply or a status change was stored in the conversation. */
export const attendSignal = 'attend';

/**
 * The workflow of a conversation, with the signal that the conversation has changed. The signal starts the workflow
 * when it is not running.
 */
export const conversationWork = (orgId: string, convId: string) =>
  workOf(
    'conversation',
    'conversations',
    `conversation:${convId}`,
    [{ orgId, convId }],
    attendSignal,
    customerTaskTimeoutMs,
  );

/** The signal that an event of a ticket was stored. */
export const ticketEventSignal = 'ticketEvent';
/** The signal that makes a workflow in backoff retry its delivery at once. */
export const tryNowSignal = 'tryNow';

/**
 * The workflow that sends the unsent events of a ticket. The signal starts it when it is not running. `now`: whether
 * the workflow skips the backoff of a retry.
 */
export const ticketEventsWork = (orgId: string, convId: string, ticketId: string, { now = false } = {}) =>
  workOf(
    'ticketEvents',
    'deliveries',
    `ticket:${ticketId}`,
    [{ orgId, convId, ticketId }],
    now ? tryNowSignal : ticketEventSignal,
  );

/** The signal that a reply to the customer was stored. */
export const repliedSignal = 'replied';

/** The workflow that mails replies to a customer who is not online, some time after the replies were stored. */
export const mailReplyWork = (orgId: string, convId: string) =>
  workOf('mailReply', 'deliveries', `mailreply:${convId}`, [{ orgId, convId }], repliedSignal);

/**
 * The subject of a notification to members: a conversation, a tool call that waits for a decision by a member, or a
 * delivery that has failed for good.
 */
export type NoticeAbout = { convId: string } | { callId: string } | { deliveryId: string };
export type NoticeRef = { orgId: string } & NoticeAbout;
/** The signal that a notification to send was stored. */
export const noticedSignal = 'noticed';

/**
 * The workflow that sends the pending notifications about one subject. Each subject has one such workflow, which looks
 * for pending notifications again at each signal.
 */
export const noticesWork = (orgId: string, about: NoticeAbout) =>
  workOf('notices', 'deliveries', `notices:${Object.values(about)[0] as string}`, [{ orgId, ...about }], noticedSignal);

/** The workflow that removes a customer and all data about the customer. */
export const eraseCustomerWork = (orgId: string, customerId: string) =>
  workOf('eraseCustomer', 'conversations', `customer:${customerId}:erase`, [{ orgId, customerId }]);
