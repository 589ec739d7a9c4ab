/**
 * Zod schemas of the inbox: conversations as members see them, a conversation with its ticket, and members' actions.
 */
import { z } from 'zod';
import { message } from './chat.ts';
import { cursor, id, line, moment, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { priorities } from '../../../models/rules/base/priority.ts';
import {
  conversationStatuses,
  escalationReasons,
  inboxSorts,
  maxBodyLength,
  maxNoteLength,
  ticketEvents,
  ticketStatuses,
  type EscalationReason,
} from '../../../models/rules/chat/conversation.ts';

import { maxMentions, maxNoteBody, maxTagLength, maxTags } from '../../../models/rules/chat/triage.ts';
import { operation } from '../../base/contract/operation.ts';

const status = z.enum(conversationStatuses);
const reasons = Object.keys(escalationReasons) as [EscalationReason, ...EscalationReason[]];

const tag = line(maxTagLength);
const priority = z.enum(priorities);

const inboxQuery = pageQuery.extend({
  status: status.optional().meta({ description: 'Only those with this status.' }),
  assigned_to: id.optional().meta({
    description: 'A member’s user id; `me`, for a member; `none`: conversations that nobody has.',
  }),
  tag: tag.optional().meta({ description: 'Only those with this tag.' }),
  priority: priority.optional().meta({ description: 'Only those with this priority.' }),
  customer_id: id.optional().meta({ description: 'Only those of this customer.' }),
  unread: z.literal('true').optional().meta({ description: 'Only those with messages that no member has seen.' }),
  from: moment.optional().meta({ description: 'Only those with a message from then on.' }),
  until: moment.optional().meta({ description: 'Only those whose last message is older than this.' }),
  snoozed: z.enum(['true', 'false']).optional().meta({ description: 'Only those that are put off, or are not.' }),
  sort: z.enum(inboxSorts).optional().meta({
    description: '`newest` activity first unless told; `waiting`: only those who wait for a person, the longest first.',
  }),
});
const messagesQuery = pageQuery.extend({
  limit: pageQuery.shape.limit.meta({ description: 'Messages a page; 20 unless told.' }),
  cursor: pageQuery.shape.cursor.meta({ description: 'The `cursor` of the page before: goes back to older messages.' }),
});

export const ticket = z
  .object({
    ticket_id: id,
    status: z.enum(ticketStatuses),
    reason: z.enum(reasons).meta({ description: 'Why a person was called the last time.' }),
    description: z
      .string()
      .meta({ description: 'What the member wrote who escalated, else the reason as a sentence.' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Ticket' });

export const conversation = z
  .object({
    conv_id: id,
    org_id: id,
    mode,
    status,
    customer: z.object({
      customer_id: id,
      name: z.string().optional(),
      email: z.string().optional(),
      contact_email: z
        .string()
        .optional()
        .meta({ description: 'Where the customer wants replies, as they said in the chat. It proves nothing.' }),
      verified: z.boolean().meta({ description: 'Whether a backend or a signature has vouched for who it is.' }),
    }),
    preview: z.string().meta({ description: 'How the customer’s last message begins, on one line.' }),
    last_message_at: orNull(timestamp),
    unread: z.number().int().meta({ description: 'Customer messages since a member looked.' }),
    position: z.number().int().meta({ description: 'Of the newest message.' }),
    read_position: z.number().int().nullable().meta({
      description:
        'Of the newest message that the member who asks has seen; 0 where they marked it as unread. Null when they have never opened it, and for a key.',
    }),
    assigned_to: orNull(id).meta({ description: 'A member’s user id.' }),
    ticket: orNull(ticket).meta({ description: 'Null until a person was called.' }),
    csat: orNull(z.number().int().min(1).max(5)).meta({ description: 'What the customer gave at the end.' }),
    tags: z.array(z.string()),
    priority: orNull(priority),
    snoozed: orNull(
      z.object({ until: orNull(timestamp).meta({ description: 'Null: until the customer writes.' }), by: id }),
    ),
    waiting_since: orNull(timestamp).meta({ description: 'Since when the customer waits for a person.' }),
    note_count: z.number().int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'InboxConversation' });

export const note = z
  .object({
    note_id: id,
    author: id.meta({ description: 'A member’s user id.' }),
    body: z.string(),
    mentions: z.array(id),
    at: timestamp,
  })
  .meta({ id: 'Note' });

export const readBody = z.strictObject({
  position: z.number().int().min(0).meta({ description: 'The `position` that the conversation had when it was read.' }),
});

const inboxReply = z.object({
  conversations: z.array(conversation),
  count: z.number().int().meta({ description: 'All that the filters let through, not only this page.' }),
  unread: z.number().int().meta({ description: 'Unread messages in all of them.' }),
  cursor,
});

const inboxMessage = message
  .extend({
    sender_id: id.optional().meta({ description: 'Of a member’s reply: the user, or the key it was sent with.' }),
    record: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Of the agent’s answer: how it came about.' }),
    mail: z
      .object({
        subject: z.string(),
        full_text: z.string().optional().meta({ description: 'With what it quotes, where that is more than `body`.' }),
        attachments: z.array(z.object({ filename: z.string(), mime_type: z.string(), bytes: z.number().int() })).meta({
          description: 'What was attached; it is not kept.',
        }),
      })
      .optional()
      .meta({ description: 'Of a customer’s message that came by mail.' }),
  })
  .meta({ id: 'InboxMessage' });
const ticketEvent = z.object({
  event_id: id,
  seq: z.number().int().min(1).meta({ description: 'Counts the events of the ticket.' }),
  type: z.enum(ticketEvents),
  ticket_status: z.enum(ticketStatuses),
  at: timestamp,
});

export const conversationReply = z.object({
  conversation,
  messages: z.array(inboxMessage).meta({ description: 'The newest ones, or those before `cursor`; oldest first.' }),
  cursor,
  context: z
    .object({
      session: z.record(z.string(), z.unknown()).meta({
        description: 'What your backend said when it minted the session that was spoken in last.',
      }),
      page: z.record(z.string(), z.unknown()).meta({
        description: 'What the page told with `context_update`: the customer’s own word.',
      }),
    })
    .meta({ description: 'What is known of the customer’s situation. Of equal names the agent takes the page’s.' }),
  events: z.array(ticketEvent).meta({ description: 'What happened to the ticket, in order.' }),
  notes: z.array(note).meta({ description: 'What members wrote for each other, oldest first. Customers see none.' }),
});
export const actReply = z.object({ conversation });

const replyBody = z.strictObject({
  body: z.string().max(maxBodyLength).regex(/\S/, 'must have something on it'),
  client_message_id: z.string().min(1).max(100).optional().meta({
    description: 'Your own id for the reply: sent again with the same one, it is the same reply.',
  }),
  sender_name: line(200).optional().meta({
    description:
      'Of a key only: who speaks to the customer; the organization’s name unless told. Members have their own.',
  }),
});
export const replied = z.object({
  message_id: id,
  duplicate: z.literal(true).optional().meta({ description: 'It had been sent before.' }),
});
export const assignBody = z.strictObject({ user_id: id.nullable().meta({ description: 'A member; null: nobody.' }) });
const escalateBody = z.strictObject({
  reason: z.string().max(maxNoteLength).regex(/\S/, 'must have something on it').optional().meta({
    description: 'For the colleagues who take over; kept with the ticket. The customer does not see it.',
  }),
});

const tagsBody = z.strictObject({ tags: z.array(tag).max(maxTags).meta({ description: 'All of them.' }) });
const priorityBody = z.strictObject({ priority: priority.nullable() });
const snoozeBody = z.strictObject({
  until: z
    .union([z.literal('reply'), moment])
    .meta({ description: 'A time, or `reply`. What the customer writes ends it in any case.' }),
});
const noteBody = z.strictObject({
  body: z.string().max(maxNoteBody).regex(/\S/, 'must have something on it'),
  mentions: z.array(id).max(maxMentions).optional().meta({ description: 'Members who are told of it, by user id.' }),
});
export const noteReply = z.object({ note });

export const suggestion = z.object({
  suggestion: z
    .object({
      body: z.string(),
      sources: message.shape.sources.unwrap(),
      confidence: message.shape.confidence.unwrap(),
      record: z.record(z.string(), z.unknown()).meta({ description: 'How it came about.' }),
      based_on: id.meta({ description: 'The customer’s message that it answers.' }),
    })
    .nullable()
    .meta({ description: 'Null when the documents answer nothing that the customer has asked.' }),
});

export type InboxConversation = z.output<typeof conversation>;

export type InboxMessage = z.output<typeof inboxMessage>;

export type Note = z.output<typeof note>;

export const listInbox = operation('listInbox', 'GET /support/inbox/orgs/{orgId}', {
  query: inboxQuery,
  reply: inboxReply,
});
export const getConversation = operation('getConversation', 'GET /support/inbox/orgs/{orgId}/{convId}', {
  query: messagesQuery,
  reply: conversationReply,
});
export const replyToConversation = operation('replyToConversation', 'POST /support/inbox/orgs/{orgId}/{convId}/reply', {
  body: replyBody,
  reply: replied,
});
export const suggestReply = operation('suggestReply', 'POST /support/inbox/orgs/{orgId}/{convId}/suggest', {
  reply: suggestion,
});
export const assignConversation = operation('assignConversation', 'POST /support/inbox/orgs/{orgId}/{convId}/assign', {
  body: assignBody,
  reply: actReply,
});
export const resolveConversation = operation(
  'resolveConversation',
  'POST /support/inbox/orgs/{orgId}/{convId}/resolve',
  { reply: actReply },
);
export const escalateConversation = operation(
  'escalateConversation',
  'POST /support/inbox/orgs/{orgId}/{convId}/escalate',
  { body: escalateBody, reply: actReply },
);
export const reopenConversation = operation('reopenConversation', 'POST /support/inbox/orgs/{orgId}/{convId}/reopen', {
  reply: actReply,
});
export const setConversationTags = operation('setConversationTags', 'PUT /support/inbox/orgs/{orgId}/{convId}/tags', {
  body: tagsBody,
  reply: actReply,
});
export const setConversationPriority = operation(
  'setConversationPriority',
  'PUT /support/inbox/orgs/{orgId}/{convId}/priority',
  { body: priorityBody, reply: actReply },
);
export const snoozeConversation = operation('snoozeConversation', 'POST /support/inbox/orgs/{orgId}/{convId}/snooze', {
  body: snoozeBody,
  reply: actReply,
});
export const unsnoozeConversation = operation(
  'unsnoozeConversation',
  'DELETE /support/inbox/orgs/{orgId}/{convId}/snooze',
  { reply: actReply },
);
export const markConversationRead = operation('markConversationRead', 'PUT /support/inbox/orgs/{orgId}/{convId}/read', {
  body: readBody,
  reply: actReply,
});
export const markConversationUnread = operation(
  'markConversationUnread',
  'DELETE /support/inbox/orgs/{orgId}/{convId}/read',
  { reply: actReply },
);
export const addNote = operation('addNote', 'POST /support/inbox/orgs/{orgId}/{convId}/notes', {
  body: noteBody,
  reply: noteReply,
});
export const removeNote = operation('removeNote', 'DELETE /support/inbox/orgs/{orgId}/{convId}/notes/{noteId}', {
  reply: actReply,
});
