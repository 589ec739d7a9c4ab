/** The workflows of conversations and their customers. Pure. */
import { customerTaskTimeoutMs, workOf } from '../base/work.ts';

/** The signal that a message, a member's reply or a status change was stored in the conversation. */
export const attendSignal = 'attend';

/** Signals the conversation's workflow that the conversation has changed. Starts the workflow when none is open. */
export const conversationWork = (orgId: string, convId: string) =>
  workOf(
    'conversation',
    'conversations',
    `conversation:${convId}`,
    [{ orgId, convId }],
    attendSignal,
    customerTaskTimeoutMs,
  );

/** The signal that an event of the ticket was stored. */
export const ticketEventSignal = 'ticketEvent';
/** The signal that makes a workflow in backoff retry its delivery at once. */
export const tryNowSignal = 'tryNow';

/** Sends the unsent events of a ticket. Starts the workflow when none is open. `now`: skips the backoff of a retry. */
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

/** Mails replies to a customer who is not online, some time after the replies were stored. */
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
 * Sends the pending notifications about one subject. Each subject has one workflow, which looks for pending
 * notifications again at each signal.
 */
export const noticesWork = (orgId: string, about: NoticeAbout) =>
  workOf('notices', 'deliveries', `notices:${Object.values(about)[0] as string}`, [{ orgId, ...about }], noticedSignal);

/** Removes a customer and all data about the customer. */
export const eraseCustomerWork = (orgId: string, customerId: string) =>
  workOf('eraseCustomer', 'conversations', `customer:${customerId}:erase`, [{ orgId, customerId }]);
