/**
 * A conversation in which somebody is writing: it is attended to at each signal, one after the other. The outstanding
 * work is in MongoDB, so the history stays short. When no signal comes for a while the workflow ends, and the next
 * message starts it again. A turn that needs somebody's decision waits here, so that no activity has to wait.
 */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { ConversationActivities } from '../../activities/chat/conversation.ts';
import { attendSignal } from '../../models/rules/chat/work.ts';

export type ConversationRef = { orgId: string; convId: string };

const { attendTo } = proxyActivities<ConversationActivities>({
  ...throughOutages,
  // An answer takes seconds to write; several may be waiting.
  startToCloseTimeout: '10 minutes',
  // A customer waits for the answer of a worker that died, or for the end of an outage, so both are noticed sooner.
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/** Something was stored: a message, a member's reply, a change of status. */
export const attend = defineSignal(attendSignal);

/** People write again within a minute, or not for a long time. */
const idle = '1 minute';

export async function conversation(ref: ConversationRef): Promise<void> {
  let news = 0;
  setHandler(attend, () => void (news += 1));
  for (;;) {
    const seen = news;
    const outcome = await attendTo(ref);
    // Somebody may write during each turn, for days. The next run begins with a turn of its own.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof conversation>(ref);
    if (news !== seen) continue;
    if (outcome.kind === 'waiting') {
      // The decision is stored before its signal is sent. If none comes in time, the turn runs again and says so.
      await condition(() => news !== seen, outcome.withinMs);
      continue;
    }
    if (!(await condition(() => news !== seen, idle))) return;
  }
}
