/**
 * Processes a part of an organization's events from other services, at each signal until none is left. The events are
 * in MongoDB, so the history stays short. The workflow waits only for retries of failed events.
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

/** `part`: the number of a part of the organization's lanes; each part has a workflow, so that workers share the work. */
export type InboundRef = { orgId: string; part: number };

const { processInbound } = proxyActivities<InboundActivities>({
  ...throughOutages,
  // Each event has its own timeout; many may be waiting.
  startToCloseTimeout: '30 minutes',
  // In a team chat a person waits for the answer, so the death of a worker is noticed sooner than usual.
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
    // A part may be busy for days, so the history is renewed. The next run starts with a look at the stored
    // events.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof inbound>(ref);
    if (news !== seen) continue;
    if (againInMs === undefined) return;
    await condition(() => news !== seen, againInMs, { summary: 'the next attempt at an event that failed' });
  }
}
