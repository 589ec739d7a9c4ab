/**
 * What happens in an interview's room: consent, questions, answers, the end. Everything is stored before it is shown,
 * and each step is idempotent. When a process dies half-way, `mend` shows the missing frames at the next connection,
 * and the sweeper (workers/sweeper.ts) requests the missing status change.
 */
import { createHash } from 'node:crypto';
import { commandInterview } from './interview.ts';
import type { Context } from '../context.ts';
import { intentFor } from '../../models/base/pending.ts';
import { findInterview } from '../../models/interviews/interview.ts';
import {
  streamOf,
  admitMessage,
  beginQuestions,
  consent,
  findRoom,
  finishRoom,
  noteAsked,
  refuseConsent,
  roomWriter,
  settleMoves,
  takeAnswer,
  type Room,
} from '../../models/interviews/room.ts';
import { hasFrame } from '../../models/live/frame.ts';
import { findSegment, readLast, removeSegments, storeSegments } from '../../models/interviews/transcript.ts';
import { botName } from '../../models/rules/interviews/bot.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import {
  endMove,
  joinMove,
  refuseMove,
  roomFull,
  type RoomMove,
  type RoomRole,
} from '../../models/rules/interviews/room.ts';
import type { Said } from '../../models/rules/interviews/transcript.ts';
import { interviewWork } from '../../models/rules/interviews/work.ts';
import { defined } from '../../models/rules/base/defined.ts';

export const roomOver = (): Problem =>
  new Problem('UNAUTHENTICATED', { message: 'This link is not valid, or the interview is over.' });
const over = (): Problem => new Problem('CONFLICT', { message: 'The interview is over.' });

export type Spoken = { role: RoomRole; body: string; clientMessageId: string; questionId: string | undefined };

/** A message that is sent again gets the same id. */
const messageIdOf = ({ _id }: Room, { role, clientMessageId }: Spoken): string =>
  `msg_${createHash('sha256')
    .update(JSON.stringify([_id, role, clientMessageId]))
    .digest('hex')
    .slice(0, 26)}`;

const speakerOf = (room: Room, role: RoomRole): string =>
  role === 'candidate' ? (room.candidate_name ?? 'Candidate') : 'Interviewer';

/**
 * The intent to tell the interview's workflow about a change of the room. It is stored with that change and stays until
 * the workflow has made the status change. If this process dies before that, the sweeper delivers the intent.
 */
const told = (ctx: Context, orgId: string, roomId: string) =>
  intentFor(interviewWork(orgId, roomId, 'room'), ctx.clock());

/** Asks the interview's workflow for a status change. A change that was made before counts as success. */
async function move(ctx: Context, room: Room, { operation, actor, cause }: RoomMove): Promise<void> {
  const { _id, org_id } = room;
  const reached = {
    join: ['in_progress', 'evaluating', 'completed'],
    refuse: ['cancelled'],
    end: ['evaluating', 'completed'],
  };
  try {
    const order = { orgId: org_id, interviewId: _id, actor };
    await commandInterview(ctx, operation, cause === undefined ? order : { ...order, cause });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'ILLEGAL_TRANSITION') throw error;
    const status = (await findInterview(org_id, _id))?.status;
    if (status === undefined || !reached[operation].includes(status)) throw over();
  }
  await settleMoves(room);
}

/** The candidate agrees to the recording or refuses it. @throws Problem */
export async function decideConsent(ctx: Context, roomId: string, accepted: boolean): Promise<void> {
  const orgId = (await findRoom(roomId))?.org_id;
  if (orgId === undefined) throw over();
  const room = await (accepted ? consent : refuseConsent)(roomId, ctx.clock(), told(ctx, orgId, roomId));
  if (!room) throw over();
  if (!accepted) return move(ctx, room, refuseMove);
  await enter(ctx, room);
}

async function enter(ctx: Context, room: Room): Promise<void> {
  await move(ctx, room, joinMove);
  await roomWriter(room, ctx.clock).append({ type: 'joined', key: 'joined' });
  if (room.interview_mode !== 'solo') return propose(ctx, room, 'start');
  const begun = await beginQuestions(room._id);
  if (begun) await showQuestion(ctx, begun);
}

/** Shows everything that is stored but not yet shown, which a process that died may have left behind. */
export async function mend(ctx: Context, room: Room): Promise<void> {
  if (!room.consented_at) return;
  if (!(await hasFrame(streamOf(room), 'joined'))) await enter(ctx, room);
  if (room.interview_mode === 'solo') {
    const last = room.answers.at(-1);
    if (last) await showStored(ctx, room, last.message_id);
    await showQuestion(ctx, (await findRoom(room._id)) ?? room);
  }
  if (room.finished) await move(ctx, room, endMove(room.finished));
}

export const questionFrame = ({ questions, open }: Pick<Room, 'questions' | 'open'>) => {
  const question = questions[open - 1];
  return question && { question_id: question.question_id, index: open, total: questions.length, body: question.body };
};

/** Shows the open question and adds it to the transcript. */
async function showQuestion(ctx: Context, room: Room): Promise<void> {
  const body = questionFrame(room);
  if (!body) return;
  const { question_id } = body;
  await record(room, {
    id: `question:${question_id}`,
    speaker: botName,
    text: body.body,
    at: ctx.clock(),
    is_ai: true,
    role: 'ai',
    question_id,
  });
  await roomWriter(room, ctx.clock).append({ type: 'question', body, key: `question:${question_id}` });
}

