/**
 * Stores a verified event from another service in one record with the intent to start its workflow, then replies. The
 * connection that the event came through determines its organization. The workflow is signalled shortly after, once for
 * many events; the sweeper (workers/sweeper.ts) signals it if this process dies.
 */
import type { Context } from '../context.ts';
import { startUnsettled } from '../../workflows/start.ts';
import { perConfig } from '../http/perconfig.ts';
import { newId } from '../../models/base/ids.ts';
import { intentFor } from '../../models/base/pending.ts';
import { cached } from '../../models/base/cached.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { partOf, settleArrivals, storeInbound, type Inbound } from '../../models/events/inbound.ts';
import { effectiveMode } from '../../models/rules/access/keys.ts';
import { expiryOf } from '../../models/rules/base/retention.ts';
import { inboundWork } from '../../models/rules/events/work.ts';
import type { Arrival, OwnedBy } from '../../providers/base/arrival.ts';

/** Stores an event and signals the workflow that processes it; returns false for an event that was stored before. */
export async function takeIn(ctx: Context, arrival: Arrival): Promise<boolean> {
  const stored = await storeArrival(ctx, arrival);
  if (stored?.pending) wake(ctx, stored);
  return stored !== null;
}

/**
 * Stores an event; returns null for an event that was stored before. If the caller does not `wake` the workflow, the
 * sweeper does it later.
 */
export async function storeArrival(ctx: Context, arrival: Arrival): Promise<Inbound | null> {
  const { provider, sender, keys, owner, lane, type, body } = arrival;
  const now = ctx.clock();
  const record = {
    _id: newId('inbound'),
    provider,
    keys: keys.map((key) => `${sender} ${key}`),
    lane,
    part: partOf(lane),
    type: type.slice(0, maxTypeLength),
    attempts: 0,
    about: [],
    received_at: now,
    expires_at: expiryOf('inbound', now),
  };
  if ('unknown' in owner) {
    ctx.log.info({ provider, type: record.type, reason: owner.unknown }, 'an event of nobody who is connected');
    const nobodys: Inbound = {
      ...record,
      org_id: '',
      mode: 'test',
      body: '',
      status: 'ignored',
      reason: owner.unknown,
      settled_at: now,
    };
    return (await storeInbound(nobodys)) ? nobodys : null;
  }
  const intent = intentFor(inboundWork(owner.orgId), now);
  const inbound: Inbound = {
    ...record,
    org_id: owner.orgId,
    mode: owner.mode,
    body,
    status: 'stored',
    pending: [intent],
  };
  return (await storeInbound(inbound)) ? inbound : null;
}

/** Signals the organization's workflow in the background. */
export const wake = (ctx: Context, inbound: Inbound): void => wakers(ctx.config).wake(ctx, inbound);

const maxTypeLength = 100;

/**
 * The pause after a signal to an organization's workflow, in ms. Events that arrive within the pause share the next
 * signal. The pause grows with the number of events in the last signal, so that a burst costs a few signals a second
 * and a single event is not delayed.
 */
const gatherMs = (told: number): number => Math.min(20 + 2 * told, 200);
/**
 * This many ms after a signal, the intents of the events that are still unprocessed are removed. Most events are
 * processed by then; the write that stores their outcome also removes their intents. The sweeper signals again for
 * events that keep their intents.
 */
const noteAfterMs = 1_500;

/**
 * Signals workflows in the background: one signal at a time for each organization, which covers all events that
 * arrived.
 */
const wakers = perConfig(() => {
  const waiting = new Map<string, Inbound[]>();
  const noteLater = (ctx: Context, told: readonly Inbound[]): void => {
    const note = (): Promise<void> =>
      settleArrivals(told.map(({ _id }) => _id)).catch((error: unknown) =>
        ctx.log.warn({ err: error }, 'arrivals not noted as told of; the sweeper tells of them again'),
      );
    // If this process ends before the timer fires, the sweeper signals once more.
    setTimeout(() => void note(), noteAfterMs).unref();
  };
  async function tell(ctx: Context, orgId: string): Promise<void> {
    for (;;) {
      const arrived = waiting.get(orgId)!;
      if (arrived.length === 0) break;
      waiting.set(orgId, []);
      const [first] = arrived;
      try {
        await startUnsettled(ctx, first!, first!.pending![0]!);
        noteLater(ctx, arrived);
      } catch (error) {
        ctx.log.warn({ err: error, org_id: orgId }, 'workflow not started; the sweeper will');
      }
      await new Promise((resolve) => setTimeout(resolve, gatherMs(arrived.length)));
    }
    waiting.delete(orgId);
  }
  return {
    wake(ctx: Context, inbound: Inbound): void {
      const arrived = waiting.get(inbound.org_id);
      if (arrived) return void arrived.push(inbound);
      waiting.set(inbound.org_id, [inbound]);
      void tell(ctx, inbound.org_id);
    },
  };
});

const environments = perConfig(() => cached(async (orgId: string) => (await findOrganization(orgId))?.environment));

/** Looks up an organization as the owner of an event, in the organization's current mode. */
export const ownedBy =
  ({ config }: Pick<Context, 'config'>): OwnedBy =>
  async (orgId) => {
    const environment = await environments(config)(orgId);
    if (environment === undefined) return { unknown: 'The organization is gone.' };
    return { orgId, mode: effectiveMode('legacy', environment).mode };
  };
