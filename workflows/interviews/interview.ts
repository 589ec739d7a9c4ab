/**
 * An interview, from its draft to its evaluation. This workflow owns the interview's state. Every status change is an
 * operation of the table in models/rules/interviews/interview.ts, requested by an update, a timer or a bot's report.
 * The record in MongoDB is a projection of the state. No personal data passes through the workflow: only ids, codes of
 * causes, and times.
 */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { UpdateDefinition } from '@temporalio/common';
import { begin, dismiss, eraseRecorded, follow, heedRoom, join, wait } from './interviewbot.ts';
import { evaluate, score, summarize } from './interviewresults.ts';
import { invite, iso, openRun, reload, type Run } from './interviewrun.ts';
import { throughOutages } from '../base/options.ts';
import { refusal } from '../base/refusal.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import {
  isFinal,
  isRunning,
  type InterviewState,
  type InterviewStatus,
  type Move,
} from '../../models/rules/interviews/interview.ts';
import { interviewSignals } from '../../models/rules/interviews/work.ts';

export type InterviewRef = {
  orgId: string;
  interviewId: string;
  /** The state of the previous run, which this run continues. */
  state?: InterviewState;
};

/** `actor`: a user's id, `bot` or `candidate`. `cause`: a code such as `consent_refused`. */
export type Order = { actor: string; cause?: string };
/**
 * `seq`: the number of the status change in the interview's history. `state` and `moves`: what the caller has to store
 * in the record; absent when it is stored already.
 */
export type Done = { seq: number; state?: InterviewState; moves?: readonly Move[] };

const commands = ['start', 'cancel', 'rejoin', 'join', 'refuse', 'end', 'evaluate', 'score'] as const;
export type InterviewCommand = (typeof commands)[number];
/** The updates that an open interview accepts. */
export const interviewUpdates = Object.fromEntries(
  commands.map((command) => [command, defineUpdate<Done, [Order]>(command)]),
) as Record<InterviewCommand, UpdateDefinition<Done, [Order]>>;

/**
 * The update and the signal that a member changed the configuration, so that the workflow reads the record again.
 * Callers that do not wait until the record is read send the signal.
 */
export const reloadInterview = defineUpdate<void, [Order]>('reload');
export const interviewChanged = defineSignal(interviewSignals.changed);
/** The signal that the bot's service has sent a report about the bot. */
export const botReported = defineSignal(interviewSignals.reported);
/**
 * The signal that somebody in the room consented, refused or ended the interview, when no update has requested the
 * status change. The room's record says which change it is.
 */
export const roomChanged = defineSignal(interviewSignals.room);
/** The signal that a member deleted the interview. */
export const removeInterviewNow = defineSignal(interviewSignals.remove);

const { removeInterview, forgetInterview } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // Each activity removes a few records from MongoDB.
  startToCloseTimeout: '2 minutes',
});

/** The wait before the removal is repeated, longer than any request that stores a part of the transcript. */
const untilQuiet = '5 minutes';

export async function interview({ orgId, interviewId, state: carried }: InterviewRef): Promise<InterviewStatus> {
  const run = openRun({ orgId, interviewId }, carried);
  const { state, isKnown, isRemoved, heard } = run;
  listen(run);
  if (!isKnown()) await run.load();
  if (isKnown()) run.show();
  // A bot's report may arrive after the interview has ended. Its signal starts a new run, which has nothing to do.
  const wasFinal = isKnown() && isFinal(state().status);
  if (isKnown() && !carried && !isRemoved() && !wasFinal) invite(run);
  while (!isRemoved() && !isFinal(state().status)) {
    if (heard.unread > 0) {
      heard.unread = 0;
      await reload(run, 'clock');
    }
    if (heard.room > 0) {
      heard.room = 0;
      await heedRoom(run);
    }
    // The interview may have ended while the record was read.
    if (isFinal(state().status)) break;
    if (workflowInfo().continueAsNewSuggested) await renew(run);
    await step(run);
  }
  if (isKnown() && !wasFinal && state().status !== 'completed') run.work.dismissals.push(dismiss(run));
  await finish(run);
  return isKnown() ? state().status : 'cancelled';
}

