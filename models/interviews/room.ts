/**
 * Rooms in which interviews take place, one an interview, under the interview's id. A room keeps where the interview is; what
 * is said there is the transcript's, and what sockets show is the frame log's. A link is a secret of its role: it is looked up
 * by its hash, and kept sealed so that members can read it again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { collectionOf, defined, defineModel, type RecordOf } from '../base/define.ts';
import { date, embedded, list, mixed, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { sealedRecords } from '../base/reseal.ts';
import type { Place, SecretBox } from '../base/secretbox.ts';
import { FrameModel, frameWriter, type FrameWriter } from '../live/frame.ts';
import { modes } from '../rules/access/keys.ts';
import { interviewModes } from '../rules/interviews/interview.ts';
import type { Question } from '../rules/interviews/questions.ts';
import { interviewLanguages } from '../rules/language/language.ts';
import {
  endMessage,
  endReasons,
  roomBounds,
  roomRoles,
  type EndReason,
  type RoomRole,
} from '../rules/interviews/room.ts';

export type Pass = { role: RoomRole; hash: string; sealed: string };
const dayMs = 86_400_000;
/** For so long sockets can be given what they missed, and an old link is told that it is over. */
const keptDays = 7;

export const RoomModel = defineModel(
  'Room',
  'rooms',
  {
    /** The interview's. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    interview_mode: oneOf(interviewModes),
    /** What the room itself says is said in it; English unless told. */
    language: optional(oneOf(interviewLanguages)),
    role_title: string,
    candidate_name: optional(string),
    questions: list(mixed<Question>()),
    passes: list(mixed<Pass>()),
    /** Absent while the interview is scheduled: its links are known, and nobody is let in. */
    opened_at: optional(date),
    /** When the candidate agreed to the recording. Nothing is recorded before. */
    consented_at: optional(date),
    refused_at: optional(date),
    /** Of a `solo` interview: the number of the question that is open, from 1; one more than there are when all are answered. */
    open: number,
    /** Answers in their order: which message answered which question. */
    answers: list(mixed<{ message_id: string; question: number }>()),
    /** The questions that an interviewer has asked. */
    asked: list(string),
    /** What was taken in, at least as much as is stored: a request that died may have stored nothing. */
    size: embedded({
      messages: number,
      characters: number,
    }),
    /** Why the room itself is done; the interview's workflow decides when it ends. */
    finished: optional(oneOf(endReasons)),
    ended_at: optional(date),
    end_reason: optional(oneOf(endReasons)),
    /** When the record goes, some time after the end. */
    expires_at: optional(date),
    /** To have the interview's workflow read what was agreed, refused or ended here, until it was asked for the move. */
    pending: pendingField,
  },
  [{ fields: { 'passes.hash': 1 }, unique: true }, { fields: { expires_at: 1 }, expireAfterSeconds: 0 }, pendingIndex],
);
export type Room = RecordOf<typeof RoomModel>;

const rooms = () => collectionOf(RoomModel);
const standing = (roomId: string) => ({ _id: roomId, ended_at: { $exists: false } });
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

const passPlace = (roomId: string, role: RoomRole): Place => ({ field: `rooms.passes.${role}`, record: roomId });

export const roomSeals = sealedRecords(RoomModel, ({ _id, passes }) =>
  passes.map(({ role, sealed }, index) => ({ path: `passes.${index}.sealed`, sealed, place: passPlace(_id, role) })),
);

export type RoomOrder = Pick<
  Room,
  '_id' | 'org_id' | 'mode' | 'interview_mode' | 'language' | 'role_title' | 'candidate_name' | 'questions'
>;

/** Opens the room of an interview, with a link for each role; one that was opened before stays as it is. */
export async function openRoom(order: RoomOrder, box: SecretBox, now: Date): Promise<Room> {
  const { _id, ...fields } = order;
  await prepareRoom(order, box);
  // What was configured after the links were made counts.
  await rooms().updateOne(
    { ...standing(_id), opened_at: { $exists: false } },
    { $set: defined({ ...fields, opened_at: now }) as Partial<Room> },
  );
  return (await findRoom(_id))!;
}

/** Makes the links of an interview's room before it opens, once. */
export async function prepareRoom(order: RoomOrder, { seal }: SecretBox): Promise<Room> {
  const passes = roomRoles.map((role): Pass => {
    const token = randomBytes(24).toString('base64url');
    return { role, hash: hashOf(token), sealed: seal(token, passPlace(order._id, role)) };
  });
  const { _id, ...fields } = order;
  const begun = { open: 0, answers: [], asked: [], size: { messages: 0, characters: 0 } };
  const opened = await rooms().findOneAndUpdate(
    { _id },
    { $setOnInsert: defined({ ...fields, ...begun, passes }) as Partial<Room> },
    { upsert: true, returnDocument: 'after' },
  );
  return opened!;
}

export const findRoom = (roomId: string): Promise<Room | null> => rooms().findOne({ _id: roomId });

/** The room that a link leads to, and as whom; null for one that leads nowhere. */
export async function findByToken(token: string): Promise<{ room: Room; role: RoomRole } | null> {
  const hash = hashOf(token);
  const room = await rooms().findOne({ 'passes.hash': hash });
  const role = room?.passes.find((pass) => pass.hash === hash)?.role;
  return room && role ? { room, role } : null;
}

