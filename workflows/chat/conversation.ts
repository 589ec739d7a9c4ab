/**
 * Processes the outstanding work of an active conversation at each signal, one turn after the other. The work is in
 * MongoDB, so the history stays short. Without signals for one to two minutes the workflow ends, and the next message
 * starts it again. When a turn needs a person's decision, this workflow waits, so that no activity has to.
 */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { show } from '../base/board.ts';
import { inTask, inTaskFirst } from '../base/intask.ts';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { ConversationActivities } from '../../activities/chat/conversation.ts';
import { attendSignal } from '../../models/rules/chat/work.ts';

export type ConversationRef = { orgId: string; convId: string };

const { attendTo } = proxyActivities<ConversationActivities>({
  ...throughOutages,
  // An answer takes seconds to write, and several messages may wait.
  startToCloseTimeout: '10 minutes',
  // A customer waits, so the death of a worker and the end of an outage are noticed sooner than usual.
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

const local = proxyLocalActivities<ConversationActivities>(inTask);

/** The signal that a message, a member's reply or a change of status was stored. */
export const attend = defineSignal(attendSignal);

/** The duration of an idle timer. Most customers write again within a minute, or not for a long time. */
const idle = '1 minute';

/** `since`: the count of signals when the timer started. */
type IdleTimer = { since: number; isOver: boolean };
function startIdleTimer(since: number): IdleTimer {
  const timer = { since, isOver: false };
  // A cancellation is ignored here, because the `condition` that waits for the timer throws it, too.
  sleep(idle, { summary: 'another message' }).then(
    () => (timer.isOver = true),
    () => undefined,
  );
  return timer;
}

/** The failure of the model that operators are shown at present; false while the model answers. */
let modelFailed: string | false = false;
function noteModel(failed: string | false): void {
  if (failed === modelFailed) return;
  modelFailed = failed;
  const can = [
    'Over its rate limit: wait. Anything else: `npm run doctor` asks the model. Answers are quoted without it meanwhile, and the next message tries it.',
  ];
  show({
    status: failed ? 'without_model' : 'answered',
    failed: failed || undefined,
    can: failed ? can : [],
  });
}

export async function conversation(ref: ConversationRef): Promise<void> {
  const news = newsOf(attend);

  // All messages within a minute share one timer, because Temporal stores each start and each end of a timer.
  let timer: IdleTimer | undefined;
  /** Waits for a signal. Returns false when a timer has ended and no signal came while it ran. */
  async function hasNews(seen: number): Promise<boolean> {
    for (;;) {
      if (news() !== seen) return true;
      if (timer?.isOver && timer.since === news()) return false;
      const running = timer === undefined || timer.isOver ? startIdleTimer(news()) : timer;
      timer = running;
      await condition(() => news() !== seen || running.isOver);
    }
  }

  for (;;) {
    // A conversation may be active for days, so `continueAsNew` bounds the history. It is not called after a turn: if a
    // signal arrived during the same workflow task, Temporal would refuse to end the run, and the turn would be
    // repeated.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof conversation>(ref);
    const seen = news();
    const outcome = await inTaskFirst(
      () => local.attendTo(ref),
      ({ kind }) => kind === 'long',
      () => attendTo(ref),
    );
    if (news() !== seen) continue;
    if (outcome.kind === 'done' && outcome.modelFailed !== undefined) noteModel(outcome.modelFailed);
    if (outcome.kind === 'waiting') {
      // A decision is stored before its signal is sent, so the next turn finds it. If no signal arrives in time, that
      // turn tells the customer that the request has expired.
      await condition(() => news() !== seen, outcome.withinMs, { summary: `a decision about ${outcome.for}` });
      continue;
    }
    if (!(await hasNews(seen))) return;
  }
}
