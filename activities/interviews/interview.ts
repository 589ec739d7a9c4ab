/**
 * The activities of an interview's workflow: they store its state, send and dismiss bots, collect transcripts, and have
 * the interview evaluated. Every step is idempotent. Logs and results contain only ids.
 */
import { Context, cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Intelligence } from '../../intelligence/intelligence.ts';
import { BotRefused, type Bot } from '../../providers/recall/bot.ts';
import { ServiceAway } from '../../providers/recall/service.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import {
  beginInterviewRemoval,
  findInterview,
  findRemoved,
  forgetInterview,
  orderOf,
  projectInterview,
  removeInterviewContents,
  storeResult,
  type Interview,
  type Projection,
} from '../../models/interviews/interview.ts';
import { findRoom, openRoom } from '../../models/interviews/room.ts';
import { readTranscript, removeSegments, storeSegments } from '../../models/interviews/transcript.ts';
import { botName, type BotReason, type BotState } from '../../models/rules/interviews/bot.ts';
import type { Interviewed } from '../../models/rules/interviews/evaluation.ts';
import { botKey, type BotRef, type CalledBot, type InterviewState } from '../../models/rules/interviews/interview.ts';
import { movesOf, type RoomMove } from '../../models/rules/interviews/room.ts';
import { sizeOf, transcriptBounds, type Said } from '../../models/rules/interviews/transcript.ts';

type InterviewDeps = {
  /** The service that sends bots into external calls, if one is configured. */
  outsideBot: Bot | undefined;
  intelligence: Pick<Intelligence, 'summarizeInterview' | 'score'>;
  secrets: SecretBox;
  clock: () => Date;
  log: Logger;
};
type Ref = { orgId: string; interviewId: string };
/** The state as it was stored last, and the current configuration. */
export type LoadedInterview = {
  state: InterviewState;
  /** Whether the interview has a time. */ scheduled?: true;
  /** Whether the candidate is notified of the time by mail. */ invites?: true;
  /** When the interview starts automatically. */ dueAt?: string;
  /** The interview's time, whether or not it starts automatically. */
  scheduledAt?: string;
};
type BotOrdered = { bot: number; order: number; said: Pick<Projection, 'state' | 'moves'> };
/** The part of the state about the bots that were requested. */
type KnownBots = Pick<InterviewState, 'bot' | 'former' | 'sent' | 'orders'>;
export type Deployed = { bot: BotRef } | { refused: BotReason };
export type InterviewActivities = ReturnType<typeof createInterviewActivities>;

