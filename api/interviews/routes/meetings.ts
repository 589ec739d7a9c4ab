/**
 * Routes of meetings. Only the user who created a meeting can read or change it. workflows/interviews/meeting.ts
 * removes a meeting when its retention period ends.
 */
import { jwt } from '../../access/auth.ts';
import * as contract from '../contract/meetings.ts';
import { launch, startSaved } from '../../../workflows/start.ts';
import { paged } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { foundMeeting, makeTitle, provideSummary, takeSpeech, viewItem, viewMeeting } from '../meeting.ts';
import { newId } from '../../../models/base/ids.ts';
import { intentFor } from '../../../models/base/pending.ts';
import {
  beginRemoval,
  changeSettings,
  createMeeting,
  endMeeting,
  listMeetings,
  MeetingModel,
  renameMeeting,
  removeMeetingContents,
  type Meeting,
} from '../../../models/interviews/meeting.ts';
import { organizationIdsOf } from '../../../models/access/organization.ts';
import { invalid, noSuch, Problem, sought } from '../../../models/rules/base/errors.ts';
import { announceWork } from '../../../models/rules/events/work.ts';
import { defaultSettings, expiryOf, ttlDays, untitled } from '../../../models/rules/interviews/meeting.ts';
import { momentOf } from '../../../models/rules/interviews/transcript.ts';
import { meetingWork } from '../../../models/rules/interviews/work.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** The largest request with a transcript, in bytes: about a thousand segments of usual length. */
const maxTranscriptBytes = 4 * 1024 * 1024;

/** @throws Problem VALIDATION */
function startOf(text: string, now: Date): Date {
  const at = momentOf(text, ['body', 'started_at']);
  if (at.getTime() <= now.getTime() + maxAheadMs) return at;
  throw invalid(['body', 'started_at'], 'must not lie more than a day ahead');
}
/** A meeting's start may be this far in the future: one day, because clocks and time zones differ. */
const maxAheadMs = 86_400_000;

export const meetingRoutes = [
  route(contract.createMeeting, {
    summary: 'Begin a meeting. It is yours alone.',
    auth: jwt,
    status: 201,
    errors: ['NOT_FOUND'],
    async handle({ body, principal: { userId } }, ctx) {
      const now = ctx.clock();
      const { org_id: told } = body;
      if (told !== undefined && !(await organizationIdsOf(userId)).includes(told)) throw noSuch('organization');
      const days = body.ttl_days ?? ttlDays.default;
      const started = body.started_at === undefined ? undefined : startOf(body.started_at, now);
      const record: Meeting = {
        _id: newId('meeting'),
        org_id: userId,
        mode: 'live',
        title: body.title ?? untitled(started ?? now),
        title_given: body.title !== undefined,
        title_version: 0,
        status: 'active',
        settings: { ...defaultSettings, ...defined(body.settings ?? {}) },
        ttl_days: days,
        started_at: started ?? now,
        started_by: started ? 'member' : 'creation',
        expires_at: expiryOf(now, days),
        updated_at: now,
        size: { segments: 0, characters: 0 },
        speakers: [],
        ...defined({ told_org: told }),
      };
      await launch(ctx, MeetingModel, [meetingWork(record)], ([intent]) =>
        createMeeting({ ...record, pending: [intent] }),
      );
      return viewMeeting(record);
    },
  }),
  route(contract.listMeetings, {
    summary: 'Your meetings, the newest first.',
    auth: jwt,
    async handle({ query, principal: { userId } }) {
      const { entries, cursor } = await paged(query, (limit, after) => listMeetings(userId, limit, after));
      return { meetings: entries.map(viewItem), cursor };
    },
  }),
  route(contract.getMeeting, {
    summary: 'One meeting with its transcript, participants and settings.',
    auth: jwt,
    async handle({ params: { id }, principal: { userId } }) {
      return viewMeeting(await foundMeeting(userId, id));
    },
  }),
  route(contract.renameMeeting, {
    summary: 'Change the title; from then on the transcript no longer gives it.',
    auth: jwt,
    async handle({ params: { id }, body: { title }, principal: { userId } }, ctx) {
      return viewMeeting(await sought(renameMeeting(userId, id, title, ctx.clock()), 'meeting'));
    },
  }),
  route(contract.deleteMeeting, {
    summary: 'Remove a meeting with its transcript, summaries and tasks, at once and for good.',
    auth: jwt,
    async handle({ params: { id }, principal: { userId } }, ctx) {
      const intent = intentFor(meetingWork(await foundMeeting(userId, id), { removed: true }), ctx.clock());
      const record = await sought(beginRemoval(id, userId, intent), 'meeting');
      await removeMeetingContents(id);
      await ctx.hooks.meetingRemoved(ctx, id, userId);
      await startSaved(ctx, MeetingModel, record, [intent]);
      return { meeting_id: id, deleted: true as const };
    },
  }),
  route(contract.updateMeetingSettings, {
    summary: 'Change how the bot behaves in an active meeting; settings that are left out stay.',
    auth: jwt,
    async handle({ params: { id }, body, principal: { userId } }, ctx) {
      const record = await changeSettings(userId, id, defined(body), ctx.clock());
      if (record) return viewMeeting(record);
      await foundMeeting(userId, id);
      throw new Problem('CONFLICT', { message: 'The meeting has ended, so its settings no longer change.' });
    },
  }),
  route(contract.addTranscript, {
    summary: 'Add what was said. A segment whose id is known is left out, so a request can be repeated.',
    auth: jwt,
    maxBytes: maxTranscriptBytes,
    async handle({ params: { id }, body: { segments }, principal: { userId } }, ctx) {
      const said = segments.map(({ timestamp, is_ai = false, ...rest }, index) => ({
        ...rest,
        is_ai,
        at: momentOf(timestamp, ['body', 'segments', index, 'timestamp']),
      }));
      const { accepted, count } = await takeSpeech(ctx, userId, id, said);
      return { meeting_id: id, accepted, segment_count: count };
    },
  }),
  route(contract.endMeeting, {
    summary: 'End a meeting; one that has ended stays as it is.',
    auth: jwt,
    async handle({ params: { id }, principal: { userId } }, ctx) {
      const now = ctx.clock();
      const about = { owner: userId, meetingId: id, event: 'meeting_ended', version: 0 } as const;
      const intent = intentFor(announceWork(about), now);
      const { meeting, ended } = await sought(endMeeting(userId, id, now, intent), 'meeting');
      await makeTitle(ctx, meeting);
      if (ended) await startSaved(ctx, MeetingModel, meeting, [intent]);
      return viewMeeting(await foundMeeting(userId, id));
    },
  }),
  route(contract.summarizeMeeting, {
    summary: 'The summary of the transcript, kept until the transcript grows.',
    auth: jwt,
    limit: 'queries',
    errors: ['NO_TRANSCRIPT', 'UNAVAILABLE'],
    async handle({ params: { id }, query, principal: { userId } }, ctx) {
      const mode = query.mode ?? 'short';
      const summary = await provideSummary(ctx, await foundMeeting(userId, id), mode, query.regenerate === 'true');
      return { ...summary, meeting_id: id, mode };
    },
  }),
];
