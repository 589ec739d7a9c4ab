/** What is started for a conversation, by the names that records and workflows share. */

export const conversationWork = { workflow: 'conversation', queue: 'conversations', signal: 'attend' } as const;

/** The workflow is open while somebody writes in the conversation. */
const conversationWorkflowId = (convId: string): string => `conversation:${convId}`;

/** Has the conversation's workflow look at it; it begins when none is open. */
export const attendingWork = (orgId: string, convId: string) => ({
  ...conversationWork,
  id: conversationWorkflowId(convId),
  args: [{ orgId, convId }],
});

export const ticketEventsWork = { workflow: 'ticketEvents', queue: 'deliveries', signal: 'ticketEvent' } as const;

/** The workflow is open while events of the ticket are to be sent. */
const ticketWorkflowId = (ticketId: string): string => `ticket:${ticketId}`;

/** Has the events of a ticket sent that were not sent before; it begins when none is open. */
export const ticketWork = (orgId: string, convId: string, ticketId: string) => ({
  ...ticketEventsWork,
  id: ticketWorkflowId(ticketId),
  args: [{ orgId, convId, ticketId }],
});

/** A while after something was said to the customer, it is mailed to one who is not there. */
export const mailingWork = (orgId: string, convId: string) => ({
  workflow: 'mailReply',
  queue: 'deliveries',
  signal: 'replied',
  id: `mailreply:${convId}`,
  args: [{ orgId, convId }],
});

export const noticing = { workflow: 'notices', queue: 'deliveries', signal: 'noticed' } as const;

/** What members are told of: a conversation, a call of a tool that waits for one of them, or a delivery that was given up. */
export type NoticeAbout = { convId: string } | { callId: string } | { deliveryId: string };
export type NoticeRef = { orgId: string } & NoticeAbout;

/** Has members told what is still to be told; one workflow for each, which looks again at each signal. */
export const noticeWork = (orgId: string, about: NoticeAbout) => ({
  ...noticing,
  id: `notices:${Object.values(about)[0] as string}`,
  args: [{ orgId, ...about }],
});
