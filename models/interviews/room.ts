/**
 * The rooms in which interviews take place: one per interview, with the same id. A room stores the progress of the
 * interview. The transcript stores what is said; the frame log stores what the sockets receive. Each role has a secret
 * link, which is found by its hash and stored encrypted so that members can see it again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
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
import { defined } from '../rules/base/defined.ts';
import { expiryOf } from '../rules/base/retention.ts';

export type Pass = { role: RoomRole; hash: string; sealed: string };
export const RoomModel = defineModel(
  'Room',
  'rooms',
  {
    /** The interview's id. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    interview_mode: oneOf(interviewModes),
    /** The language of the room's own messages. */
    language: oneOf(interviewLanguages),
    role_title: string,
    candidate_name: optional(string),
    questions: list(mixed<Question>()),
    passes: list(mixed<Pass>()),
    /** How many candidates of the interview had been replaced when the candidate's pass was made; absent: none. */
    replaced: optional(number),
    /** When the room opened; before that, its links exist, but nobody may enter. */
    opened_at: optional(date),
    /** When the candidate agreed to the recording; nothing is recorded before. */
    consented_at: optional(date),
    refused_at: optional(date),
    /**
     * In a `solo` interview, the number of the current question, from 1. After the last answer, it is one more than the
     * number of questions.
     */
    open: number,
    /** Which message answered which question, in order. */
    answers: list(mixed<{ message_id: string; question: number }>()),
    /** The ids of the questions that the interviewer has asked. */
    asked: list(string),
    /**
     * The size of the transcript as reserved by `admitMessage`. It may exceed the stored size, because a request may
     * crash after it has reserved space.
     */
    size: embedded({
      messages: number,
      characters: number,
    }),
    /** Why the interview should end. Only the interview's workflow ends the interview. */
    finished: optional(oneOf(endReasons)),
    ended_at: optional(date),
    end_reason: optional(oneOf(endReasons)),
    /** When the record expires, some days after the end. */
    expires_at: optional(date),
    /**
     * Intents to signal the interview's workflow after a consent, a refusal or an end. An intent is removed once the
     * workflow has handled the status change.
     */
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
  '_id' | 'org_id' | 'mode' | 'interview_mode' | 'language' | 'role_title' | 'candidate_name' | 'questions' | 'replaced'
>;

/** Opens the room of an interview, with a link for each role. Idempotent. */
export async function openRoom(order: RoomOrder, box: SecretBox, now: Date): Promise<Room> {
  const { _id, ...fields } = order;
  await prepareRoom(order, box);
  // The configuration may have changed since the links were created, so the room gets the current configuration.
  await rooms().updateOne(
    { ...standing(_id), opened_at: { $exists: false } },
    { $set: defined({ ...fields, opened_at: now }) as Partial<Room> },
  );
  return (await findRoom(_id))!;
}

/**
 * Creates the room with its links before it opens. If the candidate was replaced after that, the room gets a new link
 * for the candidate, unless it is open. Idempotent; an outdated order changes nothing.
 */
export async function prepareRoom(order: RoomOrder, { seal }: SecretBox): Promise<Room> {
  const passOf = (role: RoomRole): Pass => {
    const token = randomBytes(24).toString('base64url');
    return { role, hash: hashOf(token), sealed: seal(token, passPlace(order._id, role)) };
  };
  const passes = roomRoles.map((role) => passOf(role));
  const { _id, ...fields } = order;
  const begun = { open: 0, answers: [], asked: [], size: { messages: 0, characters: 0 } };
  const prepared = await rooms().findOneAndUpdate(
    { _id },
    { $setOnInsert: defined({ ...fields, ...begun, passes }) as Partial<Room> },
    { upsert: true, returnDocument: 'after' },
  );
  const { replaced = 0 } = order;
  if ((prepared!.replaced ?? 0) >= replaced) return prepared!;
  // The earlier candidate may still have the old link, which must not let that person in.
  await rooms().updateOne(
    {
      ...standing(_id),
      opened_at: { $exists: false },
      replaced: { $not: { $gte: replaced } },
      'passes.role': 'candidate',
    },
    { $set: { 'passes.$': passOf('candidate'), replaced } },
  );
  return (await findRoom(_id)) ?? prepared!;
}

export const findRoom = (roomId: string): Promise<Room | null> => rooms().findOne({ _id: roomId });

