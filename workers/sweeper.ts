/**
 * Starts what was saved but never started: the process died between the two, or Temporal was down. A plain timer in every
 * worker, since Temporal may be what is down; a lease on each intent keeps two sweepers apart.
 */
import { startIntent, type Starter } from '../api/durable.ts';
import { slices } from './slices/index.ts';
import { takeDueIntent } from '../models/base/pending.ts';

/** Every model whose records start workflows. */
const launchable = slices.flatMap((slice) => slice.launchable);
const EVERY_MS = 2_000;
const BATCH = 100;

/** Sweeps until stopped; `stop` waits for the sweep under way. */
export function startSweeper(ctx: Starter): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let sweeping: Promise<void> = Promise.resolve();

  const again = () => {
    // Jitter, so that many workers do not look at the same moment.
    timer = setTimeout(run, EVERY_MS * (0.5 + Math.random()));
  };
  const run = () => {
    sweeping = sweep(ctx)
      .catch((error: unknown) => ctx.log.warn({ err: error }, 'sweep failed; it is tried again'))
      .then(() => (stopped ? undefined : again()));
  };
  again();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

/** Starts what is due now, up to 100 of each kind. */
async function sweep(ctx: Starter): Promise<void> {
  for (const model of launchable) {
    for (let n = 0; n < BATCH; n++) {
      const due = await takeDueIntent(model, ctx.clock());
      if (!due) break;
      await startIntent(ctx, model, due.record, due.intent);
      ctx.log.info(
        { workflow_id: due.intent.workflow_id, org_id: due.record.org_id, tries: due.intent.tries + 1 },
        'workflow started by the sweeper',
      );
    }
  }
}
