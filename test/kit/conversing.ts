/** Helpers for tests of conversations without a socket: customers who write, and the records stored about them. */
import { afterAll, beforeAll } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { modelsIn } from './database.ts';
import { until } from './harness.ts';
import { acceptMessage } from '../../api/chat/conversation.ts';
import type { SessionPrincipal } from '../../api/access/auth.ts';
import type { Context } from '../../api/context.ts';
import { findConversation, type Conversation } from '../../models/chat/conversation.ts';
import { provideConversation } from '../../models/chat/current.ts';
import { framesAfter, type Frame } from '../../models/live/frame.ts';
import { newId } from '../../models/base/ids.ts';
import { listMessages, MessageModel, type Message } from '../../models/chat/message.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import { defined } from '../../models/rules/base/defined.ts';

type CustomerOptions = { mode?: Mode; productType?: string; context?: Record<string, unknown> };

/** Customers of the system with this database: `shared`, or the name of a `systemEnv`. */
export function conversing(name: string) {
  let ctx: Context;
  let connection: Connection;
  modelsIn(name);
  beforeAll(async () => {
    connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    ctx = {
      clock: () => new Date(),
      log: pino({ level: 'silent' }),
      temporal: new Client({ connection }),
      config: { taskQueuePrefix: `${name}-` },
    } as unknown as Context;
  });
  afterAll(() => connection.close());

  /** A new customer with a conversation, whose frames are handled one at a time. */
  async function newCustomer(orgId: string, { mode = 'test', productType, context }: CustomerOptions = {}) {
    const customerId = newId('customer');
    const principal = {
      kind: 'session',
      orgId,
      mode,
      modes: [mode],
      sessionId: newId('session'),
      customerId,
      verified: true,
      ...defined({ productType, context }),
    } as unknown as SessionPrincipal;
    const { _id: convId } = await provideConversation(orgId, mode, customerId, new Date());
    const conversation = async (): Promise<Conversation> => (await findConversation(orgId, convId))!;
    const messages = () => listMessages(orgId, convId, { limit: 100 });
    const frames = () => framesAfter({ orgId, stream: convId }, 0, 1_000);

    async function say(body: string, clientMessageId?: string): Promise<string> {
      const accepted = await acceptMessage(ctx, principal, await conversation(), { body, clientMessageId });
      return accepted.messageId;
    }
    /** Waits until a message has been answered completely, and returns the answer. */
    const answered = (messageId: string): Promise<Message> =>
      until(async () => {
        const asked = await MessageModel.findById(messageId).lean();
        const answer = await MessageModel.findOne({ org_id: orgId, conv_id: convId, answers: messageId }).lean();
        return asked?.state === 'answered' && answer ? answer : undefined;
      }, `the answer to ${messageId}`);
    /** Waits until the conversation has no outstanding work. */
    const settled = () =>
      until(async () => {
        const waiting = await MessageModel.countDocuments({
          conv_id: convId,
          $or: [{ state: 'waiting' }, { shown: false }],
        });
        // The conversation is read after the messages, because an answer changes the conversation before its message is
        // marked as done.
        const standing = await conversation();
        return waiting === 0 && standing.shown_version === standing.status_version && standing;
      }, 'everything to be attended to');
    return {
      convId,
      customerId,
      principal,
      conversation,
      messages,
      frames,
      say,
      answered,
      settled,
      ask: async (body: string) => answered(await say(body)),
    };
  }

  return { newCustomer, ctx: () => ctx };
}

/** The text of each answer as a client assembles it from the frames. */
export function shownBy(frames: readonly Frame[]) {
  const texts = new Map<string, { text: string; ends: number }>();
  for (const { type, body } of frames) {
    const id = String(body['message_id']);
    const shown = texts.get(id) ?? { text: '', ends: 0 };
    if (type === 'reply_start') texts.set(id, { ...shown, text: '' });
    if (type === 'reply_chunk') texts.set(id, { ...shown, text: shown.text + String(body['body']) });
    if (type === 'reply_end') texts.set(id, { text: String(body['body']), ends: shown.ends + 1 });
  }
  return texts;
}

/** Whether the numbers of the frames are 1, 2, 3 and so on. */
export const withoutGaps = (frames: readonly Frame[]): boolean => frames.every(({ seq }, index) => seq === index + 1);

export const typesOf = (frames: readonly Frame[]): string[] => frames.map(({ type }) => type);