/** Stores a segment of the transcript, and removes it again if the room was removed meanwhile. */
async function record(room: Room, said: Said): Promise<void> {
  await storeSegments(room._id, [said]);
  if (!(await findRoom(room._id))) await removeSegments(room._id, [said]);
}

/** Takes a message from a participant of the room. A repeated message is only acknowledged again. @throws Problem */
export async function takeSpoken(
  ctx: Context,
  roomId: string,
  spoken: Spoken,
): Promise<{ message_id: string; again: boolean }> {
  const room = await findRoom(roomId);
  if (!room || room.ended_at) throw over();
  if (!room.consented_at)
    throw new Problem('CONFLICT', { message: 'Nothing is taken before the candidate has agreed to the recording.' });
  const solo = room.interview_mode === 'solo';
  if (solo && spoken.role === 'interviewer')
    throw new Problem('CONFLICT', { message: 'The AI leads this interview; you can follow it, and end it.' });
  const message_id = messageIdOf(room, spoken);
  if (await hasFrame(streamOf(room), `message:${message_id}`)) return { message_id, again: true };
  if (room.finished) throw over();
  if (!(await admitMessage(roomId, spoken.body.length))) throw roomFull();
  const answered = room.answers.find((answer) => answer.message_id === message_id)?.question;
  const open = solo ? room.questions[(answered ?? room.open) - 1]?.question_id : undefined;
  // Only a question that was asked can be answered.
  const named = room.questions
    .slice(0, room.open)
    .find(({ question_id }) => question_id === spoken.questionId)?.question_id;
  await record(room, {
    id: message_id,
    speaker: speakerOf(room, spoken.role),
    text: spoken.body,
    at: ctx.clock(),
    is_ai: false,
    role: spoken.role,
    ...(open === undefined ? {} : { question_id: named ?? open }),
  });
  // A message that names an earlier question, sent from another tab, only adds to the answer to that question. Any
  // other message answers the open question.
  const answers = open !== undefined && (named === undefined || named === open);
  const after =
    answers && answered === undefined ? await takeAnswer(room, message_id, told(ctx, room.org_id, roomId)) : null;
  await noteQuestion(ctx, room, spoken);
  await showStored(ctx, room, message_id, spoken.clientMessageId);
  const now = after ?? (await findRoom(roomId)) ?? room;
  if (solo) await showQuestion(ctx, now);
  else await propose(ctx, now, message_id);
  if (now.finished) await move(ctx, now, endMove(now.finished));
  return { message_id, again: false };
}

/**
 * Notes which prepared question an interviewer's message asks; only in `copilot` interviews, which suggest questions.
 */
async function noteQuestion({ intelligence }: Context, room: Room, { role, body }: Spoken): Promise<void> {
  const { _id, interview_mode, questions, asked } = room;
  if (interview_mode !== 'copilot' || role !== 'interviewer') return;
  const questionId = await intelligence.recognizeQuestion({ questions, asked, text: body });
  if (questionId !== undefined) await noteAsked(_id, questionId);
}

/** Shows a stored message in the room, and acknowledges it to its sender. */
async function showStored(ctx: Context, room: Room, messageId: string, clientMessageId?: string): Promise<void> {
  const key = `message:${messageId}`;
  if (await hasFrame(streamOf(room), key)) return;
  const segment = await findSegment(room._id, messageId);
  if (!segment) return;
  const { role, text, at, question_id } = segment;
  const body = {
    message_id: messageId,
    role,
    body: text,
    timestamp: at.toISOString(),
    ...defined({ question_id }),
  };
  const ack = clientMessageId === undefined ? [] : [ackOf(messageId, clientMessageId, role as RoomRole)];
  await roomWriter(room, ctx.clock).appendAll([...ack, { type: 'message', body, key }]);
}

const ackOf = (message_id: string, client_message_id: string, to: RoomRole) => ({
  type: 'ack',
  body: { client_message_id, message_id, to },
  key: `ack:${message_id}`,
});

/** Suggestions are made from this many of the transcript's last messages. */
const lastSaid = 30;

/** Suggests next questions to the interviewer of a `copilot` interview. Best effort: a suggestion may be lost. */
async function propose(ctx: Context, room: Room, after: string): Promise<void> {
  if (room.interview_mode !== 'copilot') return;
  const { questions, asked, language } = room;
  const suggestions = await ctx.intelligence.suggest(
    { questions, asked, language, said: await readLast(room._id, lastSaid) },
    { about: { interview_id: room._id } },
  );
  await roomWriter(room, ctx.clock).appendAll(
    suggestions.map((suggestion, index) => {
      const suggestion_id = `${after}:${index}`;
      return {
        type: 'suggestion',
        body: { suggestion_id, ...suggestion, to: 'interviewer' },
        key: `suggestion:${suggestion_id}`,
      };
    }),
  );
}

/** A participant ends the interview. @throws Problem */
export async function endFromRoom(ctx: Context, roomId: string, role: RoomRole): Promise<void> {
  const room = await findRoom(roomId);
  if (!room || room.ended_at) throw over();
  if (!room.consented_at)
    throw new Problem('CONFLICT', { message: 'The interview has not begun: the candidate has not agreed yet.' });
  const reason = role === 'candidate' ? 'candidate_ended' : 'interviewer_ended';
  const finished = await finishRoom(roomId, reason, told(ctx, room.org_id, roomId));
  if (finished?.finished) await move(ctx, finished, endMove(finished.finished));
}
