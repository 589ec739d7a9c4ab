/**
 * Processes what arrived for an organization: lanes beside each other, and in each lane one record after the other. Every
 * step may run again at any point: a record is claimed and settled by compare-and-set, and handlers are idempotent by its
 * id.
 */
import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { handlers, type Handlers, type InboundDeps } from './handlers.ts';
import { withHeartbeat } from '../../base/heartbeat.ts';
import {
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

/** Records that are read at once, and lanes that are worked on beside each other. */
const batch = 200;
const lanesAtOnce = 10;
/** Shown to members. */
const maxReasonLength = 500;

/** `by` lets a test bring handlers of its own. */
export function createInboundActivities(deps: InboundDeps, by: Handlers = handlers) {
  const { clock, log } = deps;

  /** Whether the next record of its lane may follow. */
  async function processOne(inbound: Inbound, signal: AbortSignal): Promise<boolean> {
    const attempt = randomUUID();
    if (!(await claimInbound(inbound, attempt))) return false;
    const settled = await settledBy(inbound, signal);
    // A worker that stops leaves the record to the next attempt.
    signal.throwIfAborted();
    const about = { org_id: inbound.org_id, inbound_id: inbound._id, provider: inbound.provider, type: inbound.type };
    if (!(await settleInbound(inbound._id, attempt, settled, clock()))) return false;
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
      signal.throwIfAborted();
      log.warn({ err: error, inbound_id: inbound._id, provider: inbound.provider }, 'what arrived was not processed');
      const reason = (error as Error).message.slice(0, maxReasonLength);
      const wait = inboundWaitMs(inbound.attempts + 1);
      return wait === undefined ? { status: 'failed', reason } : { again: new Date(clock().getTime() + wait), reason };
    }
  }

  async function processLane(records: readonly Inbound[], signal: AbortSignal): Promise<void> {
    for (const record of records) {
      signal.throwIfAborted();
      if (!(await processOne(record, signal))) return;
    }
  }

  async function process({ orgId }: Ref, signal: AbortSignal): Promise<{ againInMs?: number }> {
    const limit = pLimit(lanesAtOnce);
    for (;;) {
      signal.throwIfAborted();
      const now = clock();
      const stored = await listStored(orgId, now, batch);
      if (stored.length === 0) {
        const next = await nextAttemptAt(orgId);
        return next ? { againInMs: Math.max(next.getTime() - now.getTime(), minWaitMs) } : {};
      }
      const lanes = [...Map.groupBy(stored, ({ lane }) => lane).values()];
      await Promise.all(lanes.map((records) => limit(() => processLane(records, signal))));
    }
  }

  return {
    /** Until nothing is left but what failed; `againInMs` is when that is to be tried again. */
    processInbound: (ref: Ref) => withHeartbeat((signal) => process(ref, signal)),
  };
}

/** So that a clock that is a little behind does not make it spin. */
const minWaitMs = 100;
