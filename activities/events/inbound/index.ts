/**
 * Processes an organization's inbound records, which are events from other services. A lane holds the records of one
 * issue or thread, for example. Lanes are processed in parallel, the records of one lane in sequence. Every step can be
 * retried at any point: records are claimed and settled by compare-and-set, and handlers are idempotent by the record's
 * id.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import pLimit, { type LimitFunction } from 'p-limit';
import { handlers, type Handlers, type InboundDeps } from './handlers.ts';
import { count, observe } from '../../../clients/base/meter.ts';
import { NotUnderstood } from '../../../providers/base/understood.ts';
import {
  claimedOf,
  claimInbound,
  listStored,
  nextAttemptAt,
  settleInbound,
  type Inbound,
  type InboundOf,
  type Settled,
} from '../../../models/events/inbound.ts';
import { inboundAttemptMs, inboundWaitMs } from '../../../models/rules/events/inbound.ts';

export type InboundActivities = ReturnType<typeof createInboundActivities>;
/** `againInMs`: when the next retry is due. `isBehind`: more records wait than one worker can process. */
type Processed = { againInMs?: number; isBehind?: boolean };

/** The maximum number of records that one query claims, and of handlers that run in parallel. */
const batch = 200;
const handlersAtOnce = 10;
/**
 * Throttling: after a query that found at least `busyFrom` records, the next query starts no sooner than `paceMs` ms
 * after that query's start. Larger batches cost less, which leaves capacity for the requests that bring the records.
 */
const busyFrom = 10;
const paceMs = 100;
/**
 * While handlers are running, the next query follows after this time, in ms, so that other lanes need not wait for
 * these handlers.
 */
const besideMs = 250;
/** The longest wait for running handlers before the work is handed over to several workers, in ms. */
const handOverMs = 2_000;
/**
 * The activity ends after this time, in ms, so that no single run lasts for hours; its workflow then runs the next one.
 */
const shiftMs = 60_000;
/**
 * A claim younger than this, in ms, is trusted without a query. A worker counts as dead only after 5 s, so nobody has
 * taken the claim over yet.
 */
const reliedMs = 2_000;
/** The maximum length of a reason or outcome, in characters; members see it. */
const maxReasonLength = 500;

/** A claimed record, the id of the attempt that claimed it, and the time of the claim by `performance.now()`. */
type Claimed = { inbound: Inbound; attempt: string; at: number };

/**
 * The state of one run of the activity: its lanes in progress, and the error that ends it, such as an outage of
 * MongoDB.
 */
type Run = { signal: AbortSignal; limit: LimitFunction; lanes: Map<string, Promise<void>>; failure?: Error };

/**
 * Ends the run after an error: no new record is begun, and records in progress are finished first. Returns 0, the
 * number of records found.
 */
function failed(run: Run, error: unknown): 0 {
  run.failure ??= error as Error;
  return 0;
}

