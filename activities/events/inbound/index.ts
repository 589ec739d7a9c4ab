/**
 * Processes what arrived for an organization: lanes beside each other, and in each lane one record after the other. Every
 * step may run again at any point: a record is claimed and settled by compare-and-set, and handlers are idempotent by its
 * id.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { handlers, type Handlers, type InboundDeps } from './handlers.ts';
import { NotUnderstood } from '../../../providers/base/understood.ts';
import { withHeartbeat } from '../../base/heartbeat.ts';
import {
  claimedOf,
  claimInbound,
  listStored,
  nextAttemptAt,
  settleInbound,
  type Inbound,
  type Settled,
} from '../../../models/events/inbound.ts';
import { inboundAttemptMs, inboundWaitMs } from '../../../models/rules/events/inbound.ts';

type Ref = { orgId: string };
export type InboundActivities = ReturnType<typeof createInboundActivities>;

/** Records that are taken at once, and handlers that run beside each other. */
const batch = 200;
const handlersAtOnce = 10;
/**
 * After a look that took as many, the next one waits until so long after it began, in ms: what arrives in a burst is taken
 * many at a time, which costs less, and leaves more of the machine to the requests that bring it.
 */
const busyFrom = 10;
const paceMs = 100;
/** How long after a look the next one follows while a handler is still at work, in ms: other lanes do not wait for it. */
const besideMs = 250;
/** An organization may be busy for hours: the activity ends after this time, in ms, and its workflow runs the next one. */
const shiftMs = 60_000;
/** For so long a claim is relied on without a look whether it stands, in ms; a worker is believed dead after 5 s. */
const reliedMs = 2_000;
/** Shown to members. */
const maxReasonLength = 500;

/** A record, and the attempt that claimed it. */
type Claimed = { inbound: Inbound; attempt: string; at: number };

/** One run of the activity: what it runs at once, the lanes that are at work, and why it ends: MongoDB is away. */
type Run = { signal: AbortSignal; limit: LimitFunction; lanes: Map<string, Promise<void>>; failure?: Error };

/** Nothing new is begun after it; what is at work ends first. */
function failed(run: Run, error: unknown): 0 {
  run.failure ??= error as Error;
  return 0;
}

/** `by` lets a test bring handlers of its own. */
export function createInboundActivities(deps: InboundDeps, by: Handlers = handlers) {
  const { clock, log } = deps;

  /** Whether the next record of its lane may follow. */
  async function processOne({ inbound, attempt, at }: Claimed, run: Run): Promise<boolean> {
    const { signal } = run;
    const settled = await run.limit(async () => {
      signal.throwIfAborted();
      const stands = performance.now() - at < reliedMs || (await claimedOf([inbound._id], attempt)).length > 0;
      return stands ? settledBy(inbound, signal) : undefined;
    });
    // A worker that stops leaves the record to the next attempt.
    signal.throwIfAborted();
    if (!settled) return false;
    const about = { org_id: inbound.org_id, inbound_id: inbound._id, provider: inbound.provider, type: inbound.type };
    if (!(await settleInbound({ id: inbound._id, attempt, settled, now: clock() }))) return false;
    log.info({ ...about, ...('status' in settled ? { status: settled.status } : { again: settled.again }) }, 'inbound');
    return !('again' in settled);
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

  /** One after the other: the next one's handler begins once the one before is settled. */
  async function processLane(records: readonly Claimed[], run: Run): Promise<void> {
    for (const record of records) if (run.failure || !(await processOne(record, run))) return;
  }

  /** Takes what is stored and begins with it, without the lanes that are at work. How many it took. */
  async function look(orgId: string, run: Run): Promise<number> {
    const stored = await listStored(orgId, { now: clock(), limit: batch, without: [...run.lanes.keys()] });
    if (stored.length === 0) return 0;
    const attempt = randomUUID();
    const at = performance.now();
    const claimed = await claimInbound(stored, attempt);
    for (const [lane, records] of Map.groupBy(stored, (inbound) => inbound.lane)) {
      // What another attempt has taken since holds back what comes after it.
      const taken = records.findIndex(({ _id }) => !claimed.has(_id));
      const own = (taken === -1 ? records : records.slice(0, taken)).map((inbound) => ({ inbound, attempt, at }));
      const work = processLane(own, run)
        .catch((error: unknown) => void failed(run, error))
        .finally(() => run.lanes.delete(lane));
      run.lanes.set(lane, work);
    }
    return stored.length;
  }

  async function process({ orgId }: Ref, signal: AbortSignal): Promise<{ againInMs?: number }> {
    const run: Run = { signal, limit: pLimit(handlersAtOnce), lanes: new Map() };
    const end = performance.now() + shiftMs;
    for (;;) {
      signal.throwIfAborted();
      const began = performance.now();
      const isOver = began > end || run.failure !== undefined;
      const taken = isOver ? 0 : await look(orgId, run).catch((error: unknown) => failed(run, error));
      if (run.lanes.size > 0) {
        const all = Promise.all(run.lanes.values());
        await (isOver ? all : Promise.race([all, sleep(besideMs, undefined, { ref: false })]));
      } else if (run.failure) throw run.failure;
      else if (isOver) return { againInMs: minWaitMs };
      else if (taken === 0) return waitOf(orgId);
      if (taken >= busyFrom) await sleep(Math.max(0, began + paceMs - performance.now()));
    }
  }

  async function waitOf(orgId: string): Promise<{ againInMs?: number }> {
    const next = await nextAttemptAt(orgId);
    return next ? { againInMs: Math.max(next.getTime() - clock().getTime(), minWaitMs) } : {};
  }

  return {
    /** Until nothing is left but what failed; `againInMs` is when that is to be tried again. */
    processInbound: (ref: Ref) => withHeartbeat((signal) => process(ref, signal)),
  };
}

/** So that a clock that is a little behind does not make it spin. */
const minWaitMs = 100;
