/** Zod schemas of the frames that a customer's socket sends and receives, and of the same data over REST. */
import { z } from 'zod';
import { cursor, id, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { confidencesOfAnswers, offer } from '../../knowledge/contract/knowledge.ts';
import { fieldKinds, questionActions } from '../../../models/rules/mcp/question.ts';
import { maxEmailLength } from '../../../models/rules/access/email.ts';
import { conversationStatuses, maxBodyLength, messageRoles } from '../../../models/rules/chat/conversation.ts';
import { operation } from '../../base/contract/operation.ts';

export { pageQuery };

const body = z
  .string()
  .max(maxBodyLength)
  .regex(/\S/, 'must have something on it')
  .meta({ description: `What the customer says; at most ${maxBodyLength} characters.` });
const clientMessageId = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'Your own id for the message: sent again with the same one, it is the same message.' });

export const clientFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('message'), body, client_message_id: clientMessageId.optional() }),
  z.strictObject({ type: z.literal('typing') }),
  z.strictObject({ type: z.literal('end'), body: z.enum(['1', '2', '3', '4', '5']).optional() }),
  z.strictObject({
    type: z.literal('confirm_response'),
    pending_id: z.string().min(1).max(100),
    approved: z.boolean(),
  }),
  z.strictObject({
    type: z.literal('step_up_response'),
    pending_id: z.string().min(1).max(100),
    step_up_token: z.string().min(1).max(500),
  }),
  z.strictObject({
    type: z.literal('input_response'),
    pending_id: z.string().min(1).max(100),
    question_id: z.string().min(1).max(100),
    action: z.enum(questionActions),
    content: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ type: z.literal('context_update'), context: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal('earlier'), cursor: z.string().min(1).max(200) }),
  z.strictObject({ type: z.literal('contact'), email: z.string().max(maxEmailLength) }),
  z.strictObject({ type: z.literal('ping') }),
]);
export type ClientFrame = z.infer<typeof clientFrame>;

const source = z.object({
  type: z.enum(['document', 'website']),
  id,
  name: z.string(),
  title: z.string().optional().meta({ description: 'Of a document: what customers see instead of its file name.' }),
  url: z.string().optional().meta({ description: 'Where it can be read.' }),
  score: z.number(),
});
const confidence = z.enum(confidencesOfAnswers).meta({
  description: 'Of an answer from documents. `low`: it offers passages that may help.',
});
const offers = z.array(offer).meta({ description: 'What an answer of low confidence offers, the nearest first.' });
export const message = z
  .object({
    id,
    role: z.enum(messageRoles),
    body: z.string(),
    timestamp,
    client_message_id: z.string().optional().meta({
      description:
        'Of a message of a customer or a member that had one, or that was sent over REST with an `Idempotency-Key`, of which one is made.',
    }),
    sources: z.array(source).optional().meta({ description: 'Of the agent: what the answer rests on.' }),
    has_context: z.boolean().optional(),
    confidence: confidence.optional(),
    offers: offers.optional(),
    sender_name: z.string().optional().meta({ description: 'Of a member.' }),
  })
  .meta({ id: 'ChatMessage' });

/**
 * Every server frame has a sequence number. A frame that is not in the frame log carries the number of the last logged
 * frame that the socket got.
 */
const seq = z.number().int().min(0);
const frame = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), seq, ...shape });
const status = z.enum(conversationStatuses);
const agreementBody = z
  .string()
  .meta({ description: 'The values in words, a line each; where there are none, what the tool does.' });
const agreementDetails = z
  .array(z.strictObject({ label: z.string(), value: z.union([z.string(), z.number(), z.boolean()]) }))
  .meta({ description: 'The values with the names that the tool’s schema gives them.' });
const toolArguments = z.record(z.string(), z.unknown()).meta({ description: 'What is sent if it is agreed to.' });

const questionField = z.strictObject({
  name: z.string(),
  label: z.string(),
  description: z.string().optional(),
  kind: z.enum(fieldKinds),
  required: z.boolean(),
  options: z.array(z.strictObject({ value: z.string(), label: z.string() })).optional(),
  initial: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
});

