/** What each frame of a customer's socket does. Nothing is answered here: what a frame brings about comes from the frame log. */
import { credentialId } from '../access/auth.ts';
import { acceptMessage, endConversation } from './conversation.ts';
import type { ChatSocket } from './socket.ts';
import type { Context } from '../context.ts';
import { clientFrame, isClientFrameType, type ClientFrame } from '../contract/chat.ts';
import { toDetails, toProblem } from '../http/errors.ts';
import { readEarlier } from './greeting.ts';
import type { Limiter } from '../http/limits.ts';
import type { SocketMetrics } from '../http/metrics.ts';
import { refineConversation } from '../../models/chat/conversation.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { contextProblem } from '../../models/rules/access/session.ts';

/** Takes one frame of a socket that has a conversation. Never rejects: what is wrong with it is told to the socket. */
export type FrameTaker = (socket: ChatSocket, text: string) => Promise<void>;

export function createFrameTaker(ctx: Context, metrics: Pick<SocketMetrics, 'received'>, limit: Limiter): FrameTaker {
  /** Each frame that costs as much as a message is counted. @throws Problem RATE_LIMITED. */
  async function count(socket: ChatSocket, type: ClientFrame['type']): Promise<void> {
    const session = credentialId(socket.customer!);
    if (type === 'end' || type === 'context_update' || type === 'earlier') await limit('other_frames', session);
    if (type !== 'message') return;
    await limit('messages', session);
    // Visitors are made up at will; the network that they come from is not.
    if (socket.pass) await limit('address_messages', socket.network);
  }

  /** What a frame does. @throws Problem. */
  async function take(socket: ChatSocket, frame: ClientFrame): Promise<void> {
    const conversation = socket.conversation!;
    await count(socket, frame.type);
    switch (frame.type) {
      case 'message': {
        const said = { body: frame.body, clientMessageId: frame.client_message_id };
        const { duplicate, ack, ackSeq } = await acceptMessage(ctx, socket.customer!, conversation, said, socket.seq);
        // The log brings it, unless it did so before.
        if (duplicate && socket.seq >= ackSeq) socket.tell('ack', ack);
        return;
      }
      case 'end':
        return endConversation(ctx, conversation, frame.body === undefined ? undefined : Number(frame.body));
      case 'context_update': {
        const problem = contextProblem(frame.context);
        if (problem !== undefined) throw new Problem('VALIDATION', { message: `context: ${problem}` });
        return refineConversation(conversation.org_id, conversation._id, frame.context);
      }
      case 'earlier': {
        const { messages, cursor } = await readEarlier(conversation, frame.cursor);
        socket.tell('earlier', { before: frame.cursor, messages, cursor });
        return;
      }
      case 'confirm_response':
      case 'step_up_response':
        socket.tell('error', { code: 'NOTHING_PENDING', message: 'Nothing waits for this answer.' });
        return;
      case 'ping':
        socket.tell('pong');
        return;
      case 'typing':
        // Members have no socket on which it could be shown.
        return;
    }
  }

  return async (socket, text) => {
    let given: unknown;
    try {
      given = JSON.parse(text);
    } catch {
      socket.refuseFrame('MALFORMED_JSON', 'A frame is a JSON object with a `type`.');
      return;
    }
    const { type, client_message_id: id } = (given ?? {}) as { type?: unknown; client_message_id?: unknown };
    if (!isClientFrameType(type)) {
      socket.refuseFrame('UNKNOWN_TYPE', 'The `type` of this frame is not one that clients send.');
      return;
    }
    metrics.received.inc({ type });
    const clientMessageId = typeof id === 'string' ? id : undefined;
    try {
      const parsed = clientFrame.safeParse(given);
      if (!parsed.success) {
        const [detail] = toDetails(parsed.error, 'frame');
        const message = detail ? `${detail.path.slice(1).join('.')}: ${detail.message}` : 'The frame is not valid.';
        throw new Problem('VALIDATION', { message });
      }
      await take(socket, parsed.data);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) ctx.log.error({ err: problem.cause, conv_id: socket.convId }, 'a frame failed');
      socket.complain(problem, clientMessageId);
      if (problem.code === 'RATE_LIMITED' || problem.code === 'NOT_FOUND')
        socket.close(4000 + problem.status, problem.code);
    }
  };
}
