/** Shows meetings to their owners, and stores their transcripts, titles and summaries. */
import type { Context } from '../context.ts';
import { consume, createRate } from '../http/limits.ts';
import { perConfig } from '../http/perconfig.ts';
import { startSaved } from '../../workflows/start.ts';
import { peopleOf } from '../access/people.ts';
import { intentFor } from '../../models/base/pending.ts';
import { colleagueIdsOf } from '../../models/access/organization.ts';
import {
  noteSpeechAt,
  admitSpeech,
  findMeeting,
  keepSummary,
  MeetingModel,
  setMadeTitle,
  type Meeting,
  type StoredSummary,
} from '../../models/interviews/meeting.ts';
import {
  countSegments,
  readTranscript,
  removeSegments,
  storeSegments,
  unstored,
  type Segment,
} from '../../models/interviews/transcript.ts';
import { noSuch, Problem, sought } from '../../models/rules/base/errors.ts';
import { announceWork } from '../../models/rules/events/work.ts';
import { untitled } from '../../models/rules/interviews/meeting.ts';
import type { SummaryMode } from '../../models/rules/interviews/summary.ts';
import { participantsOf, sizeOf, transcriptFull, type Said } from '../../models/rules/interviews/transcript.ts';

/** @throws Problem NOT_FOUND */
export const foundMeeting = (owner: string, meetingId: string): Promise<Meeting> =>
  sought(findMeeting(owner, meetingId), 'meeting');

export const viewSegment = (segment: Segment) => ({ ...segment, timestamp: segment.at });

export const viewItem = (record: Meeting) => ({
  ...record,
  meeting_id: record._id,
  participant_count: record.speakers.length,
  has_summary: Object.keys(record.summaries ?? {}).length > 0,
});

export async function viewMeeting(record: Meeting) {
  const said = await readTranscript(record._id);
  const { segments, characters } = sizeOf(said);
  const [first, last] = [said[0]?.at, said.at(-1)?.at];
  return {
    ...viewItem(record),
    transcript: said.map(viewSegment),
    participants: participantsOf(said),
    metadata: {
      segment_count: segments,
      character_count: characters,
      duration_seconds: first && last ? Math.round((last.getTime() - first.getTime()) / 1_000) : 0,
      title_generated: !record.title_given,
      updated_at: record.updated_at,
    },
  };
}

/**
 * Stores the segments of a transcript, each once. Returns how many of them were new, and how many the transcript has
 * now.
 * @throws Problem NOT_FOUND, TOO_LARGE
 */
export async function takeSpeech(
  ctx: Pick<Context, 'intelligence' | 'clock'>,
  owner: string,
  meetingId: string,
  said: readonly Said[],
): Promise<{ accepted: number; count: number }> {
  const record = await foundMeeting(owner, meetingId);
  const fresh = await unstored(meetingId, said);
  if (fresh.length > 0) {
    const speakers = [...new Set(fresh.map(({ speaker }) => speaker))];
    const admitted = await admitSpeech(owner, meetingId, sizeOf(fresh), speakers, ctx.clock());
    if (admitted === 'full') throw transcriptFull();
    if (admitted === null) throw noSuch('meeting');
    await storeSegments(meetingId, fresh);
    if (!(await findMeeting(owner, meetingId))) {
      // The meeting was deleted meanwhile. Its removal may have missed these segments, so they are removed here.
      await removeSegments(meetingId, fresh);
      throw noSuch('meeting');
    }
  }
  // The start is read from the stored segments, also when none is new: the process of an earlier request may have died
  // after it stored the segments and before it noted the start.
  const [count, [first]] = await Promise.all([countSegments(meetingId), readTranscript(meetingId, 1)]);
  if (first) await noteSpeechAt(meetingId, first.at);
  // The title is made again only when the transcript has grown by half, so that a long transcript is not read again for
  // each new sentence.
  if (!record.title_given && count >= record.title_version * 1.5 && fresh.length > 0) await makeTitle(ctx, record);
  return { accepted: fresh.length, count };
}

/** A title is made from at most this many segments. */
const titleSegments = 500;

export async function makeTitle(
  { intelligence }: Pick<Context, 'intelligence'>,
  { _id, title_given, started_at }: Meeting,
): Promise<void> {
  if (title_given) return;
  const version = await countSegments(_id);
  const title = await intelligence.titleMeeting({ said: await readTranscript(_id, titleSegments) });
  await setMadeTitle(_id, title ?? untitled(started_at), version);
}

const rate = perConfig((config) => createRate(config, 'digests'));

/** Counts a reading of a whole transcript towards the limit of the account. @throws Problem RATE_LIMITED */
export const countDigest = (config: Context['config'], account: string): Promise<unknown> =>
  consume(rate(config), config, 'digests', account);

/**
 * The stored summary if it is of the current transcript and `regenerate` is false, else a new one.
 * @throws Problem NO_TRANSCRIPT, RATE_LIMITED, UNAVAILABLE
 */
export async function provideSummary(
  ctx: Pick<Context, 'intelligence' | 'clock' | 'log' | 'temporal' | 'config'>,
  record: Meeting,
  mode: SummaryMode,
  regenerate: boolean,
): Promise<StoredSummary & { cached: boolean }> {
  const version = await countSegments(record._id);
  if (version === 0) throw new Problem('NO_TRANSCRIPT', { message: 'This meeting has no transcript yet.' });
  const kept = record.summaries?.[mode];
  if (kept?.version === version && !regenerate) return { ...kept, cached: true };
  await countDigest(ctx.config, record.org_id);
  const said = await readTranscript(record._id);
  const recorded = {
    said,
    members: await peopleOf(await colleagueIdsOf(record.org_id)),
    startedAt: record.started_at,
    zone: record.settings.timezone,
  };
  const made = await ctx.intelligence.summarizeMeeting({ ...recorded, mode }, { about: { meeting_id: record._id } });
  const summary = { ...made, version: said.length, generated_at: ctx.clock() };
  // Members are notified once for each version of the transcript: of its first summary, in whichever `mode`.
  const isFirst = !Object.values(record.summaries ?? {}).some((one) => one.version === summary.version);
  const about = {
    owner: record.org_id,
    meetingId: record._id,
    event: 'summary_ready',
    version: summary.version,
  } as const;
  const intent = isFirst ? intentFor(announceWork(about), ctx.clock()) : undefined;
  const isKept = await keepSummary(record._id, mode, summary, intent);
  if (isKept && intent) await startSaved(ctx, MeetingModel, record, [intent]);
  return { ...summary, cached: false };
}