/** The room and the role of a link; null for an unknown link. */
export async function findByToken(token: string): Promise<{ room: Room; role: RoomRole } | null> {
  const hash = hashOf(token);
  const room = await rooms().findOne({ 'passes.hash': hash });
  const role = room?.passes.find((pass) => pass.hash === hash)?.role;
  return room && role ? { room, role } : null;
}

/** The tokens of the links of a room, for the organization's members. */
export const tokensOf = (
  { _id, passes }: Pick<Room, '_id' | 'passes'>,
  { open }: SecretBox,
): Record<RoomRole, string> =>
  Object.fromEntries(passes.map(({ role, sealed }) => [role, open(sealed, passPlace(_id, role))])) as Record<
    RoomRole,
    string
  >;

/** The given rooms that have ended or do not exist. */
export async function endedAmong(roomIds: readonly string[]): Promise<string[]> {
  const found = await rooms()
    .find({ _id: { $in: [...roomIds] }, ended_at: { $exists: false } }, { projection: { _id: 1 } })
    .toArray();
  const open = new Set(found.map(({ _id }) => _id));
  return roomIds.filter((id) => !open.has(id));
}

/** Stores the candidate's consent. Null when the room has ended, or the candidate refused before. */
export async function consent(roomId: string, now: Date, intent: Intent): Promise<Room | null> {
  await rooms().updateOne(
    { ...standing(roomId), consented_at: { $exists: false }, refused_at: { $exists: false } },
    { $set: { consented_at: now }, $push: { pending: intent } },
  );
  return rooms().findOne({ ...standing(roomId), consented_at: { $exists: true } });
}

/** Stores the candidate's refusal. Null when the room has ended, or the candidate agreed before. */
export async function refuseConsent(roomId: string, now: Date, intent: Intent): Promise<Room | null> {
  return rooms().findOneAndUpdate(
    { ...standing(roomId), consented_at: { $exists: false } },
    { $set: { refused_at: now }, $push: { pending: intent } },
    { returnDocument: 'after' },
  );
}

/** Makes the first question the current one. */
export async function beginQuestions(roomId: string): Promise<Room | null> {
  await rooms().updateOne({ ...standing(roomId), open: 0 }, { $set: { open: 1 } });
  return rooms().findOne(standing(roomId));
}

/**
 * Stores a message as the answer to the current question, and moves on to the next question. Null when the question was
 * answered already, or the room has ended or should end. `intent`: stored with the last answer.
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

/** Reserves space in the transcript for a message; false when the transcript has reached a limit. */
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

export async function noteAsked(roomId: string, questionId: string): Promise<void> {
  await rooms().updateOne({ _id: roomId }, { $addToSet: { asked: questionId } });
}

/** Stores why the interview should end; the first reason is kept. */
export async function finishRoom(roomId: string, reason: EndReason, intent: Intent): Promise<Room | null> {
  await rooms().updateOne(
    { ...standing(roomId), finished: { $exists: false } },
    { $set: { finished: reason }, $push: { pending: intent } },
  );
  return rooms().findOne({ _id: roomId });
}

/** Removes the given intents of the room, because the interview's workflow has handled their status changes. */
export async function settleMoves({ _id, pending = [] }: Pick<Room, '_id' | 'pending'>): Promise<void> {
  if (pending.length === 0) return;
  const keys = pending.map(({ key }) => key!);
  await rooms().updateOne({ _id }, { $pull: { pending: { key: { $in: keys } } } });
}

export const streamOf = ({ _id, org_id }: Pick<Room, '_id' | 'org_id'>) => ({ orgId: org_id, stream: _id });

export const roomWriter = (room: Pick<Room, '_id' | 'org_id'>, clock: () => Date): FrameWriter =>
  frameWriter(
    {
      ...streamOf(room),
      keptUntil: (at) => ({ expires_at: expiryOf('rooms', at) }),
    },
    clock,
  );

/** Ends a room: the sockets in it receive the reason, and its links stop working. Idempotent. */
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
    $set: { ended_at: now, end_reason: reason, expires_at: expiryOf('rooms', now) },
  });
}

/** Deletes a room with its frames. Idempotent. */
export async function removeRoom(orgId: string, roomId: string): Promise<void> {
  await rooms().deleteOne({ _id: roomId });
  await collectionOf(FrameModel).deleteMany({ org_id: orgId, stream: roomId });
}
