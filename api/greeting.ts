/** What a new chat socket is told at first: where it is, and either what it missed or the history as it stands. */
import { pageFrom, readHistory, viewMessage, type HistoryPage } from './chat.ts';
import type { ChatSocket } from './chatsocket.ts';
import type { Conversation } from '../models/conversation.ts';
import { countFrames, lastSeq, replyStart } from '../models/frame.ts';
import type { Message } from '../models/message.ts';

/** Beyond this many missed frames the history is quicker. */
const MAX_RESUMED = 1_000;
/** The first history: more is read over REST. Its size stays far below what makes a reader a slow one. */
const HISTORY = { messages: 100, characters: 200_000 };

/** Greets a socket and sets its number: the frames after it are what the socket has to be given next. */
export async function greet(
  socket: ChatSocket,
  conversation: Conversation,
  resumeFrom: number | undefined,
): Promise<void> {
  const { _id: convId, status, mode } = conversation;
  // Before the history, so that whatever is not in it has a higher number.
  const last = await lastSeq(convId);
  if (resumeFrom !== undefined && (await isWhole(convId, resumeFrom, last))) {
    socket.seq = resumeFrom;
    socket.tell('welcome', { conv_id: convId, status, mode });
    return;
  }
  const { found, cursor } = latest(convId, await readHistory(conversation, HISTORY.messages));
  socket.seq = Math.min(last, await beforeOpenReply(convId, found));
  socket.tell('welcome', { conv_id: convId, status, mode });
  socket.tell('history', { messages: found.map(viewMessage), cursor });
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
