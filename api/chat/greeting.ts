/**
 * The frames that a new chat socket gets: the conversation's state, then either the frames that the client missed or
 * the history. Earlier messages follow when the client asks for them.
 */
import type { ConversationRef } from '../../models/chat/saying.ts';
import { readHistory, readHistoryCursor, viewMessage } from './history.ts';
import { canResume } from '../live/resume.ts';
import type { StreamSocket } from '../live/stream.ts';
import { findCustomer, replyAddressOf } from '../../models/chat/customer.ts';
import { findConversation } from '../../models/chat/conversation.ts';
import { streamOf, replyStart } from '../../models/chat/log.ts';
import type { Message } from '../../models/chat/message.ts';
import { lastSeq } from '../../models/live/frame.ts';

/**
 * The most messages and characters in one `history` or `earlier` frame. This is far less than the unsent data at which
 * a slow client is disconnected.
 */
const historyBounds = { limit: 100, characters: 200_000 };

/**
 * Greets a socket and sets its sequence number: the log's frames after that number follow. Returns false, and sends
 * nothing, when the conversation was removed.
 */
export async function greet(
  socket: StreamSocket,
  chosen: ConversationRef,
  resumeFrom: number | undefined,
): Promise<boolean> {
  const { _id: convId, org_id: orgId, mode } = chosen;
  // The log's last number is read before the status and the history, so that every frame that the status and the
  // history do not cover has a higher number.
  const last = await lastSeq(streamOf(chosen));
  const [standing, whole] = await Promise.all([
    findConversation(orgId, convId),
    resumeFrom !== undefined && canResume(streamOf(chosen), resumeFrom, last),
  ]);
  if (!standing) return false;
  const customer = await findCustomer(orgId, standing.customer_id);
  const reachable = customer !== null && replyAddressOf(customer) !== undefined;
  const welcome = { conv_id: convId, status: standing.status, mode, reachable };
  if (whole) {
    socket.seq = resumeFrom!;
    socket.tell('welcome', welcome);
    return true;
  }
  const { found, cursor } = await readHistory(chosen, historyBounds);
  socket.seq = Math.min(last, await beforeOpenReply(chosen, found));
  socket.tell('welcome', welcome);
  socket.tell('history', { messages: found.map(viewMessage), cursor });
  return true;
}

/** The messages before a `history` or `earlier` frame, by that frame's cursor. @throws Problem VALIDATION. */
export async function readEarlier(conversation: ConversationRef, cursor: string) {
  const before = readHistoryCursor(cursor, conversation._id)?.before;
  const page = await readHistory(conversation, { ...historyBounds, before });
  return { messages: page.found.map(viewMessage), cursor: page.cursor };
}

/**
 * The sequence number before the first frame of an answer that is being written; Infinity when none is being written. A
 * new socket starts at this number, because it needs all pieces of the answer.
 */
async function beforeOpenReply(conversation: ConversationRef, history: readonly Message[]): Promise<number> {
  const awaited = history.filter(({ state, attempt }) => state === 'waiting' && attempt !== undefined);
  const starts = await Promise.all(awaited.map(({ reply_id }) => replyStart(conversation, reply_id!)));
  return Math.min(...starts.map((seq) => (seq === undefined ? Infinity : seq - 1)));
}
