/** The commands of `inbox`: list and read conversations as members do, and act on them. */
import type { Command } from 'commander';
import { Option } from 'commander';
import type { z } from 'zod';
import { identifier } from './arguments.ts';
import { allPages } from './client.ts';
import { shortTime, table, wrap } from './output.ts';
import type { Act, Session } from './session.ts';
import { profile } from '../api/access/contract/profile.ts';
import { actReply, conversationReply, inboxReply, replied, type conversation } from '../api/chat/contract/inbox.ts';

type Conversation = z.infer<typeof conversation>;
type Message = z.infer<typeof conversationReply>['messages'][number];

const statuses = ['open', 'pending', 'escalated', 'resolved'] as const satisfies readonly Conversation['status'][];
const at = async (session: Session, rest = ''): Promise<string> =>
  `/support/inbox/orgs/${await session.orgId()}${rest}`;

export function addInboxCommands(program: Command, act: Act): void {
  const inbox = program.command('inbox').description('list, read and answer conversations with customers');
  inbox
    .command('list')
    .description('list conversations, newest activity first')
    .addOption(new Option('--status <status>', 'only those with this status').choices(statuses))
    .option('--assigned-to <member>', 'only those assigned to this user id, to me, or to none', identifier)
    .action(act(list));
  const one = (name: string, description: string) =>
    inbox
      .command(name)
      .description(description)
      .argument('<conversation>', 'its identifier; inbox list shows it', identifier);
  one('show', 'show all messages of a conversation; with a login this marks it as read').action(act(show));
  one('reply', 'reply to the customer as a person; the agent then stops answering')
    .argument('<text>', 'in quotes')
    .action(act(reply));
  one('resolve', 'resolve a conversation and its ticket').action(
    act((session, convId: string) => move(session, convId, 'resolve', {})),
  );
  one('reopen', 'open a resolved conversation again, for the agent to answer').action(
    act((session, convId: string) => move(session, convId, 'reopen', {})),
  );
  one('assign', 'give a conversation to a member, or to nobody')
    .argument('<member>', 'a user id, me, or none', identifier)
    .action(act(assign));
  one('escalate', 'hand a conversation over to a person')
    .option('--reason <text>', 'why; your colleagues see it, the customer does not')
    .action(
      act((session, convId: string, { reason }: { reason?: string }) =>
        move(session, convId, 'escalate', reason === undefined ? {} : { reason }),
      ),
    );
}

async function list(session: Session, given: { status?: string; assignedTo?: string }): Promise<void> {
  const client = await session.client();
  const path = await at(session);
  const filter = { mode: session.mode, status: given.status, assigned_to: given.assignedTo };
  const conversations = await allPages(async (query) => {
    const page = await client.request('GET', path, inboxReply, { query: { ...query, ...filter } });
    return { entries: page.conversations, cursor: page.cursor };
  });
  const unread = conversations.reduce((sum, one) => sum + one.unread, 0);
  const seen = conversations.length === 0 ? await session.modeSeen('list') : undefined;
  session.output.result({ conversations, count: conversations.length, unread }, () =>
    conversations.length === 0 ? ['There are no such conversations.'] : conversationTable(conversations),
  );
  if (seen !== undefined) session.output.note(seen);
}

const nameOf = ({ customer: { name, email, customer_id } }: Conversation): string =>
  name !== undefined && email !== undefined ? `${name} <${email}>` : (name ?? email ?? customer_id);

function conversationTable(conversations: readonly Conversation[]): string[] {
  return table(
    ['CONVERSATION', 'MODE', 'STATUS', 'UNREAD', 'LAST', 'ASSIGNED TO', 'CUSTOMER', 'PREVIEW'],
    conversations.map((one) => [
      one.conv_id,
      one.mode,
      one.status,
      String(one.unread),
      shortTime(one.last_message_at),
      one.assigned_to ?? '-',
      nameOf(one),
      one.preview,
    ]),
  );
}

async function show(session: Session, convId: string): Promise<void> {
  const client = await session.client();
  const path = await at(session, `/${convId}`);
  const pages: z.infer<typeof conversationReply>[] = [];
  // The API returns the page with the newest messages first. Within a page, the oldest message comes first.
  const newestFirst = await allPages(async (query) => {
    const page = await client.request('GET', path, conversationReply, { query: { ...query, mode: session.mode } });
    pages.push(page);
    return { entries: page.messages.toReversed(), cursor: page.cursor };
  });
  const messages = newestFirst.toReversed();
  const { conversation, events } = pages[0]!;
  session.output.result({ conversation, messages, events }, () => [
    ...headLines(conversation),
    ...messages.flatMap((message) => messageLines(message, session.output.width)),
  ]);
}

function headLines(one: Conversation): string[] {
  const { ticket, csat } = one;
  return [
    `${one.conv_id}  ${one.mode}  ${one.status}  ${nameOf(one)}${one.customer.verified ? '' : ' (not verified)'}`,
    ...(ticket ? [`${ticket.ticket_id}  ${ticket.status}: ${ticket.description}`] : []),
    ...(csat === null ? [] : [`The customer gave ${csat} of 5.`]),
  ];
}

function messageLines({ timestamp, role, sender_name, body, sources }: Message, width: number): string[] {
  const from = sources?.length ? ` [${sources.map(({ name }) => name).join(', ')}]` : '';
  return [
    '',
    `${shortTime(timestamp)}  ${sender_name ?? role}${from}`,
    ...wrap(body, width - 2).map((line) => `  ${line}`),
  ];
}

async function reply(session: Session, convId: string, text: string): Promise<void> {
  const client = await session.client();
  const path = await at(session, `/${convId}/reply`);
  const sent = await client.request('POST', path, replied, { query: { mode: session.mode }, body: { body: text } });
  session.output.result(sent, () => [`Sent ${sent.message_id}`]);
}

async function assign(session: Session, convId: string, member: string): Promise<void> {
  const client = await session.client();
  const path = await at(session, `/${convId}/assign`);
  const user_id = member === 'none' ? null : member === 'me' ? await ownId(session) : member;
  const assigned = await client.request('POST', path, actReply, { query: { mode: session.mode }, body: { user_id } });
  const { conv_id, assigned_to } = assigned.conversation;
  session.output.result(assigned, () => [`${conv_id} is ${assigned_to === null ? 'nobody’s' : `${assigned_to}’s`}`]);
}

/** The id of the logged-in person; conversations cannot be assigned to an API key. */
async function ownId(session: Session): Promise<string> {
  return (await (await session.member()).request('GET', '/me', profile)).userId;
}

async function move(
  session: Session,
  convId: string,
  what: 'resolve' | 'escalate' | 'reopen',
  body: unknown,
): Promise<void> {
  const client = await session.client();
  const path = await at(session, `/${convId}/${what}`);
  const moved = await client.request('POST', path, actReply, { query: { mode: session.mode }, body });
  session.output.result(moved, () => [`${moved.conversation.conv_id} is ${moved.conversation.status}`]);
}