export const serverFrame = z.discriminatedUnion('type', [
  frame('welcome', {
    conv_id: id,
    status,
    mode,
    reachable: z.boolean().meta({ description: 'Whether there is an address to which replies can be mailed.' }),
  }),
  frame('history', { messages: z.array(message), cursor }),
  frame('earlier', { before: z.string(), messages: z.array(message), cursor }),
  frame('contact', { email: z.string().meta({ description: 'It is kept: replies are mailed to it.' }) }),
  frame('ack', { client_message_id: z.string().optional(), message_id: id, body: z.string(), timestamp }),
  frame('typing', {}),
  frame('reply_start', { message_id: id }),
  frame('reply_chunk', { message_id: id, body: z.string() }),
  frame('notice', {
    message_id: id,
    body: z.string().meta({ description: 'Said until the answer is there: whom it waits for, or how far a tool is.' }),
  }),
  frame('reply_end', {
    message_id: id,
    body: z.string(),
    sources: z.array(source),
    has_context: z.boolean(),
    confidence: confidence.optional(),
    offers: offers.optional(),
    timestamp,
  }),
  frame('agent_reply', { message_id: id, body: z.string(), sender_name: z.string(), timestamp }),
  frame('confirm', {
    pending_id: id,
    tool_name: z.string(),
    title: z.string(),
    body: agreementBody,
    details: agreementDetails,
    arguments: toolArguments,
  }),
  frame('step_up', {
    pending_id: id,
    tool_name: z.string(),
    title: z.string(),
    body: agreementBody,
    details: agreementDetails,
    arguments: toolArguments,
    expires_at: timestamp,
  }),
  frame('input', {
    pending_id: id,
    question_id: z.string().meta({ description: 'Which question of this call; the answer names it.' }),
    tool_name: z.string(),
    title: z.string(),
    message: z.string().meta({ description: 'What the tool asks; text without anything active.' }),
    fields: z.array(questionField),
    expires_at: timestamp,
  }),
  frame('input_ack', { pending_id: id, question_id: z.string(), action: z.enum(questionActions) }),
  frame('confirm_ack', { pending_id: id, approved: z.boolean() }),
  frame('action_result', { pending_id: id, tool_name: z.string(), ok: z.boolean(), label: z.string() }),
  frame('escalated', { ticket_id: id }),
  frame('status', { status }),
  frame('error', {
    code: z.string(),
    message: z.string(),
    refused: z
      .enum(clientFrame.options.map(({ shape }) => shape.type.value))
      .optional()
      .meta({ description: 'The `type` of your frame that this is about.' }),
    client_message_id: z.string().optional().meta({ description: 'Of the message that was refused.' }),
    retry_after: z.number().int().optional().meta({ description: 'Seconds to wait.' }),
  }),
  frame('pong', {}),
]);
export type ServerFrame = z.infer<typeof serverFrame>;

export const conversation = z
  .object({
    conv_id: id,
    mode,
    status,
    preview: z.string().meta({ description: 'How its last message begins.' }),
    last_message_at: timestamp.nullable(),
    ticket_id: id.nullable(),
    csat: z.number().int().min(1).max(5).nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'ChatConversation' });

const sendBody = z.strictObject({
  body,
  client_message_id: clientMessageId.optional(),
  conv_id: id.optional().meta({ description: 'The current conversation unless told; a new one when there is none.' }),
});
const sendReply = z.object({
  conv_id: id,
  message_id: id,
  duplicate: z
    .literal(true)
    .optional()
    .meta({ description: 'This client_message_id was there before; nothing was added.' }),
});
const conversationList = z.object({ conversations: z.array(conversation), cursor });
const messages = z.array(message).meta({ description: 'In their order; the last ones without a cursor.' });
const before = cursor.meta({ description: 'For the messages before these; null when there are none.' });
export const conversationReply = z.object({ conversation, messages, cursor: before });
const historyReply = z.object({
  conv_id: id.nullable().meta({ description: 'Null when the customer has no conversation yet.' }),
  messages,
  cursor: before,
});

export const sendMessage = operation('sendMessage', 'POST /support/chat/messages/{orgId}', {
  body: sendBody,
  reply: sendReply,
});
export const listOwnConversations = operation('listOwnConversations', 'GET /support/chat/conversations/{orgId}', {
  query: pageQuery,
  reply: conversationList,
});
export const getOwnConversation = operation('getOwnConversation', 'GET /support/chat/conversation/{orgId}/{convId}', {
  query: pageQuery,
  reply: conversationReply,
});
export const getChatHistory = operation('getChatHistory', 'GET /support/chat/history/{orgId}', {
  query: pageQuery,
  reply: historyReply,
});
