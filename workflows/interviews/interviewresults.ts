/**
 * The results of an interview that has ended: its transcript is collected, summarized (phase 1) and scored (phase 2).
 */
import { condition, isCancellation, proxyActivities } from '@temporalio/workflow';
import { dismiss } from './interviewbot.ts';
import { iso, type Run } from './interviewrun.ts';
import { throughOutages } from '../base/options.ts';
import { refusal } from '../base/refusal.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import type { CalledBot } from '../../models/rules/interviews/interview.ts';

const { collectTranscript } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // A transcript of several hours is read within a minute.
  startToCloseTimeout: '2 minutes',
  // A service may refuse every request, for example after its key was revoked. Each request ends soon, so that
  // `transcriptPauses` limits how long an evaluation waits.
  scheduleToCloseTimeout: '5 minutes',
});
const { summarizeInterview, scoreInterview } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // A model is called at most twice, for a minute or two each.
  startToCloseTimeout: '10 minutes',
});

/**
 * The pauses after requests for a transcript, in ms. After the last pause it is requested once more; then the
 * evaluation uses the segments that are stored.
 */
const transcriptPauses = [5_000, 15_000, 30_000, 60_000, 120_000, 240_000, 480_000, 900_000];

/** Collects the transcript and summarizes it, once. After that, only updates cause further work. */
export async function evaluate(run: Run): Promise<void> {
  const { state } = run;
  const { bot, botSince, former = [], summarized } = state();
  if (summarized) return void (await run.until(Infinity, 'an update'));
  run.work.dismissals.push(dismiss(run));
  const last = bot ? [{ ...bot, since: botSince ?? iso() }] : [];
  for (const each of [...former, ...last]) if (each.kind !== 'room') await collect(run, each);
  if (run.isRemoved() || state().status !== 'evaluating') return;
  await summarize(run);
  run.note({ summarized: true });
  await run.store();
}

/**
 * Collects a bot's transcript, once its service has transcribed it. A failed request is repeated like one that came too
 * early.
 */
async function collect({ ref, state, heard, isRemoved }: Run, bot: CalledBot): Promise<void> {
  for (let asked = 0; ; asked += 1) {
    const before = heard.reports;
    try {
      if (await collectTranscript({ ...ref, bot })) return;
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
    const ms = transcriptPauses[asked];
    if (ms === undefined) return;
    // A report that arrives during the pause may mean that the transcript is ready.
    await condition(() => isRemoved() || heard.reports !== before || state().status !== 'evaluating', ms, {
      summary: 'the transcript',
    });
    if (isRemoved() || state().status !== 'evaluating') return;
  }
}

export async function summarize({ ref, work }: Run): Promise<void> {
  const before = work.evaluating;
  const make = async () => {
    await before;
    await summarizeInterview(ref);
  };
  work.evaluating = make();
  await work.evaluating;
}

export async function score({ ref, state, work, check, move, isRemoved }: Run, actor: string): Promise<void> {
  if (work.scoring) throw refusal('The scores are being made already; they are there in a moment.');
  work.scoring = true;
  try {
    await condition(() => isRemoved() || state().summarized === true || state().status !== 'evaluating');
    await work.evaluating;
    check('score');
    const outcome = await scoreInterview(ref);
    // The interview may have been cancelled meanwhile.
    check('score');
    if (outcome === 'silent') throw refusal('The candidate said nothing, so there is nothing to score.');
    move('score', actor);
  } finally {
    work.scoring = false;
  }
}
