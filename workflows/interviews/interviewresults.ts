/** What becomes of an interview that has ended: its transcript is collected, summarized (phase 1) and scored (phase 2). */
import { condition, proxyActivities } from '@temporalio/workflow';
import { dismiss } from './interviewbot.ts';
import { iso, type Run } from './interviewrun.ts';
import { throughOutages } from '../base/options.ts';
import { refusal } from '../base/refusal.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import type { CalledBot } from '../../models/rules/interviews/interview.ts';

const { collectTranscript } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // A transcript of hours is read within a minute.
  startToCloseTimeout: '2 minutes',
});
const { summarizeInterview, scoreInterview } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // A model is asked twice at most, and each time for a minute or two.
  startToCloseTimeout: '10 minutes',
});

/** How long the service of a bot may take to write a transcript down; after that there is what there is. */
const transcriptPauses = [5_000, 15_000, 30_000, 60_000, 120_000, 240_000, 480_000, 900_000];

/** The transcript and phase 1, once; then everything else is asked for. */
export async function evaluate(run: Run): Promise<void> {
  const { state } = run;
  const { bot, botSince, former = [], summarized } = state();
  if (summarized) return void (await run.until(Infinity));
  run.work.dismissals.push(dismiss(run));
  const last = bot ? [{ ...bot, since: botSince ?? iso() }] : [];
  for (const each of [...former, ...last]) if (each.kind !== 'room') await collect(run, each);
  if (run.isRemoved() || state().status !== 'evaluating') return;
  await summarize(run);
  run.note({ summarized: true });
  await run.store();
}

/** Takes what a bot has heard, as soon as its service has written it down. */
async function collect({ ref, state, heard, isRemoved }: Run, bot: CalledBot): Promise<void> {
  for (const ms of transcriptPauses) {
    const before = heard.reports;
    if (await collectTranscript({ ...ref, bot })) return;
    // A report that came meanwhile may say that the transcript is there.
    await condition(() => isRemoved() || heard.reports !== before || state().status !== 'evaluating', ms);
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
    // It may have been cancelled meanwhile.
    check('score');
    if (outcome === 'silent') throw refusal('The candidate said nothing, so there is nothing to score.');
    move('score', actor);
  } finally {
    work.scoring = false;
  }
}
