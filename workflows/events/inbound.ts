/**
 * What arrives for one organization from other services: processed at each signal until nothing is left. The outstanding
 * work is in MongoDB, so the history stays short. It waits only for what failed and is tried again.
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
import type { InboundActivities } from '../../activities/events/inbound/index.ts';
import { arrivedSignal } from '../../models/rules/events/work.ts';

export type InboundRef = { orgId: string };

const { processInbound } = proxyActivities<InboundActivities>({
  ...throughOutages,
  // Each record has its own limit; many may be waiting.
  startToCloseTimeout: '30 minutes',
  // A person waits for the answer in a team chat, so the death of a worker is noticed sooner.
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/** Something was stored. */
export const arrived = defineSignal(arrivedSignal);

export async function inbound(ref: InboundRef): Promise<void> {
  let news = 0;
  setHandler(arrived, () => void (news += 1));
  for (;;) {
    const seen = news;
    const { againInMs } = await processInbound(ref);
    // An organization may be busy for days: something arrives during each look. The next run begins with a look of its own.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof inbound>(ref);
    if (news !== seen) continue;
    if (againInMs === undefined) return;
    await condition(() => news !== seen, againInMs);
  }
}
