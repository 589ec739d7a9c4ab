/** Starts at once what a member has sent again; it may be much, so no request waits for it. */
import pLimit from 'p-limit';
import { startUnsettled, type Starter } from '../../workflows/start.ts';
import { listRecovered, settleRecovered } from '../../models/events/delivery.ts';

/** Deliveries that are read at once, and starts that run beside each other. */
const batch = 500;
const startsAtOnce = 10;
/** Nobody waits for these starts, as for the sweeper's, which begins after 5 s. */
const startDeadlineMs = 4_000;

/**
 * Starts what was recovered with this time: one start for all deliveries of a ticket. It never fails: after a start that did
 * not succeed, Temporal may be away, so all that is left is left to the sweeper.
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
        await settleRecovered(ids, due);
      });
    }
  } catch (error) {
    ctx.log.warn({ err: error, org_id: orgId }, 'not all that was recovered is started; the sweeper will');
  }
}