/** Does the work of the current status until something changes. */
function step(run: Run): Promise<void> {
  const { status } = run.state();
  if (status === 'bot_deployed') return join(run);
  if (status === 'in_progress') return follow(run);
  return status === 'evaluating' ? evaluate(run) : wait(run);
}

/** Registers the handlers of all updates and signals, at the start of a run. */
function listen(run: Run): void {
  const { heard } = run;
  for (const command of commands) {
    setHandler(interviewUpdates[command], (order) => obey(run, command, order), {
      validator: (_order: Order) => {
        if (run.isKnown()) run.check(command);
      },
    });
  }
  setHandler(reloadInterview, async ({ actor }) => {
    await condition(() => run.isRemoved() || run.isKnown());
    if (!run.isRemoved()) await reload(run, actor);
  });
  setHandler(interviewChanged, () => void (heard.unread += 1));
  setHandler(botReported, () => void (heard.reports += 1));
  setHandler(roomChanged, () => void (heard.room += 1));
  setHandler(removeInterviewNow, () => run.remove());
}

async function obey(run: Run, command: InterviewCommand, { actor, cause }: Order): Promise<Done> {
  await condition(() => run.isRemoved() || run.isKnown());
  if (run.isRemoved()) throw refusal('The interview is being removed.');
  run.check(command);
  if (command === 'score') await score(run, actor);
  else if (command === 'start') begin(run, actor);
  else {
    run.move(command, actor, cause);
    if (command === 'join') run.note({ joinedAt: iso(), looks: 0 });
    if (command === 'rejoin') run.note({ rejoin: true });
  }
  const { seq } = run.state();
  if (command === 'evaluate') await summarize(run);
  // The sender of the update stores the new state at once, because that takes half the time of an activity. An activity
  // stores the state too, in case the sender dies. After `start`, the activity `deployBot` stores it.
  const answer = { seq, ...run.unstored() };
  if (command !== 'start') void run.store({ asked: true });
  return answer;
}

/** Whether a report has arrived since the bot was checked last. */
const isReported = ({ state, heard }: Run): boolean => isRunning(state().status) && heard.reports !== heard.looked;

/** Continues as new, after all work in progress is done. */
async function renew(run: Run): Promise<void> {
  const { ref, state, heard, work, store, isRemoved } = run;
  await Promise.all([store(), work.evaluating, work.inviting, ...work.dismissals]);
  await condition(allHandlersFinished);
  // The next run would not know about signals that this run has not handled, so they are handled first.
  const isTold = heard.unread > 0 || heard.room > 0 || isReported(run);
  if (!isRemoved() && !isTold) await continueAsNew<typeof interview>({ ...ref, state: state() });
}

/** Completes all work in progress. If the interview was deleted, removes all of its data. */
async function finish(run: Run): Promise<void> {
  const { ref, work, isRemoved, stored } = run;
  /**
   * Resolves when the record is deleted. The record lists the bots, so it is kept until their service has deleted the
   * recordings.
   */
  let forgotten = Promise.resolve();
  const forget = async (): Promise<void> => {
    await eraseRecorded(run);
    await forgetInterview(ref);
  };
  const remove = async (): Promise<void> => {
    await removeInterview(ref);
    forgotten = forget();
  };
  const wasRemoved = isRemoved();
  if (wasRemoved) await remove();
  await condition(allHandlersFinished);
  await Promise.all([stored(), work.inviting, ...work.dismissals]);
  // The candidate is told that the interview was cancelled.
  if (run.isKnown() && !isRemoved() && run.state().status === 'cancelled') invite(run);
  await work.inviting;
  if (!isRemoved()) return;
  // If `wasRemoved` is false, the interview was deleted while its last status change was being stored.
  if (!wasRemoved) await remove();
  await sleep(untilQuiet, { summary: 'requests that began before the removal' });
  await removeInterview(ref);
  await forgotten;
}
