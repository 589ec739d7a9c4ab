/**
 * Makes one attempt at a delivery: sends it, stores the result, and updates the destination's state. An attempt can be
 * repeated at any point. The receiver then gets the same `webhook-id` again, and only the later attempt's result is
 * stored.
 */
import { count, observe } from '../../clients/base/meter.ts';
import type { Logger } from 'pino';
import { senders as allSenders } from './senders/index.ts';
import { attempted, isKeptBack, stored } from './sending.ts';
import type { DeliverySender, SenderDeps } from '../../providers/base/sender.ts';
import type { Starter } from '../../providers/base/handled.ts';
import { notifyMembers } from '../../models/access/notification.ts';
import { intentFor } from '../../models/base/pending.ts';
import {
  DeliveryModel,
  settleDelivery,
  type Attempt,
  type Delivery,
  type Settling,
} from '../../models/events/delivery.ts';
import {
  disableDestination,
  noteFailure,
  noteSuccess,
  type Destination,
  type DestinationRef,
} from '../../models/events/destination.ts';
import {
  DeliveryRefused,
  hasOwnReceiver,
  maxResponseHead,
  testEventType,
  type DeliveryKind,
  type Refusal,
} from '../../models/rules/events/delivery.ts';
import { noticesWork } from '../../models/rules/chat/work.ts';
import { isHopeless, nextWaitMs } from '../../models/rules/events/schedule.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type AttemptDeps = SenderDeps &
  Starter & {
    senders?: Readonly<Partial<Record<DeliveryKind, DeliverySender>>>;
    random?: () => number;
    log: Logger;
  };

/** The destination of a delivery. `standing`: its stored state; undefined before the first attempt. */
export type Whereto = { ref: DestinationRef; standing: Destination | undefined };

/**
 * The result of an attempt. `retrying`: a retry follows after `waitMs`. `status`: the HTTP status of the response.
 * `slow`: true when the receiver timed out, so that retries go to the queue of slow destinations.
 */
export type Tried =
  | { kind: 'settled' | 'failed' }
  | { kind: 'retrying'; tries: number; waitMs: number; slow: boolean; status: number | undefined };

const logged = ({ _id, org_id, kind }: Delivery) => ({ org_id, delivery_id: _id, kind });
const cut = (text: string | undefined) => text?.slice(0, maxResponseHead);

/**
 * The words for members about a disabled destination: what it no longer gets (`sent`), and what must be saved again to
 * enable it (`saved`), in which settings (`where`).
 */
const aboutOf = (kind: DeliveryKind) =>
  kind === 'notification'
    ? { sent: 'Notifications', saved: 'slack_webhook_url', where: 'the webhooks of the organization' }
    : { sent: 'Ticket events', saved: 'its address or outbox_providers', where: 'the support configuration' };

const disabledMessage = (kind: DeliveryKind): string =>
  `The destination is disabled. Save ${aboutOf(kind).saved} again, then recover what was not sent.`;

