/**
 * One run of an interview's workflow: what it knows, what it has heard and not heeded yet, and how it waits. The steps of an
 * interview (interviewbot.ts, interviewresults.ts) take it as their argument.
 */
import { condition, proxyActivities } from '@temporalio/workflow';
import { openLedger } from './interviewledger.ts';
import { throughOutages } from '../base/options.ts';
import type { InvitationActivities } from '../../activities/interviews/invitation.ts';
import type { InterviewState } from '../../models/rules/interviews/interview.ts';

const { inviteCandidate } = proxyActivities<InvitationActivities>({
  ...throughOutages,
  // Some reads and writes of MongoDB.
  startToCloseTimeout: '1 minute',
});

export type Run = ReturnType<typeof openRun>;

export const now = (): number => Date.now();
export const iso = (): string => new Date().toISOString();
/** A moment that was noted; now where none was. */
export const since = (moment: string | undefined): number => (moment === undefined ? now() : Date.parse(moment));

/** `carried`: what the run before knew. */
export function openRun(ref: { orgId: string; interviewId: string }, carried: InterviewState | undefined) {
  const ledger = openLedger(ref, carried);
  const { state, isRemoved } = ledger;
  const heard = {
    /** News of the bot, counted. */
    reports: 0,
    /** How many of them had come when the bot was looked after last. */
    looked: 0,
    /** How often the configuration was read. */
    reloads: 0,
    /** Changes of the configuration that are still to be read. */
    unread: 0,
    /** News of the room that is still to be read. */
    room: 0,
  };
  const work = {
    /** The summary that is being made, and those before it. */
    evaluating: Promise.resolve(),
    /** Mails to the candidate that are being made. */
    inviting: Promise.resolve(),
    /** Whether scores are being made. */
    scoring: false,
    /** Bots that are being told to leave. */
    dismissals: [] as Promise<void>[],
  };

  /**
   * Waits until something is asked or reported, or until a moment; false when the moment has come. `reports`: how many are
   * known.
   */
  async function until(at: number, timer?: string, reports = heard.reports): Promise<boolean> {
    const { seq, rejoin } = state();
    const { reloads } = heard;
    const news = () =>
      isRemoved() ||
      state().seq !== seq ||
      heard.reports !== reports ||
      heard.reloads !== reloads ||
      heard.unread > 0 ||
      heard.room > 0 ||
      state().rejoin !== rejoin;
    ledger.show(timer === undefined || !Number.isFinite(at) ? undefined : { what: timer, at });
    if (!Number.isFinite(at)) return condition(news).then(() => true);
    const left = at - now();
    return left <= 0 ? news() : condition(news, left, timer === undefined ? {} : { summary: timer });
  }

  return { ref, ...ledger, heard, work, until };
}

/**
 * Has the candidate told what holds now, by what the record says. Nothing waits for it. No history from before there were such
 * mails says that its candidate is told.
 */
export function invite({ ref, state, work }: Run): void {
  if (state().invites) work.inviting = work.inviting.then(() => inviteCandidate(ref));
}

/** Reads what a member has configured; a time makes a draft scheduled. */
export async function reload(run: Run, actor: string): Promise<void> {
  const scheduled = await run.load();
  if (run.isRemoved()) return;
  run.heard.reloads += 1;
  if (scheduled && run.state().status === 'draft') {
    run.move('schedule', actor);
    await run.store({ asked: true });
  }
  invite(run);
}
