/**
 * Handles each frame of a customer's socket. The agent's and members' replies are not sent here; they reach the socket
 * through the frame log.
 */
import { acceptMessage, endConversation } from './conversation.ts';
import type { Admission } from './embed.ts';
import { readEarlier } from './greeting.ts';
import { answerCall, answerInput } from './toolcall.ts';
import { credentialId, type SessionPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import type { ClientFrame } from './contract/chat.ts';
import type { Limiter } from '../http/limits.ts';
import type { StreamSocket } from '../live/stream.ts';
import { setContactEmail } from '../../models/chat/customer.ts';
import { findConversation, refineConversation } from '../../models/chat/conversation.ts';
import type { ConversationRef } from '../../models/chat/saying.ts';
import { tellStaff } from '../../models/live/staff.ts';
import { readEmail } from '../../models/rules/access/email.ts';
import { contextProblem } from '../../models/rules/access/session.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * The shortest time between two reports to members that a customer is typing, in ms. A page sends `typing` at the same
 * interval.
 */
const typingEveryMs = 3_000;

/** The data that the chat keeps for each of its sockets. */
export type ChatClient = {
  customer: SessionPrincipal;
  /** Set when a page embeds the chat: the page's credentials, and when they are checked again, in ms since 1970. */
  embed: (Admission & { recheckAt: number }) | undefined;
  /** Set once the socket is open. */
  conversation: ConversationRef | undefined;
  /** When members were last informed that the customer is typing, in ms since 1970. */
  typedAt?: number;
};

type FrameOf<T extends ClientFrame['type']> = Extract<ClientFrame, { type: T }>;

export function createFrameTaker(ctx: Context, limit: Limiter) {
  /** Counts a frame against the rate limits. @throws Problem RATE_LIMITED. */
  async function count({ network }: StreamSocket, { customer, embed }: ChatClient, type: ClientFrame['type']) {
    const session = credentialId(customer);
    if (type !== 'message' && type !== 'typing' && type !== 'ping') await limit('other_frames', session);
    if (type !== 'message') return;
    await limit('messages', session);
    // Messages are also counted per network, because a page can invent a visitor id, but not the network from which the
    // visitor connects.
    if (embed) await limit('address_messages', network);
  }

  async function takeMessage(socket: StreamSocket, { customer, conversation }: ChatClient, frame: FrameOf<'message'>) {
    const said = { body: frame.body, clientMessageId: frame.client_message_id };
    const { duplicate, ack, ackSeq } = await acceptMessage(ctx, customer, conversation!, said, socket.seq);
    // The frame log has one `ack` for each message. A socket that has already passed that `ack` gets it directly; any
    // other socket gets it from the log.
    if (duplicate && socket.seq >= ackSeq) socket.tell('ack', ack);
  }

  /** Tells members at intervals that the customer is typing, while a person is in charge of the conversation. */
  async function tellTyping(client: ChatClient): Promise<void> {
    const { _id: conv_id, org_id: orgId } = client.conversation!;
    const now = ctx.clock();
    if (now.getTime() - (client.typedAt ?? 0) < typingEveryMs) return;
    client.typedAt = now.getTime();
    const status = (await findConversation(orgId, conv_id))?.status;
    if (status === 'escalated' || status === 'pending')
      await tellStaff(orgId, { type: 'typing', body: { conv_id } }, now);
  }

  /** Handles one frame. @throws Problem, which is sent to the socket. */
  return async (socket: StreamSocket, client: ChatClient, frame: ClientFrame): Promise<void> => {
    const conversation = client.conversation!;
    const { customer } = client;
    await count(socket, client, frame.type);
    switch (frame.type) {
      case 'message':
        return takeMessage(socket, client, frame);
      case 'end':
        return endConversation(ctx, conversation, frame.body === undefined ? undefined : Number(frame.body));
      case 'context_update': {
        const problem = contextProblem(frame.context);
        if (problem !== undefined) throw new Problem('VALIDATION', { message: `context: ${problem}` });
        await refineConversation(conversation.org_id, conversation._id, frame.context);
        return;
      }
      case 'earlier': {
        const { messages, cursor } = await readEarlier(conversation, frame.cursor);
        socket.tell('earlier', { before: frame.cursor, messages, cursor });
        return;
      }
      case 'contact': {
        const email = readEmail(frame.email);
        if (email === undefined) throw new Problem('VALIDATION', { message: 'email: must be an e-mail address' });
        await setContactEmail(customer.orgId, customer.customerId, email);
        // Members see the address in the conversation's entry in the inbox.
        await tellStaff(customer.orgId, { type: 'changed', body: { conv_id: conversation._id } }, ctx.clock());
        socket.tell('contact', { email });
        return;
      }
      case 'confirm_response':
        return answerCall(ctx, customer, conversation, frame.pending_id, { approved: frame.approved });
      case 'step_up_response':
        return answerCall(ctx, customer, conversation, frame.pending_id, { token: frame.step_up_token });
      case 'input_response': {
        const { pending_id: pendingId, question_id: questionId, action, content } = frame;
        return answerInput(ctx, customer, conversation, {
          pendingId,
          questionId,
          action,
          ...defined({ content }),
        });
      }
      case 'ping':
        socket.tell('pong');
        return;
      case 'typing':
        return tellTyping(client);
    }
  };
}
