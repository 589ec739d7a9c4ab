/**
 * Takes in what another service sent, once it is verified: one record with its intent, then the answer. Whose it is comes
 * from what was connected. The workflow is told a moment later, of many at once; the sweeper does what this process leaves.
 */
import type { Context } from '../context.ts';
import { startUnsettled } from '../../workflows/start.ts';
import { perConfig } from '../http/perconfig.ts';
import { newId } from '../../models/base/ids.ts';
import { intentFor } from '../../models/base/pending.ts';
import { cached } from '../../models/base/cached.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { settleArrivals, storeInbound, type Inbound } from '../../models/events/inbound.ts';
import { effectiveMode } from '../../models/rules/access/keys.ts';
import { inboundKeptUntil } from '../../models/rules/events/inbound.ts';
import { inboundWork } from '../../models/rules/events/work.ts';
import type { Arrival, OwnedBy } from '../../providers/base/arrival.ts';

/** Stores what arrived, and has it processed; false when it was there before. */
export async function takeIn(ctx: Context, arrival: Arrival): Promise<boolean> {
  const stored = await storeArrival(ctx, arrival);
  if (stored?.pending) wake(ctx, stored);
  return stored !== null;
}

/** Stores what arrived; null when it was there before. Whoever does not `wake` its workflow leaves that to the sweeper. */
export async function storeArrival(ctx: Context, arrival: Arrival): Promise<Inbound | null> {
  const { provider, sender, keys, owner, lane, type, body } = arrival;
  const now = ctx.clock();
  const record = {
    _id: newId('inbound'),
    provider,
    keys: keys.map((key) => `${sender} ${key}`),
    lane,
    type: type.slice(0, maxTypeLength),
    attempts: 0,
    about: [],
    received_at: now,
    expires_at: inboundKeptUntil(now),
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

/** Tells the workflow of the organization, without waiting for Temporal. */
export const wake = (ctx: Context, inbound: Inbound): void => wakers(ctx.config).wake(ctx, inbound);

const maxTypeLength = 100;

/**
 * The pause after a signal to an organization's workflow, in ms: what arrives within it shares the next signal. Each arrival
 * that a signal told of makes it longer, so that a burst costs a few signals a second and a single event waits for none.
 */
const gatherMs = (told: number): number => Math.min(20 + 2 * told, 200);
/**
 * How long after its signal an arrival that is still stored is noted as told of, in ms. Most are settled by then, which notes
 * it in the same write; the sweeper takes up what is neither after `sweepAfterMs`.
 */
const noteAfterMs = 1_500;

/** Tells workflows, and no request waits for it: one signal an organization at a time, which tells of all that arrived. */
const wakers = perConfig(() => {
  const waiting = new Map<string, Inbound[]>();
  const noteLater = (ctx: Context, told: readonly Inbound[]): void => {
    const note = (): Promise<void> =>
      settleArrivals(told.map(({ _id }) => _id)).catch((error: unknown) =>
        ctx.log.warn({ err: error }, 'arrivals not noted as told of; the sweeper tells of them again'),
      );
    // A process that ends before leaves them to the sweeper, which tells of them once more.
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

const environments = perConfig(() => cached(async (orgId) => (await findOrganization(orgId))?.environment));

/** Organizations as owners of what arrived, in the mode that each is in. */
export const ownedBy =
  ({ config }: Pick<Context, 'config'>): OwnedBy =>
  async (orgId) => {
    const environment = await environments(config).read(orgId);
    if (environment === undefined) return { unknown: 'The organization is gone.' };
    return { orgId, mode: effectiveMode('legacy', environment).mode };
  };