/** The links of a room, for the members of its organization. */
export const tokensOf = (
  { _id, passes }: Pick<Room, '_id' | 'passes'>,
  { open }: SecretBox,
): Record<RoomRole, string> =>
  Object.fromEntries(passes.map(({ role, sealed }) => [role, open(sealed, passPlace(_id, role))])) as Record<
    RoomRole,
    string
  >;

/** Which of these rooms have ended, or are gone. */
export async function endedAmong(roomIds: readonly string[]): Promise<string[]> {
  const found = await rooms()
    .find({ _id: { $in: [...roomIds] }, ended_at: { $exists: false } }, { projection: { _id: 1 } })
    .toArray();
  const open = new Set(found.map(({ _id }) => _id));
  return roomIds.filter((id) => !open.has(id));
}

/** The candidate agreed. Null when the room has ended, or the candidate refused before. */
export async function consent(roomId: string, now: Date, intent: Intent): Promise<Room | null> {
  await rooms().updateOne(
    { ...standing(roomId), consented_at: { $exists: false }, refused_at: { $exists: false } },
    { $set: { consented_at: now }, $push: { pending: intent } },
  );
  return rooms().findOne({ ...standing(roomId), consented_at: { $exists: true } });
}

/** The candidate did not agree. Null when the room has ended, or the candidate agreed before. */
export async function refuseConsent(roomId: string, now: Date, intent: Intent): Promise<Room | null> {
  return rooms().findOneAndUpdate(
    { ...standing(roomId), consented_at: { $exists: false } },
    { $set: { refused_at: now }, $push: { pending: intent } },
    { returnDocument: 'after' },
  );
}

/** Opens the first question. */
export async function beginQuestions(roomId: string): Promise<Room | null> {
  await rooms().updateOne({ ...standing(roomId), open: 0 }, { $set: { open: 1 } });
  return rooms().findOne(standing(roomId));
}

/**
 * Takes a message as the answer to the question that is open; the next one is open then. Null when that question is not open
 * any more, because this message or another one has answered it, or the room is over. `intent`: stored with the last answer.
 */
export async function takeAnswer(room: Room, messageId: string, intent: Intent): Promise<Room | null> {
  const { _id, open, questions } = room;
  const isLast = open === questions.length;
  return rooms().findOneAndUpdate(
    { ...standing(_id), open, finished: { $exists: false }, 'answers.message_id': { $ne: messageId } },
    {
      $set: { open: open + 1, ...(isLast ? { finished: 'all_answered' as const } : {}) },
      $push: { answers: { message_id: messageId, question: open }, ...(isLast ? { pending: intent } : {}) },
    },
    { returnDocument: 'after' },
  );
}

/** Makes room for a message. False when the room is full. */
export async function admitMessage(roomId: string, characters: number): Promise<boolean> {
  const { matchedCount } = await rooms().updateOne(
    {
      _id: roomId,
      'size.messages': { $lt: roomBounds.messages },
      'size.characters': { $lte: roomBounds.characters - characters },
    },
    { $inc: { 'size.messages': 1, 'size.characters': characters } },
  );
  return matchedCount === 1;
}

/** Notes that an interviewer has asked a question. */
export async function noteAsked(roomId: string, questionId: string): Promise<void> {
  await rooms().updateOne({ _id: roomId }, { $addToSet: { asked: questionId } });
}

/** Somebody ends the interview. The first reason counts. */
export async function finishRoom(roomId: string, reason: EndReason, intent: Intent): Promise<Room | null> {
  await rooms().updateOne(
    { ...standing(roomId), finished: { $exists: false } },
    { $set: { finished: reason }, $push: { pending: intent } },
  );
  return rooms().findOne({ _id: roomId });
}

/** Notes that the interview's workflow was asked for the moves that these intents are for. */
export async function settleMoves({ _id, pending = [] }: Pick<Room, '_id' | 'pending'>): Promise<void> {
  if (pending.length === 0) return;
  const keys = pending.map(({ key }) => key!);
  await rooms().updateOne({ _id }, { $pull: { pending: { key: { $in: keys } } } });
}

/** Writes to the room's frame log. */
export const roomWriter = (room: Pick<Room, '_id' | 'org_id'>, clock: () => Date): FrameWriter =>
  frameWriter(
    {
      orgId: room.org_id,
      stream: room._id,
      keptUntil: (at) => ({ expires_at: new Date(at.getTime() + keptDays * dayMs) }),
    },
    clock,
  );

/** Ends a room: everybody in it is told why, and its links lead nowhere any more. Safe to repeat. */
export async function closeRoom(roomId: string, reason: EndReason, clock: () => Date): Promise<void> {
  const room = await rooms().findOne(standing(roomId));
  if (!room) return;
  await roomWriter(room, clock).append({
    type: 'ended',
    body: { reason, message: endMessage(reason, room.language) },
    key: 'ended',
  });
  const now = clock();
  await rooms().updateOne(standing(roomId), {
    $set: { ended_at: now, end_reason: reason, expires_at: new Date(now.getTime() + keptDays * dayMs) },
  });
}

/** Removes a room with what its sockets showed. Safe to repeat. */
export async function removeRoom(roomId: string): Promise<void> {
  await rooms().deleteOne({ _id: roomId });
  await collectionOf(FrameModel).deleteMany({ stream: roomId });
}
