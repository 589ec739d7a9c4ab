/** The commands of `inbox`: list and read conversations as members do, and act on them. */
import type { z } from 'zod';
import { allPages } from '../client.ts';
import { command, listing, noun, steps } from '../described.ts';
import { shortTime, wrap } from '../output.ts';
import type { Session } from '../session.ts';
import { profile } from '../../api/access/contract/profile.ts';
import * as contract from '../../api/chat/contract/inbox.ts';

type Conversation = z.infer<typeof contract.conversation>;
type Message = z.infer<typeof contract.conversationReply>['messages'][number];

const example = 'conv_01M7YGT1Y2M8Q0Z6V3C4K5R7XA';

const statusLine = ({ conversation }: z.infer<typeof contract.actReply>): string[] => [
  `${conversation.conv_id} is ${conversation.status}`,
];

export const inbox = noun({
  name: 'inbox',
  description: 'list, read and answer conversations with customers',
  example,
  commands: [
    listing({
      name: 'list',
      description: 'list conversations, newest activity first',
      examples: ['list --status escalated --assigned-to none'],
      does: contract.listInbox,
      entries: 'conversations',
      columns: {
        CONVERSATION: (each) => each.conv_id,
        MODE: (each) => each.mode,
        STATUS: (each) => each.status,
        UNREAD: (each) => each.unread,
        LAST: (each) => each.last_message_at,
        'ASSIGNED TO': (each) => each.assigned_to,
        CUSTOMER: nameOf,
        PREVIEW: (each) => each.preview,
      },
      none: 'There are no such conversations.',
    }),
    steps({
      name: 'show',
      description: 'show all messages of a conversation; with a login this marks it as read',
      does: contract.getConversation,
      except: ['limit'],
      runs: (session, { convId }) => show(session, String(convId)),
    }),
    command({
      name: 'reply',
      description: 'reply to the customer as a person; the agent then stops answering',
      examples: [`reply ${example} "Hello, this is Grace."`],
      does: contract.replyToConversation,
      args: { body: 'the text, in quotes' },
      lines: ({ message_id }) => [`Sent ${message_id}`],
    }),
    command({
      name: 'resolve',
      description: 'resolve a conversation and its ticket',
      does: contract.resolveConversation,
      lines: statusLine,
    }),
    command({
      name: 'reopen',
      description: 'open a resolved conversation again, for the agent to answer',
      does: contract.reopenConversation,
      lines: statusLine,
    }),
    command({
      name: 'assign',
      description: 'give a conversation to a member, or to nobody',
      examples: [`assign ${example} me`, `assign ${example} usr_01M7YGT1Y2M8Q0Z6V3C4K5R7XA`],
      does: contract.assignConversation,
      args: { user_id: 'a user id, me, or none' },
      fields: {
        of: contract.assignBody,
        body: async ({ user_id }, session) => ({ user_id: user_id === 'me' ? await ownId(session) : user_id }),
      },
      lines: ({ conversation: { conv_id, assigned_to } }) => [`${conv_id} is ${assigned_to ?? 'nobody'}’s`],
    }),
    command({
      name: 'escalate',
      description: 'hand a conversation over to a person',
      examples: [`escalate ${example} --reason "A refund over 500 EUR."`],
      does: contract.escalateConversation,
      lines: statusLine,
    }),
  ],
});

function nameOf({ customer: { name, email, customer_id } }: Conversation): string {
  return name !== undefined && email !== undefined ? `${name} <${email}>` : (name ?? email ?? customer_id);
}

async function show(session: Session, convId: string): Promise<void> {
  const client = await session.client();
  const at = `/support/inbox/orgs/${await session.orgId()}/${convId}`;
  const pages: z.infer<typeof contract.conversationReply>[] = [];
  // The API returns the page with the newest messages first. Within a page, the oldest message comes first.
  const newestFirst = await allPages(async (query) => {
    const page = await client.request('GET', at, contract.conversationReply, {
      query: { ...query, mode: session.mode },
    });
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

/** The id of the logged-in person; conversations cannot be assigned to an API key. */
async function ownId(session: Session): Promise<string> {
  return (await (await session.member()).request('GET', '/me', profile)).userId;
}
