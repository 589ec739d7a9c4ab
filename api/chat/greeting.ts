/**
 * What a chat socket is told of the past: at first where it is, and either what it missed or the history as it stands; what
 * was before that when it asks.
 */
import { pageFrom, readHistory, readHistoryCursor, viewMessage, type HistoryPage, type Whose } from './conversation.ts';
import type { ChatSocket } from './socket.ts';
import { findConversation } from '../../models/chat/conversation.ts';
import { countFrames, lastSeq, replyStart } from '../../models/chat/frame.ts';
import type { Message } from '../../models/chat/message.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** Beyond this many missed frames the history is quicker. */
const MAX_RESUMED = 1_000;
/** The first history, and what is read before it at once. Its size stays far below what makes a reader a slow one. */
const HISTORY = { messages: 100, characters: 200_000 };

/**
 * Greets a socket and sets its number: the frames after it are what the socket has to be given next. False, and nothing is
 * said, when the conversation has been removed.
 */
export async function greet(socket: ChatSocket, chosen: Whose, resumeFrom: number | undefined): Promise<boolean> {
  const { _id: convId, org_id: orgId, mode } = chosen;
  // Before the status and the history, so that whatever is not in them has a higher number.
  const last = await lastSeq(convId);
  const [standing, whole] = await Promise.all([
    findConversation(orgId, convId),
    resumeFrom !== undefined && isWhole(convId, resumeFrom, last),
  ]);
  if (!standing) return false;
  const welcome = { conv_id: convId, status: standing.status, mode };
  if (whole) {
    socket.seq = resumeFrom!;
    socket.tell('welcome', welcome);
    return true;
  }
  const { found, cursor } = latest(convId, await readHistory(chosen, HISTORY.messages));
  socket.seq = Math.min(last, await beforeOpenReply(convId, found));
  socket.tell('welcome', welcome);
  socket.tell('history', { messages: found.map(viewMessage), cursor });
  return true;
}

/** The messages before those that a `history` or an `earlier` brought with this cursor. @throws Problem VALIDATION. */
export async function readEarlier(conversation: Whose, cursor: string) {
  const from = readHistoryCursor(cursor);
  if (from.convId !== conversation._id) {
    throw new Problem('VALIDATION', { message: 'cursor: is not one of this conversation' });
  }
  const page = latest(conversation._id, await readHistory(conversation, HISTORY.messages, from.before));
  return { messages: page.found.map(viewMessage), cursor: page.cursor };
}

/** Whether the log still holds every frame after this number, and not too many. */
async function isWhole(convId: string, resumeFrom: number, last: number): Promise<boolean> {
  const missed = last - resumeFrom;
  if (missed < 0 || missed > MAX_RESUMED) return false;
  return missed === 0 || (await countFrames(convId, resumeFrom, last)) === missed;
}

/** The number before an answer that is being written, whose pieces a newcomer needs from the first one on. */
async function beforeOpenReply(convId: string, history: readonly Message[]): Promise<number> {
  const awaited = history.filter(({ state, attempt }) => state === 'waiting' && attempt !== undefined);
  const starts = await Promise.all(awaited.map(({ reply_id }) => replyStart(convId, reply_id!)));
  return Math.min(...starts.map((seq) => (seq === undefined ? Infinity : seq - 1)));
}

/** As many of the last messages as one frame may carry. */
function latest(convId: string, page: HistoryPage): HistoryPage {
  let characters = 0;
  const from = page.found.findLastIndex(({ body }) => (characters += body.length) > HISTORY.characters) + 1;
  return from === 0 ? page : pageFrom(convId, page.found.slice(from));
}
