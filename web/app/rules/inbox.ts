/** The views of the inbox: which conversations belong to them, and in which order. */
import type { InboxConversation } from '../../../api/chat/contract/inbox.ts';

export const boxes = ['waiting', 'mine', 'unassigned', 'snoozed', 'resolved', 'all'] as const;
export type Box = (typeof boxes)[number];
export type View = { box: Box; tag: string; priority: string; customer: string; unread: boolean };

export function viewOf({
  box,
  tag = '',
  priority = '',
  customer = '',
  unread,
}: Readonly<Record<string, string>>): View {
  return { box: boxes.find((one) => one === box) ?? 'waiting', tag, priority, customer, unread: unread === 'true' };
}

/** The query of `listInbox` for a view. */
export function queryOf({ box, tag, priority, customer, unread }: View) {
  const byBox = {
    waiting: { sort: 'waiting', snoozed: 'false' },
    mine: { assigned_to: 'me', snoozed: 'false' },
    unassigned: { assigned_to: 'none', snoozed: 'false' },
    snoozed: { snoozed: 'true' },
    resolved: { status: 'resolved' },
    all: {},
  } as const;
  return {
    ...byBox[box],
    ...(tag ? { tag } : {}),
    ...(priority ? { priority: priority as 'low' } : {}),
    ...(customer ? { customer_id: customer } : {}),
    ...(unread ? { unread: 'true' as const } : {}),
  };
}

const isIn: Record<Box, (one: InboxConversation, me: string) => boolean> = {
  waiting: ({ waiting_since, snoozed }) => waiting_since !== null && !snoozed,
  mine: ({ assigned_to, snoozed, status }, me) => assigned_to === me && !snoozed && status !== 'resolved',
  unassigned: ({ assigned_to, snoozed, status }) => assigned_to === null && !snoozed && status !== 'resolved',
  snoozed: ({ snoozed }) => snoozed !== null,
  resolved: ({ status }) => status === 'resolved',
  all: () => true,
};

export function fits(one: InboxConversation, view: View, me: string): boolean {
  return (
    isIn[view.box](one, me) &&
    (!view.tag || one.tags.includes(view.tag)) &&
    (!view.priority || one.priority === view.priority) &&
    (!view.customer || one.customer.customer_id === view.customer) &&
    (!view.unread || one.unread > 0)
  );
}

/** In the view `waiting`, the longest waiting conversations come first; in all other views, the last active ones. */
export function order({ box }: View): (one: InboxConversation, other: InboxConversation) => number {
  const at = (one: InboxConversation) => one.last_message_at ?? one.created_at;
  return box === 'waiting'
    ? (one, other) => compare(one.waiting_since ?? '', other.waiting_since ?? '') || compare(one.conv_id, other.conv_id)
    : (one, other) => compare(at(other), at(one)) || compare(other.conv_id, one.conv_id);
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
