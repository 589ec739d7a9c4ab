/**
 * A room as a stream of api/live: who may connect, which frames a new socket gets first, and what each received frame
 * does.
 */
import { decideConsent, endFromRoom, mend, questionFrame, roomOver, takeSpoken } from './room.ts';
import type { Context } from '../context.ts';
import { clientFrame, type RoomFrame } from './contract/rooms.ts';
import { networkOf } from '../http/address.ts';
import { createLimiter } from '../http/limits.ts';
import type { SocketMetrics } from '../http/metrics.ts';
import { canResume, resumeFromOf } from '../live/resume.ts';
import type { StreamKind, StreamSocket } from '../live/stream.ts';
import { endedAmong, findByToken, findRoom, RoomModel } from '../../models/interviews/room.ts';
import { readLast } from '../../models/interviews/transcript.ts';
import { lastSeq } from '../../models/live/frame.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { noticeOf, type RoomRole } from '../../models/rules/interviews/room.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** The most sockets (tabs) with one link in one process. A room has a link for each role. */
const socketsPerLink = 10;
/** A history frame contains at most this many of the last messages. */
const historyLength = 400;

/**
 * The refusal while the room is not open yet. The page reconnects by itself, so it gets in once the room is open. By
 * `not_begun` the page tells this refusal from an outage, which has the same code.
 */
const notBegun = (): Problem =>
  new Problem('UNAVAILABLE', {
    message: 'The interview has not begun yet; this page opens it when it begins.',
    frame: { not_begun: true },
  });

type Guest = { roomId: string; orgId: string; role: RoomRole };

export function createRoomStreams(ctx: Context, metrics: SocketMetrics): StreamKind<Guest, RoomFrame> {
  const limit = createLimiter(ctx.config);
  const collection = RoomModel.collection.collectionName;

  /** @throws Problem UNAUTHENTICATED when the room has ended since `open` checked it. */
  async function greet(
    socket: StreamSocket,
    { roomId, orgId, role }: Guest,
    resumeFrom: number | undefined,
  ): Promise<void> {
    // The log's last number is read before the room, so that every frame that the greeting does not cover has a higher
    // number.
    const stream = { orgId, stream: roomId };
    const last = await lastSeq(stream);
    const [room, whole] = await Promise.all([
      findRoom(roomId),
      resumeFrom !== undefined && canResume(stream, resumeFrom, last),
    ]);
    if (!room || room.ended_at) throw roomOver();
    socket.seq = whole ? resumeFrom! : last;
    socket.tell('welcome', {
      role,
      mode: room.interview_mode,
      language: room.language,
      role_title: room.role_title,
      question_count: room.questions.length,
      status: room.consented_at ? 'in_progress' : 'bot_deployed',
      ai_notice: noticeOf(room.interview_mode, room.language),
    });
    if (whole) return;
    const said = await readLast(roomId, historyLength);
    const messages = said.map(({ id, role: by, text, at, question_id }) => ({
      message_id: id,
      role: by,
      body: text,
      timestamp: at.toISOString(),
      ...defined({ question_id }),
    }));
    socket.tell('history', { messages });
    const question = room.consented_at ? questionFrame(room) : undefined;
    if (question) socket.tell('question', question);
  }

  return {
    path: /^\/v1\/rooms\/ws\/(?<token>[\w-]{1,200})$/,
    metrics,
    streams: { collection, endedBy: 'ended_at', ended: roomOver },
    credentials: {
      collection,
      endedBy: 'ended_at',
      ended: roomOver,
      of: ({ roomId }) => roomId,
      maxSockets: socketsPerLink,
      share: ({ role }) => role,
      endedAmong,
    },
    async admit({ params, address }) {
      await limit('address_connects', networkOf(address));
      const found = await findByToken(params['token']!);
      if (!found || found.room.ended_at) throw roomOver();
      const { room, role } = found;
      if (!room.opened_at) throw notBegun();
      await limit('connects', `${room._id}:${role}`);
      return { roomId: room._id, orgId: room.org_id, role };
    },
    async open(socket, guest, { query }) {
      const room = await findRoom(guest.roomId);
      if (!room || room.ended_at) throw roomOver();
      // When `mend` fails, for example because Temporal is down, the socket is greeted all the same. The next
      // connection shows the frames that are still missing.
      await mend(ctx, room).catch((error: unknown) =>
        ctx.log.warn({ err: error, interview_id: room._id }, 'a room was not caught up; it is at the next connection'),
      );
      await greet(socket, guest, resumeFromOf(query));
      return { orgId: guest.orgId, stream: guest.roomId };
    },
    frame: clientFrame,
    shows: ({ role }, { body }) => body['to'] === undefined || body['to'] === role,
    async take(socket, { roomId, role }, frame) {
      if (frame.type === 'message') await limit('messages', `${roomId}:${role}`);
      else if (frame.type !== 'ping') await limit('other_frames', `${roomId}:${role}`);
      switch (frame.type) {
        case 'consent':
          // An interviewer consents by joining, so only the candidate is asked.
          return role === 'candidate' ? decideConsent(ctx, roomId, frame.accepted) : undefined;
        case 'message': {
          const { body, client_message_id: clientMessageId, question_id: questionId } = frame;
          const { message_id, again } = await takeSpoken(ctx, roomId, { role, body, clientMessageId, questionId });
          if (again) socket.tell('ack', { client_message_id: clientMessageId, message_id, to: role });
          return;
        }
        case 'end':
          return endFromRoom(ctx, roomId, role);
        case 'ping':
          socket.tell('pong');
          return;
      }
    },
    logged: ({ orgId, roomId, role }) => ({ org_id: orgId, interview_id: roomId, role }),
    check: () => undefined,
  };
}
