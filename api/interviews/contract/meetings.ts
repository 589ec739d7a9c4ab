import { z } from 'zod';
import { cursor, id, line, moment, orNull, pageQuery, timestamp, timezone } from '../../base/contract/common.ts';
import {
  meetingStatuses,
  participationLevels,
  personalities,
  ttlDays,
} from '../../../models/rules/interviews/meeting.ts';
import { summaryModes } from '../../../models/rules/interviews/summary.ts';
import { transcriptBounds } from '../../../models/rules/interviews/transcript.ts';
import { operation } from '../../base/contract/operation.ts';

export { pageQuery };

const settings = {
  personality: z.enum(personalities),
  participation_level: z.enum(participationLevels),
  wake_word_enabled: z.boolean().meta({ description: 'Whether the bot listens for its name.' }),
  proactive_suggest: z.boolean().meta({ description: 'Whether the bot offers suggestions by itself.' }),
  timezone: timezone.meta({
    description: 'An IANA name such as `Europe/Berlin`: relative dates in the transcript are meant in this zone.',
  }),
};
const title = line(300);
const settingsBody = z.strictObject(settings).partial();

export const createMeetingBody = z.strictObject({
  title: title.optional().meta({ description: 'Without it, the transcript gives the title, in its own words.' }),
  ttl_days: z
    .number()
    .int()
    .min(ttlDays.min)
    .max(ttlDays.max)
    .optional()
    .meta({
      description: `Days after which the meeting is removed with all its data; ${ttlDays.default} unless told.`,
    }),
  started_at: moment.optional().meta({
    description:
      'When it began: ISO 8601 with a zone; “tomorrow” counts from it. Unless told, when the first thing in it was said.',
  }),
  settings: settingsBody.optional(),
  org_id: id.optional().meta({
    description:
      'An organization of yours that is told when the meeting ends and its summary is ready; your only one unless told.',
  }),
});
const renameMeetingBody = z.strictObject({ title });

const transcriptBody = z.strictObject({
  segments: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(100).meta({ description: 'Yours; a segment with an id that is known is left out.' }),
        speaker: line(200),
        text: z.string().min(1).max(transcriptBounds.charactersPerSegment),
        timestamp: moment.meta({ description: 'When it was said: ISO 8601 with a zone.' }),
        is_ai: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(transcriptBounds.segmentsPerRequest),
});

export const segment = z
  .object({ id: z.string(), speaker: z.string(), text: z.string(), timestamp, is_ai: z.boolean() })
  .meta({ id: 'Segment' });

const listed = {
  meeting_id: id,
  title: z.string(),
  status: z.enum(meetingStatuses),
  started_at: timestamp,
  ended_at: orNull(timestamp),
  participant_count: z.number().int(),
  has_summary: z.boolean(),
};
const meetingItem = z.object(listed).meta({ id: 'MeetingItem' });
const meetingList = z.object({ meetings: z.array(meetingItem), cursor });

const meetingRecord = z
  .object({
    ...listed,
    transcript: z.array(segment),
    participants: z.array(z.object({ name: z.string(), segments: z.number().int(), is_ai: z.boolean() })),
    metadata: z.object({
      segment_count: z.number().int(),
      character_count: z.number().int(),
      duration_seconds: z.number().int().meta({ description: 'From the first segment to the last.' }),
      title_generated: z.boolean(),
      updated_at: timestamp,
    }),
    settings: z.object(settings),
    ttl_days: z.number().int(),
    expires_at: timestamp,
  })
  .meta({ id: 'Meeting' });

export const transcriptReply = z.object({
  meeting_id: id,
  accepted: z.number().int().meta({ description: 'Segments that were new.' }),
  segment_count: z.number().int(),
});

const summaryQuery = z.object({
  mode: z.enum(summaryModes).optional().meta({ description: '`short` (4 to 6 sentences) unless told.' }),
  regenerate: z.enum(['true', 'false']).optional().meta({ description: 'Make it anew although one is kept.' }),
});
const summaryReply = z
  .object({
    meeting_id: id,
    mode: z.enum(summaryModes),
    summary: z.string(),
    key_points: z.array(z.string()),
    action_items: z.array(z.string()),
    generated_at: timestamp,
    generated_by: z.enum(['extractive', 'model']),
    cached: z.boolean(),
  })
  .meta({ id: 'MeetingSummary' });
const meetingRemovedReply = z.object({ meeting_id: id, deleted: z.literal(true) });

export const createMeeting = operation('createMeeting', 'POST /meetings', {
  body: createMeetingBody,
  reply: meetingRecord,
});
export const listMeetings = operation('listMeetings', 'GET /meetings', { query: pageQuery, reply: meetingList });
export const getMeeting = operation('getMeeting', 'GET /meetings/{id}', { reply: meetingRecord });
export const renameMeeting = operation('renameMeeting', 'PATCH /meetings/{id}', {
  body: renameMeetingBody,
  reply: meetingRecord,
});
export const deleteMeeting = operation('deleteMeeting', 'DELETE /meetings/{id}', { reply: meetingRemovedReply });
export const updateMeetingSettings = operation('updateMeetingSettings', 'PUT /meetings/{id}/settings', {
  body: settingsBody,
  reply: meetingRecord,
});
export const addTranscript = operation('addTranscript', 'POST /meetings/{id}/transcript', {
  body: transcriptBody,
  reply: transcriptReply,
});
export const endMeeting = operation('endMeeting', 'POST /meetings/{id}/end', { reply: meetingRecord });
export const summarizeMeeting = operation('summarizeMeeting', 'GET /meetings/{id}/summary', {
  query: summaryQuery,
  reply: summaryReply,
});