export function createInterviewActivities({ outsideBot, intelligence, secrets, clock, log }: InterviewDeps) {
  return {
    /** Reads the interview's state and configuration; null when the interview is being removed. */
    async loadInterview({ orgId, interviewId }: Ref): Promise<LoadedInterview | null> {
      const record = await findInterview(orgId, interviewId);
      if (!record) return null;
      const { state, scheduled_at, meeting_url, candidate } = record;
      // Only an interview with a meeting URL starts automatically.
      const due = meeting_url === undefined ? undefined : scheduled_at;
      return {
        state,
        ...(scheduled_at ? { scheduled: true as const } : {}),
        ...(scheduled_at && candidate.email !== undefined ? { invites: true as const } : {}),
        ...(due ? { dueAt: due.toISOString() } : {}),
        ...(record.scheduled_at ? { scheduledAt: record.scheduled_at.toISOString() } : {}),
      };
    },

    /** Stores the state. Returns false when the interview is being removed. */
    async storeInterview(said: Projection): Promise<boolean> {
      const written = await projectInterview(said, clock);
      return written !== null || (await findInterview(said.orgId, said.interviewId)) !== null;
    },

    /**
     * Stores the state (`said`), and sends a bot or opens the room. `bot`: the number of the bot within the interview.
     * `order`: the number of the request for a bot within the interview. `said`: the unstored state and status changes.
     */
    async deployBot({ orgId, interviewId, bot, order, said }: Ref & BotOrdered): Promise<Deployed> {
      const written = await projectInterview({ orgId, interviewId, ...said }, clock, { newer: true });
      const record = written ?? (await findInterview(orgId, interviewId));
      if (!record) return { refused: 'gone' };
      const key = botKey(interviewId, bot - 1);
      if (record.meeting_url === undefined || !outsideBot) {
        await openRoom(orderOf(record), secrets, clock());
        return { bot: { kind: 'room', id: key } };
      }
      const wanted = {
        meetingUrl: record.meeting_url,
        name: botName,
        metadata: { org_id: orgId, interview_id: interviewId },
        key,
        order,
        again: order > 1 || Context.current().info.attempt > 1,
      };
      try {
        return { bot: await outsideBot.schedule(wanted, cancellationSignal()) };
      } catch (error) {
        if (!(error instanceof BotRefused)) throw error;
        log.warn({ err: error, org_id: orgId, interview_id: interviewId }, 'a bot could not be sent');
        return { refused: error.reason };
      }
    },

    async dismissBot({ bot }: { bot: BotRef }): Promise<void> {
      await outsideBot?.cancel(bot.id, cancellationSignal());
    },

    /** The state of a bot. If its service is no longer configured, the bot counts as gone. */
    async lookAtBot({ bot }: { bot: BotRef }): Promise<BotState> {
      return outsideBot ? outsideBot.get(bot.id, cancellationSignal()) : { phase: 'failed', reason: 'gone' };
    },

    /** The status changes that the people in the room have requested so far. */
    async readRoom({ interviewId }: Ref): Promise<RoomMove[]> {
      const room = await findRoom(interviewId);
      return room ? movesOf(room) : [];
    },

    /** Stores a bot's transcript. Returns false while its service is still transcribing. */
    async collectTranscript({ orgId, interviewId, bot }: Ref & { bot: CalledBot }): Promise<boolean> {
      if (!outsideBot || !(await findInterview(orgId, interviewId))) return true;
      const heard = await outsideBot.transcript(bot.id, cancellationSignal());
      if (!heard) return false;
      const began = Date.parse(bot.since);
      const said = heard.map(({ speaker, startMs, text }, index): Said => ({
        id: `${bot.id}:${index}`,
        speaker: speaker.slice(0, 200),
        text: text.slice(0, transcriptBounds.charactersPerSegment),
        at: new Date(began + startMs),
        is_ai: false,
      }));
      await storeSegments(interviewId, withinBounds(said));
      if (!(await findInterview(orgId, interviewId))) await removeSegments(interviewId);
      return true;
    },

    /** Phase 1 of the evaluation: stores each question with its answer, and a summary. */
    async summarizeInterview({ orgId, interviewId }: Ref): Promise<void> {
      const record = await findInterview(orgId, interviewId);
      if (!record) return;
      const made = await intelligence.summarizeInterview(await interviewedOf(record), {
        about: { interview_id: interviewId },
      });
      await storeResult(orgId, interviewId, { qa_summary: { ...made, generated_at: clock() } }, clock());
    },

    /** Phase 2 of the evaluation: stores the scores of the criteria. `silent`: the candidate said nothing. */
    async scoreInterview({ orgId, interviewId }: Ref): Promise<'scored' | 'silent'> {
      const record = await findInterview(orgId, interviewId);
      if (!record) return 'silent';
      const made = await intelligence.score(
        { interviewed: await interviewedOf(record), role: record.role_title },
        { about: { interview_id: interviewId } },
      );
      if (!made) return 'silent';
      await storeResult(orgId, interviewId, { evaluation: { ...made, generated_at: clock() } }, clock());
      return 'scored';
    },

    /** Hides the interview, and removes its transcript and results. */
    async removeInterview({ orgId, interviewId }: Ref): Promise<void> {
      await beginInterviewRemoval(orgId, interviewId);
      await removeInterviewContents(orgId, interviewId);
    },

    /**
     * Has the bots' service delete its recordings. Returns false while a bot has not ended. Bots are also looked up by
     * the idempotency keys of the requests for them, because the reply to a request may have been lost. `known`: the
     * state in the workflow, which may be newer than the record's.
     */
    async eraseRecordings({ orgId, interviewId, known }: Ref & { known?: KnownBots }): Promise<boolean> {
      const signal = cancellationSignal();
      const record = await findRemoved(orgId, interviewId);
      const states = [record?.state, known].filter((one) => one !== undefined);
      const bots = states.flatMap(({ bot, former = [] }) => [...former, ...(bot ? [bot] : [])]);
      const isOrdered = states.some(({ orders }) => orders > 0);
      if (!isOrdered || bots.some(({ kind }) => kind === 'room')) return true;
      const ids = { org_id: orgId, interview_id: interviewId };
      const foreign = bots.filter(({ kind }) => kind !== outsideBot?.kind);
      if (foreign.length > 0)
        log.error(
          { ...ids, bots: foreign.map(({ id }) => id) },
          'recordings stay with a service that is not configured',
        );
      if (!outsideBot) return true;
      const keys = Array.from({ length: Math.max(...states.map(({ sent }) => sent)) + 1 }, (_, n) =>
        botKey(interviewId, n),
      );
      const listed = await Promise.all(keys.map((key) => outsideBot.sent(key, signal)));
      const own = bots.filter((bot) => !foreign.includes(bot)).map(({ id }) => id);
      const erased = [];
      for (const id of new Set([...own, ...listed.flat()])) erased.push(await eraseBot(outsideBot, id, signal));
      if (erased.length > 0)
        log.info({ ...ids, bots: erased.length, done: !erased.includes(false) }, 'recordings deleted');
      return !erased.includes(false);
    },

    /** Deletes the record, after everything else of the interview was removed. */
    async forgetInterview({ orgId, interviewId }: Ref): Promise<void> {
      await forgetInterview(orgId, interviewId);
      log.info({ org_id: orgId, interview_id: interviewId }, 'interview removed');
    },
  };
}

/**
 * Makes a bot leave, and deletes its recordings once it has ended. Returns false while it has not ended. A failure of
 * `cancel` while the service is away is ignored, so that the recordings of other bots are still deleted.
 */
async function eraseBot(service: Bot, id: string, signal: AbortSignal): Promise<boolean> {
  const { phase, reason } = await service.get(id, signal);
  if (reason === 'gone') return true;
  if (phase === 'done' || phase === 'failed') return service.erase(id, signal);
  try {
    if (phase !== 'processing') await service.cancel(id, signal);
  } catch (error) {
    if (!(error instanceof ServiceAway)) throw error;
  }
  return false;
}

async function interviewedOf(record: Interview): Promise<Interviewed> {
  const { _id, questions, evaluation_criteria, candidate } = record;
  return { questions, criteria: evaluation_criteria, said: await readTranscript(_id), candidate: candidate.name };
}

/** The first segments that fit into the bounds of a transcript. */
function withinBounds(said: readonly Said[]): Said[] {
  let left = transcriptBounds.characters;
  return said.slice(0, transcriptBounds.segments).filter((one) => (left -= sizeOf([one]).characters) >= 0);
}
