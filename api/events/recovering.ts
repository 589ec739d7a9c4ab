/** Starts the deliveries that a member sends again. It runs in the background, because there may be many. */
import pLimit from 'p-limit';
import { startUnsettled, type Starter } from '../../workflows/start.ts';
import { listRecovered, settleRecovered } from '../../models/events/delivery.ts';

/** `batch`: deliveries read at a time. `startsAtOnce`: workflow starts that run in parallel. */
const batch = 500;
const startsAtOnce = 10;
/**
 * A start that takes longer fails. A start must end before the sweeper begins with the same deliveries, which is after
 * 5 s.
 */
const startDeadlineMs = 4_000;

/**
 * Starts the deliveries that were recovered with this due time; deliveries of the same ticket share one start. Never
 * throws: if a start fails, Temporal may be down, and the sweeper starts the remaining deliveries later.
 */
export async function startRecovered(ctx: Starter, orgId: string, due: Date): Promise<void> {
  const limit = pLimit(startsAtOnce);
  try {
    for (;;) {
      const left = await listRecovered(orgId, due, batch);
      if (left.length === 0) return;
      const carried = [...Map.groupBy(left, ({ intent }) => intent.workflow_id).values()];
      await limit.map(carried, async (deliveries) => {
        const [{ record, intent }] = deliveries as [(typeof deliveries)[number]];
        await startUnsettled(ctx, record, intent, startDeadlineMs);
        const ids = deliveries.map((one) => one.record._id);
        await settleRecovered(orgId, ids, due);
      });
    }
  } catch (error) {
    ctx.log.warn({ err: error, org_id: orgId }, 'not all that was recovered is started; the sweeper will');
  }
}