/** `by` lets tests replace the handlers. */
export function createInboundActivities(deps: InboundDeps, by: Handlers = handlers) {
  const { clock, log } = deps;

  /** Processes one record. Returns whether the next record of its lane may follow. */
  async function processOne({ inbound, attempt, at }: Claimed, run: Run): Promise<boolean> {
    const { signal } = run;
    const settled = await run.limit(async () => {
      signal.throwIfAborted();
      const stands = performance.now() - at < reliedMs || (await claimedOf([inbound._id], attempt)).length > 0;
      return stands ? settledBy(inbound, signal) : undefined;
    });
    // When the worker shuts down, the record is left to the next attempt.
    signal.throwIfAborted();
    if (!settled) return false;
    const about = { org_id: inbound.org_id, inbound_id: inbound._id, provider: inbound.provider, type: inbound.type };
    if (!(await settleInbound({ id: inbound._id, attempt, settled, now: clock() }))) return false;
    measure(inbound, settled);
    log.info({ ...about, ...('status' in settled ? { status: settled.status } : { again: settled.again }) }, 'inbound');
    return !('again' in settled);
  }

  function measure({ provider, received_at }: Inbound, settled: Settled): void {
    count('inbound_events_total', { provider, outcome: 'status' in settled ? settled.status : 'retried' });
    if ('status' in settled)
      observe('inbound_lag_seconds', { provider }, (clock().getTime() - received_at.getTime()) / 1000);
  }

  async function settledBy(inbound: Inbound, signal: AbortSignal): Promise<Settled> {
    const handle = by[inbound.provider];
    if (!handle) return { status: 'ignored', reason: `Nothing here takes events of ${inbound.provider}.` };
    const limit = AbortSignal.timeout(inboundAttemptMs);
    try {
      const handled = await handle(inbound, deps, AbortSignal.any([signal, limit]));
      return 'ignored' in handled
        ? { status: 'ignored', reason: handled.ignored.slice(0, maxReasonLength) }
        : { status: 'processed', outcome: handled.outcome.slice(0, maxReasonLength) };
    } catch (error) {
      if (error instanceof NotUnderstood) return { status: 'ignored', reason: error.message };
      signal.throwIfAborted();
      log.warn({ err: error, inbound_id: inbound._id, provider: inbound.provider }, 'what arrived was not processed');
      const reason = (error as Error).message.slice(0, maxReasonLength);
      const wait = inboundWaitMs(inbound.attempts + 1);
      return wait === undefined ? { status: 'failed', reason } : { again: new Date(clock().getTime() + wait), reason };
    }
  }

  /** Processes the records of a lane in sequence, until a record has to be retried or the run fails. */
  async function processLane(records: readonly Claimed[], run: Run): Promise<void> {
    for (const record of records) if (run.failure || !(await processOne(record, run))) return;
  }

  /**
   * Claims stored records outside the lanes in progress, and begins to process them. Returns the number of records that
   * the query found.
   */
  async function look(of: InboundOf, run: Run): Promise<number> {
    const stored = await listStored(of, { now: clock(), limit: batch, without: [...run.lanes.keys()] });
    if (stored.length === 0) return 0;
    const attempt = randomUUID();
    const at = performance.now();
    const claimed = await claimInbound(stored, attempt);
    for (const [lane, records] of Map.groupBy(stored, (inbound) => inbound.lane)) {
      // A record that another attempt has claimed blocks the later records of its lane.
      const taken = records.findIndex(({ _id }) => !claimed.has(_id));
      const own = (taken === -1 ? records : records.slice(0, taken)).map((inbound) => ({ inbound, attempt, at }));
      const work = processLane(own, run)
        .catch((error: unknown) => void failed(run, error))
        .finally(() => run.lanes.delete(lane));
      run.lanes.set(lane, work);
    }
    return stored.length;
  }

  async function process(of: InboundOf, signal: AbortSignal): Promise<Processed> {
    const run: Run = { signal, limit: pLimit(handlersAtOnce), lanes: new Map() };
    const end = performance.now() + shiftMs;
    let isBehind = false;
    for (;;) {
      signal.throwIfAborted();
      const began = performance.now();
      const isOver: boolean = began > end || isBehind || run.failure !== undefined;
      const taken: number = isOver ? 0 : await look(of, run).catch((error: unknown) => failed(run, error));
      if (run.lanes.size > 0) {
        const all = Promise.all(run.lanes.values());
        const longest = isBehind ? handOverMs : besideMs;
        await (isOver && !isBehind ? all : Promise.race([all, sleep(longest, undefined, { ref: false })]));
      } else if (run.failure) throw run.failure;
      else if (isBehind) return { isBehind };
      else if (isOver) return { againInMs: minWaitMs };
      else if (taken === 0) return waitOf(of);
      // A full batch means that one worker does not keep up, so the work is handed over to several workers. Work that
      // is already split into parts (`of.part`) is not handed over again. If a slow handler still runs after
      // `handOverMs`, this worker goes on with the other lanes and hands nothing over.
      isBehind = taken === batch ? of.part === undefined : isBehind && run.lanes.size === 0;
      if (taken >= busyFrom) await sleep(Math.max(0, began + paceMs - performance.now()));
    }
  }

  async function waitOf(of: InboundOf): Promise<Processed> {
    const next = await nextAttemptAt(of);
    return next ? { againInMs: Math.max(next.getTime() - clock().getTime(), minWaitMs) } : {};
  }

  return {
    /** Processes records until none is due, or until one worker does not keep up with them. */
    processInbound: (ref: InboundOf) => process(ref, cancellationSignal()),
  };
}

/** The minimum wait in ms; without it, a clock that is slightly behind would cause a busy loop. */
const minWaitMs = 100;
