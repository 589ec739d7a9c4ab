/**
 * Processes an organization's events from other services, at each signal until no event is left. The events are in
 * MongoDB, so the history stays short. The workflow waits only for retries of failed events. When one worker cannot
 * keep up, the events are processed in parts, each by any worker of the fleet.
 */
import { condition, continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { InboundActivities } from '../../activities/events/inbound/index.ts';
import { inboundParts } from '../../models/rules/events/inbound.ts';
import { arrivedSignal } from '../../models/rules/events/work.ts';

export type InboundRef = { orgId: string };

const { processInbound } = proxyActivities<InboundActivities>({
  ...throughOutages,
  // The timeout is long, because many events may be waiting. Each event has its own timeout.
  startToCloseTimeout: '30 minutes',
  // In a team chat a person waits for the answer, so the death of a worker is noticed sooner than usual.
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

const nextAttempt = { summary: 'the next attempt at an event that failed' };

/** The signal that an event was stored. */
export const arrived = defineSignal(arrivedSignal);

export async function inbound(ref: InboundRef): Promise<void> {
  const news = newsOf(arrived);
  /**
   * Processes all parts (`inboundParts`) of the organization's events at the same time, until no part has events left.
   */
  async function inParts(): Promise<void> {
    let busy = 0;
    const work = async (part: number): Promise<void> => {
      do {
        busy += 1;
        const seen = news();
        const { againInMs } = await processInbound({ ...ref, part });
        busy -= 1;
        const isDue = (): boolean => news() !== seen || busy === 0;
        await (againInMs === undefined ? condition(isDue) : condition(isDue, againInMs, nextAttempt));
      } while (busy > 0 && !workflowInfo().continueAsNewSuggested);
    };
    await Promise.all(inboundParts.map(work));
  }
  for (;;) {
    const seen = news();
    const { againInMs, isBehind } = await processInbound(ref);
    if (isBehind) await inParts();
    // An organization may be busy for days, so `continueAsNew` bounds the history. The next run begins by reading the
    // stored events.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof inbound>(ref);
    if (isBehind || news() !== seen) continue;
    if (againInMs === undefined) return;
    await condition(() => news() !== seen, againInMs, nextAttempt);
  }
}
