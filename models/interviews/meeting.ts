/**
 * Meetings. A meeting belongs to the person who created it: `org_id` holds this person's user id, and nobody else finds
 * the meeting. A meeting that is being removed is hidden from all queries.
 */
import { removeSegments } from './transcript.ts';
import { eraseCopies } from '../base/copies.ts';
import { changerOf, collectionOf, defineModel, newest, olderThan, type RecordOf } from '../base/define.ts';
import { boolean, date, flag, list, mixed, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { meetingStatuses, type MeetingSettings } from '../rules/interviews/meeting.ts';
import type { SummaryMode, SummaryText } from '../rules/interviews/summary.ts';
import { transcriptBounds, transcriptSize, type TranscriptSize } from '../rules/interviews/transcript.ts';
import { defined } from '../rules/base/defined.ts';

const startedBy = ['creation', 'speech', 'member'] as const;

export type StoredSummary = SummaryText & {
  /** The version of the transcript that was summarized. */
  version: number;
  generated_by: 'extractive' | 'model';
  generated_at: Date;
};

export const MeetingModel = defineModel(
  'Meeting',
  'meetings',
  {
    _id: string,
    /**
     * The owner's user id. The field is called `org_id` because every record that starts workflows needs a field of
     * this name (`Launchable`).
     */
    org_id: string,
    mode: oneOf(['live']),
    title: string,
    /** Whether a person chose the title; otherwise it is derived from the transcript. */
    title_given: boolean,
    /** The version of the transcript from which the title was derived. */
    title_version: number,
    status: oneOf(meetingStatuses),
    settings: mixed<MeetingSettings>(),
    ttl_days: number,
    started_at: date,
    /** What set `started_at`: the creation, the first speech, or a member. */
    started_by: oneOf(startedBy),
    ended_at: optional(date),
    expires_at: date,
    updated_at: date,
    /**
     * The size of the transcript as reserved by `admitSpeech`. It may exceed the stored size, because a request may
     * crash after it has reserved space.
     */
    size: transcriptSize,
    speakers: list(string),
    summaries: optional(mixed<Partial<Record<SummaryMode, StoredSummary>>>()),
    /** The organization whose members are notified, as the owner chose; absent: the owner's only organization. */
    told_org: optional(string),
    /** True once the removal is decided; some of the meeting's data may still be stored. */
    removing: flag,
    pending: pendingField,
  },
  [{ fields: { org_id: 1, _id: -1 } }, pendingIndex],
);
export type Meeting = RecordOf<typeof MeetingModel>;

const change = changerOf(MeetingModel);
const standing = { removing: { $exists: false } };

export async function createMeeting(meeting: Meeting): Promise<Meeting> {
  await collectionOf(MeetingModel).insertOne(defined(meeting));
  return meeting;
}

export async function findMeeting(owner: string, meetingId: string): Promise<Meeting | null> {
  return collectionOf(MeetingModel).findOne({ _id: meetingId, org_id: owner, ...standing });
}

/** A person's meetings, newest first; `after` is the last id of the previous page. */
export async function listMeetings(owner: string, limit: number, after: string | undefined): Promise<Meeting[]> {
  const which = { org_id: owner, ...standing, ...olderThan(after) };
  return newest(collectionOf(MeetingModel).find(which), limit);
}

/** Renames a meeting; null when there is no such meeting. */
export const renameMeeting = (owner: string, meetingId: string, title: string, now: Date) =>
  change(owner, meetingId, { $set: { title, title_given: true, updated_at: now } }, standing);

/**
 * Changes only the given settings, so that concurrent changes of different settings are all kept. Null when no such
 * meeting is active.
 */
export async function changeSettings(
  owner: string,
  meetingId: string,
  given: Partial<MeetingSettings>,
  now: Date,
): Promise<Meeting | null> {
  const fields = Object.fromEntries(Object.entries(given).map(([name, value]) => [`settings.${name}`, value]));
  return change(owner, meetingId, { $set: { ...fields, updated_at: now } }, { ...standing, status: 'active' });
}

/**
 * Ends a meeting; a meeting that has ended keeps its end time. Null when there is no such meeting. `intent`: the intent
 * to announce the end; stored only when this call ends the meeting.
 */
export async function endMeeting(
  owner: string,
  meetingId: string,
  now: Date,
  intent: Intent,
): Promise<{ meeting: Meeting; ended: boolean } | null> {
  const meeting = await change(
    owner,
    meetingId,
    { $set: { status: 'completed', ended_at: now, updated_at: now }, $push: { pending: intent } },
    { ...standing, status: 'active' },
  );
  if (meeting) return { meeting, ended: true };
  const before = await findMeeting(owner, meetingId);
  return before && { meeting: before, ended: false };
}

/**
 * Reserves space in the transcript for further speech. Null when there is no such meeting, `full` when its transcript
 * has reached a limit.
 */
export async function admitSpeech(
  owner: string,
  meetingId: string,
  { segments, characters }: TranscriptSize,
  speakers: readonly string[],
  now: Date,
): Promise<Meeting | 'full' | null> {
  const bounds = transcriptBounds;
  const all = { $setUnion: ['$speakers', { $literal: speakers }] };
  const fits = {
    'size.segments': { $lte: bounds.segments - segments },
    'size.characters': { $lte: bounds.characters - characters },
    $expr: { $lte: [{ $size: all }, bounds.speakers] },
  };
  const admitted = await change(
    owner,
    meetingId,
    {
      $inc: { 'size.segments': segments, 'size.characters': characters },
      $addToSet: { speakers: { $each: [...speakers] } },
      $set: { updated_at: now },
    },
    { ...standing, ...fits },
  );
  if (admitted) return admitted;
  return (await findMeeting(owner, meetingId)) ? 'full' : null;
}

/** Sets the start of the meeting to its first speech, unless a member has set it. */
export async function noteSpeechAt(meetingId: string, at: Date): Promise<void> {
  const begun = { $cond: [{ $eq: ['$started_by', 'speech'] }, { $min: ['$started_at', at] }, at] };
  await collectionOf(MeetingModel).updateOne({ _id: meetingId, started_by: { $ne: 'member' } }, [
    { $set: { started_at: begun, started_by: 'speech' } },
  ]);
}

/** Sets the title derived from this version of the transcript, unless a person or a later version has set one. */
export async function setMadeTitle(meetingId: string, title: string, version: number): Promise<void> {
  await collectionOf(MeetingModel).updateOne(
    { ...standing, _id: meetingId, title_given: false, title_version: { $lte: version } },
    { $set: { title, title_version: version } },
  );
}

/**
 * Stores a summary; false when a summary of a later version of the transcript is stored. `intent`: the intent to
 * announce the summary.
 */
export async function keepSummary(
  meetingId: string,
  mode: SummaryMode,
  summary: StoredSummary,
  intent?: Intent,
): Promise<boolean> {
  const path = `summaries.${mode}`;
  const { matchedCount } = await collectionOf(MeetingModel).updateOne(
    {
      ...standing,
      _id: meetingId,
      $or: [{ [path]: { $exists: false } }, { [`${path}.version`]: { $lte: summary.version } }],
    },
    { $set: { [path]: summary }, ...(intent ? { $push: { pending: intent } } : {}) },
  );
  return matchedCount === 1;
}

/**
 * Decides the removal: from now on the meeting is hidden, and what was said is removed from its record. Null when there
 * is no such meeting. `intent`: the intent to signal the workflow that deletes the transcript, all copies and the
 * record.
 */
export async function beginRemoval(meetingId: string, owner?: string, intent?: Intent): Promise<Meeting | null> {
  return collectionOf(MeetingModel).findOneAndUpdate(
    { _id: meetingId, ...(owner === undefined ? {} : { ...standing, org_id: owner }) },
    {
      $set: { removing: true, title: '', speakers: [] },
      $unset: { summaries: 1 },
      ...(intent ? { $push: { pending: intent } } : {}),
    },
    { returnDocument: 'after' },
  );
}

/** Deletes the meeting's data in other collections. Idempotent. */
export async function removeMeetingContents(meetingId: string): Promise<void> {
  await removeSegments(meetingId);
  await eraseCopies([meetingId]);
}

/** Deletes the record of a meeting whose removal was decided. */
export async function forgetMeeting(meetingId: string): Promise<void> {
  await collectionOf(MeetingModel).deleteOne({ _id: meetingId, removing: true });
}
