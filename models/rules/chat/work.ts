/** The workflows of conversations and their customers. Pure. */
import { customerTaskTimeoutMs, workOf } from '../base/work.ts';

/** The signal that a message, a member's reply or a status change was stored in the conversation. */
export const attendSignal = 'attend';

/** Signals the conversation's workflow that the conversation has changed. Starts the workflow when none is open. */
export const conversationWork = (orgId: string, convId: string) =>
  workOf({
    workflow: 'conversation',
    id: `conversation:${convId}`,
    queue: 'conversations',
    args: [{ orgId, convId }],
    taskTimeoutMs: customerTaskTimeoutMs,
    signal: attendSignal,
  });

/** The signal that an event of the ticket was stored. */
export const ticketEventSignal = 'ticketEvent';
/** The signal that makes a workflow in backoff retry its delivery at once. */
export const tryNowSignal = 'tryNow';

/** Sends the unsent events of a ticket. Starts the workflow when none is open. `now`: skips the backoff of a retry. */
export const ticketEventsWork = (orgId: string, convId: string, ticketId: string, { now = false } = {}) =>
  workOf({
    workflow: 'ticketEvents',
    id: `ticket:${ticketId}`,
    queue: 'deliveries',
    args: [{ orgId, convId, ticketId }],
    signal: now ? tryNowSignal : ticketEventSignal,
  });

/** The signal that a reply to the customer was stored. */
export const repliedSignal = 'replied';

/** Mails replies to a customer who is not online, some time after the replies were stored. */
export const mailReplyWork = (orgId: string, convId: string) =>
  workOf({
    workflow: 'mailReply',
    id: `mailreply:${convId}`,
    queue: 'deliveries',
    args: [{ orgId, convId }],
    signal: repliedSignal,
  });

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
  workOf({
    workflow: 'notices',
    id: `notices:${Object.values(about)[0] as string}`,
    queue: 'deliveries',
    args: [{ orgId, ...about }],
    signal: noticedSignal,
  });

/** Removes a customer and all data about the customer. */
export const eraseCustomerWork = (orgId: string, customerId: string) =>
  workOf({
    workflow: 'eraseCustomer',
    id: `customer:${customerId}:erase`,
    queue: 'conversations',
    args: [{ orgId, customerId }],
  });
