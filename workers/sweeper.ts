/**
 * Starts workflows that were saved but never started, because the process died in between or Temporal was down. It is a
 * plain timer in every worker, since Temporal may be what is down; a lease on each intent keeps two sweepers apart.
 */
import type { Model } from 'mongoose';
import { isOutage, startIntent, temporalAnswers, type Starter } from '../workflows/start.ts';
import { slices } from './slices/index.ts';
import { leaseIntent, listDueIntents, postponeIntent, type Due, type Launchable } from '../models/base/pending.ts';
import { inTurns } from '../models/rules/base/turns.ts';

/** Every model whose records start workflows. */
const launchable = slices.flatMap((slice) => slice.launchable);
const everyMs = 2_000;
/** How many records of each kind one sweep takes, and how many starts run at once. */
const batch = 500;
const lanes = 20;
/** Nobody waits for these starts, and a Temporal that has just come back is slow; shorter than a lease. */
const startDeadlineMs = 4_000;

/** Sweeps until stopped; `stop` waits for the running sweep. */
export function startSweeper(ctx: Starter): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let sweeping: Promise<void> = Promise.resolve();

  const again = () => {
    // Jitter, so that many workers do not query at the same moment.
    timer = setTimeout(run, everyMs * (0.5 + Math.random()));
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

/**
 * Starts what is due now, several at once. While Temporal is away no intent is taken: everything stays due, and is
 * started as soon as Temporal is back, however long the outage was.
 */
export async function sweep(ctx: Starter): Promise<void> {
  const now = ctx.clock();
  const listed = launchable.map(async (model) =>
    (await listDueIntents(model, now, batch)).map((due) => ({ model, ...due })),
  );
  const waiting = inTurns((await Promise.all(listed)).flat(), ({ record }) => record.org_id);
  if (waiting.length === 0) return;
  if (!(await temporalAnswers(ctx))) {
    ctx.log.warn({ waiting: waiting.length }, 'Temporal does not answer; what waits is started when it is back');
    return;
  }
  let outages = 0;
  const lane = async () => {
    // A few outages in a row may concern single starts; as many as there are lanes mean that Temporal is away again.
    for (let one = waiting.shift(); one && outages < lanes; one = waiting.shift()) {
      const outcome = await startDue(ctx, one.model, one);
      outages = outcome === 'outage' ? outages + 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Takes and starts one intent. A failure is logged and does not affect the others. */
async function startDue(ctx: Starter, model: Model<Launchable>, due: Due): Promise<'done' | 'outage'> {
  const about = { workflow_id: due.intent.workflow_id, org_id: due.record.org_id };
  try {
    const intent = await leaseIntent(model, due, ctx.clock());
    if (!intent) return 'done';
    try {
      await startIntent(ctx, model, due.record, intent, startDeadlineMs);
      ctx.log.info({ ...about, tries: intent.tries }, 'workflow started by the sweeper');
    } catch (error) {
      ctx.log.warn({ ...about, tries: intent.tries, err: error }, 'workflow not started; it is tried again');
      // The intent is due again when its lease ends, because an outage says nothing about the intent itself.
      if (isOutage(error)) return 'outage';
      await postponeIntent(model, { record: due.record, intent }, ctx.clock());
    }
  } catch (error) {
    ctx.log.warn({ ...about, err: error }, 'a waiting workflow was not looked after; it is tried again');
  }
  return 'done';
}