export function createAttempts(deps: AttemptDeps) {
  const { senders = allSenders, random = Math.random, start, clock, log } = deps;

  /** Makes the claimed attempt. @throws An outage of this system, such as of MongoDB; the activity is then retried. */
  async function make(delivery: Delivery, whereto: Whereto, signal: AbortSignal): Promise<Tried> {
    const sender = senders[delivery.kind];
    if (!sender) return giveUp(delivery, 'Nothing in this system sends deliveries of this kind.');
    if (await isKeptBack(sender, delivery, delivery.mode, deps)) return suppress(delivery, sender);
    if (whereto.standing?.status === 'disabled' && !hasOwnReceiver(delivery))
      // Members were notified when the destination was disabled, so this failure is not reported again.
      return giveUp(delivery, disabledMessage(delivery.kind), { told: true });
    const at = clock();
    const began = performance.now();
    const sent = await attempted(() => sender.send(delivery, deps, signal), logged(delivery), deps, signal);
    const duration = Math.round(performance.now() - began);
    if (sent instanceof DeliveryRefused) return fail(delivery, whereto, sent, { at, duration });
    const request = sent.request && stored(sent.request);
    const attempt = attemptOf(at, duration, sent);
    await settleDelivery(delivery, { status: 'delivered', attempt, request, result: sent.result }, clock());
    const { kind } = delivery;
    count('delivery_attempts_total', { kind, outcome: 'delivered' });
    observe('delivery_lag_seconds', { kind }, (clock().getTime() - delivery.created_at.getTime()) / 1000);
    const { standing, ref } = whereto;
    if (!hasOwnReceiver(delivery) && (standing?.status !== 'active' || standing.slow)) await noteSuccess(ref, clock());
    return { kind: 'settled' };
  }

  async function fail(
    delivery: Delivery,
    { ref }: Whereto,
    { message: error, refusal }: DeliveryRefused,
    { at, duration }: { at: Date; duration: number },
  ): Promise<Tried> {
    const now = clock();
    const { permanent = false, broken = false, timedOut = false, quiet = false, retryAfterMs } = refusal;
    const tries = delivery.tries + 1;
    const waitMs = permanent || broken ? undefined : nextWaitMs(tries, retryAfterMs, random());
    const next = waitMs === undefined ? undefined : new Date(now.getTime() + waitMs);
    const request = refusal.request && stored(refusal.request);
    const brought = { attempt: { ...attemptOf(at, duration, refusal), error }, request };
    // The destination's state is stored before the result, so that after a crash in between the next run repeats the
    // attempt. In the other order, such a crash would leave the destination enabled, and nobody would be notified.
    if (!hasOwnReceiver(delivery)) {
      const since = await noteFailure(ref, { error, timedOut }, now);
      if (broken || isHopeless(since, now)) await disable(delivery, ref, { error, broken, since });
    }
    if (next) await settleDelivery(delivery, { status: 'retrying', next_attempt_at: next, ...brought }, now);
    // When this failure breaks the destination, `disable` has notified members already, so they are not notified of
    // this delivery too.
    else await settleFailed(delivery, brought, now, { told: quiet || (broken && !hasOwnReceiver(delivery)) });
    const { org_id, _id, kind, mode } = delivery;
    count('delivery_attempts_total', { kind, outcome: next ? 'retrying' : 'failed' });
    log.info({ org_id, delivery_id: _id, kind, mode, tries, reason: error }, 'delivery failed');
    if (waitMs === undefined) return { kind: 'failed' };
    return { kind: 'retrying', tries, waitMs, slow: timedOut, status: refusal.status_code };
  }

  /**
   * Disables a destination. Members are notified first, so that a crash between the two steps loses no notice. A retry
   * does not notify them twice, because `notice.key` stays the same. The key contains `since`, the time since which all
   * attempts fail. Enabling the destination resets `since`, so members are notified again when it is disabled the next
   * time.
   */
  async function disable(
    { destination }: Delivery,
    ref: DestinationRef,
    { error, broken, since }: { error: string; broken: boolean; since: Date },
  ): Promise<void> {
    const { org_id, mode, kind, version } = ref;
    const { sent, saved, where } = aboutOf(kind);
    const why = broken ? error : `For five days it took nothing. The last failure: ${error}`;
    const notice = {
      key: `destination_disabled:${mode}:${kind}:${version}:${since.getTime()}`,
      kind: 'destination_disabled',
      title: `${sent} are no longer sent to ${destination}`,
      body: `${why} Save ${saved} in ${where} to send to it again.`,
      about: [],
    };
    await notifyMembers(org_id, notice, clock());
    await disableDestination(ref, error, clock());
    log.warn({ org_id, mode, kind, reason: error }, 'destination disabled');
  }

  /** Stores the request instead of sending it: in test mode, or when no server is configured that could send it. */
  async function suppress(delivery: Delivery, sender: DeliverySender): Promise<Tried> {
    const request = await attempted(() => sender.preview(delivery, deps), logged(delivery), deps);
    if (request instanceof DeliveryRefused) return giveUp(delivery, request.message);
    await settleDelivery(delivery, { status: 'suppressed', request: stored(request) }, clock());
    return { kind: 'settled' };
  }

  /** Fails a delivery without an attempt. `told`: true when members have been notified already. */
  async function giveUp(delivery: Delivery, error: string, { told = false } = {}): Promise<Tried> {
    await settleFailed(delivery, { error }, clock(), { told });
    return { kind: 'failed' };
  }

  /**
   * Stores that a delivery has failed for good, and has members notified. `told`: true when they have been notified
   * already, or need not be.
   */
  async function settleFailed(
    delivery: Delivery,
    brought: Omit<Settling, 'status' | 'intents'>,
    now: Date,
    { told }: { told: boolean },
  ): Promise<void> {
    const { _id, org_id, event_type } = delivery;
    // A member who sends a test event sees its result, so nobody else is notified.
    const quiet = told || event_type === testEventType;
    const intents = quiet ? [] : [intentFor(noticesWork(org_id, { deliveryId: _id }), now)];
    if (await settleDelivery(delivery, { status: 'failed', ...brought, intents }, now))
      await start(DeliveryModel, delivery, intents);
  }

  return { make };
}

function attemptOf(at: Date, duration: number, { status_code, response_head }: Omit<Refusal, 'cause'>): Attempt {
  const head = cut(response_head);
  return {
    at,
    ...defined({ status_code }),
    duration_ms: duration,
    ...defined({ response_head: head }),
  };
}
