/**
 * Starts workflows that a process saved as intents but did not start, because the process died or Temporal was down.
 * The sweeper is a timer in every worker, so that it does not depend on Temporal. One worker at a time holds the lease
 * and sweeps. A lease on each intent keeps two workers that sweep at the same moment from starting the workflow twice.
 */
import type { Model } from '../models/base/define.ts';
import { isOutage, startIntent, temporalAnswers, type Starter } from '../workflows/start.ts';
import { slices } from './slices/index.ts';
import { giveLease, takeLease } from '../models/base/lease.ts';
import { leaseIntent, listDueIntents, postponeIntent, type Due, type Launchable } from '../models/base/pending.ts';
import { inTurns } from '../models/rules/base/turns.ts';

const launchable = slices.flatMap((slice) => slice.launchable);
const everyMs = 2_000;
/** A dead sweeper is replaced after this time, in ms; the other workers try to take the lease about this often. */
const leaseMs = 6_000;
const lease = 'sweeper';
/**
 * `batch`: the maximum number of records of each model in one sweep. `lanes`: the number of starts that run in
 * parallel.
 */
const batch = 500;
const lanes = 20;
/**
 * The time limit of a start, in ms. A start that takes longer fails. The limit is long, because no request waits for
 * these starts and Temporal is slow after an outage. It must be shorter than the lease of an intent.
 */
const startDeadlineMs = 4_000;

/** Sweeps until stopped; `stop` waits for the starts that are running. */
export function startSweeper(ctx: Starter): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let sweeping: Promise<void> = Promise.resolve();

  const again = (ms: number) => {
    // The jitter prevents many workers from requesting the lease at the same moment.
    timer = setTimeout(run, ms * (0.5 + Math.random() / 2));
  };
  const sweepIfMine = async (): Promise<number> => {
    if (!(await takeLease(lease, leaseMs))) return leaseMs;
    await sweep(ctx, () => stopped);
    return everyMs;
  };
  const run = () => {
    sweeping = sweepIfMine()
      .catch((error: unknown) => {
        ctx.log.warn({ err: error }, 'sweep failed; it is tried again');
        return everyMs;
      })
      .then((ms) => (stopped ? undefined : again(ms)));
  };
  again(everyMs);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
      await giveLease(lease).catch(() => undefined);
    },
  };
}

/**
 * Starts the workflows of all due intents, several in parallel, until `isStopped`. While Temporal is down, no intent is
 * leased. So all intents stay due, and they are started as soon as Temporal is back, however long the outage was.
 */
export async function sweep(ctx: Starter, isStopped = () => false): Promise<void> {
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
    // As many outages in a row as there are lanes mean that Temporal is down again. Fewer outages may have other
    // causes.
    for (let one = waiting.shift(); one && outages < lanes && !isStopped(); one = waiting.shift()) {
      const outcome = await startDue(ctx, one.model, one);
      outages = outcome === 'outage' ? outages + 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/**
 * Takes the lease of one intent (a saved start of a workflow), and starts its workflow. A failure is logged and does
 * not affect the other intents.
 */
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
      // The intent did not cause the outage, so it is not postponed. It is due again when its lease ends.
      if (isOutage(error)) return 'outage';
      await postponeIntent(model, { record: due.record, intent }, ctx.clock());
    }
  } catch (error) {
    ctx.log.warn({ ...about, err: error }, 'a waiting workflow was not looked after; it is tried again');
  }
  return 'done';
}
