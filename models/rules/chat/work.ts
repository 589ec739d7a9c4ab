/** What is started for conversations and their customers. Pure. */
import { workOf } from '../base/work.ts';

/** Something was stored: a message, a member's reply, a change of status. */
export const attendSignal = 'attend';

/** Has the conversation's workflow look at it; it begins when none is open. */
export const conversationWork = (orgId: string, convId: string) =>
  workOf({
    workflow: 'conversation',
    id: `conversation:${convId}`,
    queue: 'conversations',
    args: [{ orgId, convId }],
    signal: attendSignal,
  });

/** An event of the ticket was stored. */
export const ticketEventSignal = 'ticketEvent';
/** A workflow that waits to send something again does so now. */
export const tryNowSignal = 'tryNow';

/** Has the events of a ticket sent that were not sent before; it begins when none is open. */
export const ticketEventsWork = (orgId: string, convId: string, ticketId: string, { now = false } = {}) =>
  workOf({
    workflow: 'ticketEvents',
    id: `ticket:${ticketId}`,
    queue: 'deliveries',
    args: [{ orgId, convId, ticketId }],
    signal: now ? tryNowSignal : ticketEventSignal,
  });

/** Something was said to the customer. */
export const repliedSignal = 'replied';

/** A while after something was said to the customer, it is mailed to one who is not there. */
export const mailReplyWork = (orgId: string, convId: string) =>
  workOf({
    workflow: 'mailReply',
    id: `mailreply:${convId}`,
    queue: 'deliveries',
    args: [{ orgId, convId }],
    signal: repliedSignal,
  });

/** What members are told of: a conversation, a call of a tool that waits for one of them, or a delivery that was given up. */
export type NoticeAbout = { convId: string } | { callId: string } | { deliveryId: string };
export type NoticeRef = { orgId: string } & NoticeAbout;
/** Something more is to be told. */
export const noticedSignal = 'noticed';

/** Has members told what is still to be told; one workflow for each, which looks again at each signal. */
export const noticesWork = (orgId: string, about: NoticeAbout) =>
  workOf({
    workflow: 'notices',
    id: `notices:${Object.values(about)[0] as string}`,
    queue: 'deliveries',
    args: [{ orgId, ...about }],
    signal: noticedSignal,
  });

/** Removes a customer with all that is held of it. */
export const eraseCustomerWork = (orgId: string, customerId: string) =>
  workOf({
    workflow: 'eraseCustomer',
    id: `customer:${customerId}:erase`,
    queue: 'conversations',
    args: [{ orgId, customerId }],
  });
