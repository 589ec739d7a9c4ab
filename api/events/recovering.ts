/** Starts the deliveries that a member sends again. It runs in the background, because there may be many. */
import pLimit from 'p-limit';
import { startUnsettled, type Starter } from '../../workflows/start.ts';
import { settleRecovered, type Recovered } from '../../models/events/delivery.ts';

/** How many workflow starts run in parallel. */
const startsAtOnce = 10;
/**
 * A start that takes longer fails. A start must end before the sweeper begins with the same deliveries, which is after
 * 5 s.
 */
const startDeadlineMs = 4_000;

/**
 * Starts the workflows that send the recovered deliveries. Never throws: if a start fails, Temporal may be down, and
 * the sweeper starts the remaining workflows later.
 */
export async function startRecovered(ctx: Starter, orgId: string, recovered: readonly Recovered[]): Promise<void> {
  const limit = pLimit(startsAtOnce);
  try {
    await limit.map(recovered, async (one) => {
      // From `next_at` on, the sweeper starts the workflow.
      if (ctx.clock() >= one.intent.next_at) return;
      await startUnsettled(ctx, one.record, one.intent, startDeadlineMs);
      await settleRecovered(one);
    });
  } catch (error) {
    limit.clearQueue();
    ctx.log.warn({ err: error, org_id: orgId }, 'not all that was recovered is started; the sweeper will');
  }
}
