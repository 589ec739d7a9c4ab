/**
 * The API program with a clock that a test moves and a ping every PING_EVERY_MS. The latest message from the parent
 * says by how many milliseconds the clock is ahead. With FAULT set, the program crashes at that point of receiving a
 * message (see interrupt.ts).
 */
import { runProgram } from '../../api/http/program.ts';
import { startApi } from '../../api/server.ts';
import { interrupt } from './interrupt.ts';
import { readConfig } from '../../config.ts';
import { ConversationModel } from '../../models/chat/conversation.ts';
import { FrameModel } from '../../models/live/frame.ts';
import { MessageModel } from '../../models/chat/message.ts';

/** The faults in the order in which a message reaches them. The last one concerns a message of a member. */
export type MessageFault = 'message counted' | 'message stored' | 'message acknowledged' | 'conversation escalated';
const points: Record<MessageFault, () => void> = {
  'message counted': () => interrupt(ConversationModel.collection, 'findOneAndUpdate', '"position":1', 'after'),
  'message stored': () => interrupt(MessageModel.collection, 'insertOne', '"customer"', 'after'),
  'message acknowledged': () => interrupt(FrameModel.collection, 'insertOne', '"ack"', 'after'),
  'conversation escalated': () =>
    interrupt(ConversationModel.collection, 'findOneAndUpdate', '"status":"escalated"', 'after'),
};
const fault = process.env['FAULT'] as MessageFault | undefined;
if (fault !== undefined) points[fault]();

let ahead = 0;
process.on('message', (message: { ahead?: number }) => {
  ahead = message.ahead ?? 0;
  process.send?.({ type: 'moved' });
});
const pingEveryMs = Number(process.env['PING_EVERY_MS'] ?? 30_000);
const clock = () => new Date(Date.now() + ahead);
await runProgram(() => startApi(readConfig(process.env), (ctx) => ({ ...ctx, clock }), { pingEveryMs }));
