/** Zod schemas of the frames that a room's socket sends and receives. */
import { z } from 'zod';
import { id, timestamp } from '../../base/contract/common.ts';
import { interviewModes } from '../../../models/rules/interviews/interview.ts';
import { endReasons, roomBounds, roomRoles } from '../../../models/rules/interviews/room.ts';
import { interviewLanguages } from '../../../models/rules/language/language.ts';

const body = z.string().max(roomBounds.message).regex(/\S/, 'must have something on it');
export const clientFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('consent'), accepted: z.boolean() }),
  z.strictObject({
    type: z.literal('message'),
    body,
    client_message_id: z.string().min(1).max(100),
    question_id: id.optional(),
  }),
  z.strictObject({ type: z.literal('end') }),
  z.strictObject({ type: z.literal('ping') }),
]);
export type RoomFrame = z.infer<typeof clientFrame>;

const seq = z.number().int().min(0);
const frame = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), seq, ...shape });
const question = { question_id: id, index: z.number().int(), total: z.number().int(), body: z.string() };
const message = {
  message_id: id,
  role: z.enum([...roomRoles, 'ai']),
  body: z.string(),
  timestamp,
};

export const serverFrame = z.discriminatedUnion('type', [
  frame('welcome', {
    role: z.enum(roomRoles),
    mode: z.enum(interviewModes),
    language: z.enum(interviewLanguages),
    role_title: z.string(),
    question_count: z.number().int(),
    status: z.enum(['bot_deployed', 'in_progress']),
    ai_notice: z.string(),
  }),
  frame('history', { messages: z.array(z.object({ ...message, question_id: id.optional() })) }),
  frame('joined', {}),
  frame('question', question),
  frame('ack', { client_message_id: z.string(), message_id: id, to: z.enum(roomRoles) }),
  frame('message', { ...message, question_id: id.optional() }),
  frame('suggestion', {
    suggestion_id: id,
    kind: z.enum(['question', 'follow_up']),
    body: z.string(),
    question_id: id.optional(),
    to: z.literal('interviewer'),
  }),
  frame('ended', { reason: z.enum(endReasons), message: z.string() }),
  frame('error', {
    code: z.string(),
    message: z.string(),
    refused: z.string().optional(),
    client_message_id: z.string().optional(),
    retry_after: z.number().int().optional(),
    not_begun: z.literal(true).optional(),
  }),
  frame('pong', {}),
]);
export type RoomServerFrame = z.infer<typeof serverFrame>;
