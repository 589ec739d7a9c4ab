/**
 * One run of an interview's workflow: its state, the signals that are not handled yet, and how it waits. The functions
 * in interviewbot.ts and interviewresults.ts get the run as an argument.
 */
import { condition, proxyActivities } from '@temporalio/workflow';
import { openLedger } from './interviewledger.ts';
import { throughOutages } from '../base/options.ts';
import type { InvitationActivities } from '../../activities/interviews/invitation.ts';
import type { InterviewState } from '../../models/rules/interviews/interview.ts';

const { inviteCandidate } = proxyActivities<InvitationActivities>({
  ...throughOutages,
  // The activity reads and writes a few records in MongoDB.
  startToCloseTimeout: '1 minute',
});

export type Run = ReturnType<typeof openRun>;

export const now = (): number => Date.now();
export const iso = (): string => new Date().toISOString();
/** The time in ms of a stored moment; without one, the current time. */
export const since = (moment: string | undefined): number => (moment === undefined ? now() : Date.parse(moment));

/** `carried`: the state of the previous run. */
export function openRun(ref: { orgId: string; interviewId: string }, carried: InterviewState | undefined) {
  const ledger = openLedger(ref, carried);
  const { state, isRemoved } = ledger;
  const heard = {
    /** The number of reports about the bot. */
    reports: 0,
    /** The value of `reports` when the bot was checked last. */
    looked: 0,
    /** How often the configuration was read. */
    reloads: 0,
    /** The number of changes of the configuration that are not read yet. */
    unread: 0,
    /** The number of signals about the room that are not handled yet. */
    room: 0,
  };
  const work = {
    /** Resolves when all summaries that were started are done. */
    evaluating: Promise.resolve(),
    /** Resolves when all mails to the candidate are queued. */
    inviting: Promise.resolve(),
    /** Whether scoring is in progress. */
    scoring: false,
    /** One promise for each bot that is being dismissed. */
    dismissals: [] as Promise<void>[],
  };

  /**
   * Waits for an update, a signal or the time `at` (ms since 1970, or infinite); returns false when the time has come.
   * `reports`: the number of reports that are known already.
   */
  async function until(at: number, timer: string, reports = heard.reports): Promise<boolean> {
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
    ledger.show(!Number.isFinite(at));
    if (!Number.isFinite(at)) return condition(news).then(() => true);
    const left = at - now();
    return left <= 0 ? news() : condition(news, left, { summary: timer });
  }

  return { ref, ...ledger, heard, work, until };
}

/**
 * Queues a mail that tells the candidate the current time and place, in the background. Interviews without `invites` in
 * their state send no such mails.
 */
export function invite({ ref, state, work }: Run): void {
  if (state().invites) work.inviting = work.inviting.then(() => inviteCandidate(ref));
}

/** Reads the configuration that a member has changed. A draft that gets a time becomes scheduled. */
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
