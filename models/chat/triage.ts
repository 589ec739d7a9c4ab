/** Tags, priority, snooze and notes of a conversation. Only members see them, never customers. */
import type mongoose from 'mongoose';
import {
  ConversationModel,
  findConversation,
  type Conversation,
  type Note,
  type Occasion,
  type Snoozed,
} from './conversation.ts';
import { changerOf } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import type { Intent } from '../base/pending.ts';
import type { Priority } from '../rules/base/priority.ts';
import { noSuch, Problem } from '../rules/base/errors.ts';
import { maxNotes } from '../rules/chat/triage.ts';

export type Ref = { orgId: string; convId: string };
type Update = mongoose.mongo.UpdateFilter<Conversation>;

const change = changerOf(ConversationModel);

async function changed({ orgId, convId }: Ref, update: Update): Promise<Conversation> {
  const done = await change(orgId, convId, update);
  if (!done) throw gone();
  return done;
}

const gone = (): Problem => noSuch('conversation');

/** Replaces the tags of a conversation. @throws Problem NOT_FOUND, as do all functions here except `wake`. */
export const setTags = (ref: Ref, tags: string[], now: Date): Promise<Conversation> =>
  changed(ref, {
    ...(tags.length > 0 ? { $set: { tags } } : { $unset: { tags: '' } }),
    $max: { updated_at: now },
  });

export const setPriority = (ref: Ref, priority: Priority | null, now: Date): Promise<Conversation> =>
  changed(ref, {
    ...(priority === null ? { $unset: { priority: '' } } : { $set: { priority } }),
    $max: { updated_at: now },
  });

/** `intent`: starts the workflow that ends the snooze when its time has come. */
export const snooze = (ref: Ref, snoozed: Snoozed, now: Date, intent: Intent): Promise<Conversation> =>
  changed(ref, { $set: { snoozed }, $max: { updated_at: now }, $push: { pending: intent } });

export const unsnooze = (ref: Ref, now: Date): Promise<Conversation> =>
  changed(ref, { $max: { updated_at: now }, $unset: { snoozed: '' } });

/**
 * Ends a snooze whose time has come, and stores a notice for the assignee, or else for the member who snoozed. The
 * notice names this member in any case, because the assignee may have left. Null when the snooze was ended or changed
 * meanwhile.
 */
export function wake(
  { _id: convId, org_id: orgId, assigned_to }: Conversation,
  { until, by }: Snoozed,
  now: Date,
): Promise<Conversation | null> {
  const untold: Occasion = { event_id: newId('event'), kind: 'snooze_over', again: true, to: assigned_to ?? by, by };
  const update: Update = { $max: { updated_at: now }, $unset: { snoozed: '' }, $push: { untold } };
  return change(orgId, convId, update, { 'snoozed.until': until });
}

/** Stores a note, and a notice for each mentioned member. @throws Problem CONFLICT when there are too many notes. */
export async function addNote({ orgId, convId }: Ref, note: Note, intent: Intent): Promise<Conversation> {
  const mentioned = note.mentions.map((to): Occasion => ({
    event_id: newId('event'),
    kind: 'mentioned',
    again: true,
    to,
    by: note.author,
  }));
  const done = await change(
    orgId,
    convId,
    {
      $max: { updated_at: note.at },
      $push: {
        notes: note,
        ...(mentioned.length > 0 ? { untold: { $each: mentioned }, pending: intent } : {}),
      },
    },
    { [`notes.${maxNotes - 1}`]: { $exists: false } },
  );
  if (done) return done;
  if (!(await findConversation(orgId, convId))) throw gone();
  throw new Problem('CONFLICT', { message: `A conversation may have ${maxNotes} notes; remove one.` });
}

export const removeNote = (ref: Ref, noteId: string, now: Date): Promise<Conversation> =>
  changed(ref, { $max: { updated_at: now }, $pull: { notes: { note_id: noteId } } });
