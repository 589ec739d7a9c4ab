/**
 * The activities of deliveries. They plan the deliveries of a ticket's events, and send the unsent deliveries of a line
 * in order. A line is a queue of deliveries, such as those of one ticket to one destination. All progress is stored in
 * MongoDB, so each activity can be retried at any point. Workflow histories only contain ids, numbers and times,
 * because destinations and responses may contain personal addresses.
 */
import { cancellationSignal } from '@temporalio/activity';
import { createAttempts, type AttemptDeps, type Whereto } from './attempt.ts';
import { composeEvents } from './planning.ts';
import { senders as allSenders } from './senders/index.ts';
import { findConversation, settlePlanned, type Conversation, type Ticket } from '../../models/chat/conversation.ts';
import { findCustomer } from '../../models/chat/customer.ts';
import {
  claimDelivery,
  deliveryRecords,
  findDelivery,
  insertDeliveries,
  outstandingOf,
  outstandingOfTicket,
  type Delivery,
} from '../../models/events/delivery.ts';
import { destinationId, findDestinations, settingsVersion } from '../../models/events/destination.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import { outstanding, type DeliveryKind } from '../../models/rules/events/delivery.ts';
import { retryWaits } from '../../models/rules/events/schedule.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * What operators see in Temporal of a line (a queue of deliveries) that waits for the next attempt of its first
 * delivery. `attempt`: the number of attempts made. `attempts`: their maximum number. `nextAt`: the time of the next
 * attempt. `status`: the HTTP status of the latest response.
 */
export type Shown = {
  deliveryId: string;
  kind: DeliveryKind;
  event: string;
  attempt: number;
  attempts: number;
  nextAt: string;
  status?: number;
};

/**
 * What remains to do in a line (a queue of deliveries). `more`: another activity must continue at once. `waiting`:
 * nothing is due before `waitMs`. `slow`: the line must continue on the queue of slow destinations. `failed`: the id of
 * the delivery that failed last.
 */
export type LineLeft =
  | { kind: 'done'; failed?: string }
  | { kind: 'more'; slow: boolean }
  | { kind: 'waiting'; waitMs: number; slow: boolean; shown?: Shown };

export type TicketRef = { orgId: string; convId: string; ticketId: string };
/** `carried`: the ticket's lines (queues whose deliveries are sent in order) that the workflow is already sending. */
export type EventsRef = TicketRef & { carried: string[] };
/** The lines with unsent deliveries, and the id of a delivery that failed. */
export type EventsOutcome = { lines: { line: string; left: Exclude<LineLeft, { kind: 'done' }> }[]; failed?: string };
export type LineRef = { orgId: string; line: string };

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

/**
 * The maximum number of attempts in flight to one destination per process. Further attempts go to the queue of slow
 * destinations.
 */
export const inFlightPerDestination = 8;
/**
 * The maximum number of deliveries that one query reads of a line (the deliveries of one ticket to one destination), in
 * order.
 */
const batch = 50;
/** After this time, in ms, an activity hands its line over to the next activity, which may run on any worker. */
const worksForMs = 30_000;
/** The tolerance for clock differences, in ms: an attempt may be made this much too early. */
const earlyMs = 1_000;
/** The wait, in ms, when another attempt holds the claim on a delivery. */
const againMs = 5_000;

/**
 * `slow`: whether the activities serve the queue for destinations that time out or have reached their limit of attempts
 * in flight.
 */
export function createDeliveryActivities(deps: AttemptDeps, { slow = false }: { slow?: boolean } = {}) {
  const { clock, senders = allSenders } = deps;
  const { make } = createAttempts(deps);
  /** The number of attempts in flight, by destination. */
  const inFlight = new Map<string, number>();

  /** Reads the states of the organization's destinations in a mode. */
  async function destinationsOf(orgId: string, mode: Delivery['mode'], version: number) {
    const known = await findDestinations(orgId, mode, version);
    return (kind: DeliveryKind): Whereto => ({
      ref: { org_id: orgId, mode, kind, version },
      standing: known.get(kind),
    });
  }

  /**
   * Sends the deliveries in order. Stops when the next attempt of a delivery is not due yet. `claimed`: a delivery that
   * the caller has claimed already.
   */
  async function sendInOrder(
    deliveries: readonly Delivery[],
    known: Whereto,
    signal: AbortSignal,
    claimed?: Delivery,
  ): Promise<LineLeft> {
    const until = performance.now() + worksForMs;
    let whereto = known;
    let failed: string | undefined;
    for (const delivery of deliveries) {
      signal.throwIfAborted();
      const waitMs = (delivery.next_attempt_at?.getTime() ?? 0) - clock().getTime();
      if (waitMs > earlyMs)
        return waiting(delivery, waitMs, whereto.standing?.slow ?? false, delivery.attempts.at(-1)?.status_code);
      if (performance.now() > until) return { kind: 'more', slow: false };
      const destination = destinationId(whereto.ref);
      const others = inFlight.get(destination) ?? 0;
      if (others >= inFlightPerDestination && !slow) return { kind: 'more', slow: true };
      inFlight.set(destination, others + 1);
      try {
        const own = delivery === claimed ? delivery : await claimDelivery(delivery, clock());
        if (!own) {
          if (await isOutstanding(delivery)) return { kind: 'waiting', waitMs: againMs, slow };
          continue;
        }
        const tried = await make(own, whereto, signal);
        if (tried.kind === 'failed') {
          failed = own._id;
          // The failure may have disabled the destination, so its state is read again.
          const { org_id, mode, version, kind } = whereto.ref;
          whereto = (await destinationsOf(org_id, mode, version))(kind);
        }
        if (tried.kind === 'retrying') {
          const { tries, status, waitMs: pause } = tried;
          return waiting(
            { ...own, tries, next_attempt_at: new Date(clock().getTime() + pause) },
            pause,
            tried.slow,
            status,
          );
        }
      } finally {
        const left = inFlight.get(destination)! - 1;
        if (left > 0) inFlight.set(destination, left);
        else inFlight.delete(destination);
      }
    }
    return { kind: 'done', ...defined({ failed }) };
  }

  return {
    /**
     * Plans the unplanned events of a ticket. For destinations that respond well, the first attempts are made at once.
     * The other lines are left to separate activities, so that a bad destination holds up no other destination.
     */
    async sendEvents({ orgId, convId, ticketId, carried }: EventsRef): Promise<EventsOutcome> {
      const [conversation, supportConfig] = await Promise.all([
        findConversation(orgId, convId),
        findSupportConfig(orgId),
      ]);
      if (!conversation || !isOf(conversation, ticketId)) return { lines: [] };
      const { mode, events, events_planned = 0, customer_id } = conversation;
      const unplanned = events.filter(({ seq }) => seq > events_planned);
      const [customer, whereto, before] = await Promise.all([
        unplanned.length === 0 ? null : findCustomer(orgId, customer_id),
        destinationsOf(orgId, mode, supportConfig.outbox_version),
        outstandingOfTicket(orgId, ticketId),
      ]);
      const busy = new Set([...carried, ...before.map(({ line }) => line)]);
      const composed = await composeEvents(unplanned, { conversation, supportConfig, customer }, senders, deps);
      const records = deliveryRecords(composed, clock(), ({ kind, line = '' }) => {
        const { standing } = whereto(kind);
        const good = mode === 'test' || (standing?.status === 'active' && !standing.slow);
        const isFirst = !busy.has(line);
        busy.add(line);
        return good && isFirst;
      });
      const isNew = await insertDeliveries(records);
      const last = unplanned.at(-1);
      const planned = last && settlePlanned(orgId, convId, last.seq);
      // The lines that are left to `sendSome`: lines with earlier unsent deliveries, and lines that this activity must
      // not send.
      const others = new Set(before.map(({ line }) => line));
      const sent = [...Map.groupBy(records, ({ line }) => line)].map(async ([line, own]) => {
        const [first] = own;
        if (!first?.claim || !own.every(isNew)) return void others.add(line);
        return { line, left: await sendInOrder(own, whereto(first.kind), cancellationSignal(), first) };
      });
      const [ends] = await Promise.all([Promise.all(sent), planned]);
      const done = ends.filter((end) => end !== undefined);
      const failed = done.map(({ left }) => (left.kind === 'done' ? left.failed : undefined)).find(Boolean);
      const slowLine = (line: string): boolean => {
        const kind = [...before, ...records].find((delivery) => delivery.line === line)!.kind;
        return whereto(kind).standing?.slow ?? false;
      };
      const left = [...others].map((line) => ({ line, left: { kind: 'more' as const, slow: slowLine(line) } }));
      return {
        lines: [...left, ...done.filter(isLeft)],
        ...defined({ failed }),
      };
    },

    /**
     * Sends the unsent deliveries of one line, such as those of one ticket to one destination, in order. Stops when the
     * next attempt of a delivery is not due yet.
     */
    async sendSome({ orgId, line }: LineRef): Promise<LineLeft> {
      const deliveries = await outstandingOf(orgId, line, batch);
      const [first] = deliveries;
      if (!first) return { kind: 'done' };
      const version = await settingsVersion(orgId, first.kind);
      const whereto = (await destinationsOf(orgId, first.mode, version))(first.kind);
      // A line to a slow destination continues on the queue of slow destinations.
      if (!slow && whereto.standing?.slow) return { kind: 'more', slow: true };
      const left = await sendInOrder(deliveries, whereto, cancellationSignal());
      return left.kind === 'done' && deliveries.length === batch ? { kind: 'more', slow } : left;
    },
  };
}

const isOf = (conversation: Conversation, ticketId: string): conversation is Conversation & { ticket: Ticket } =>
  conversation.ticket?.ticket_id === ticketId;

const isLeft = <L extends { left: LineLeft }>(one: L): one is L & { left: Exclude<LineLeft, { kind: 'done' }> } =>
  one.left.kind !== 'done';

async function isOutstanding({ org_id, _id }: Delivery): Promise<boolean> {
  const standing = await findDelivery(org_id, _id);
  return standing !== null && outstanding.includes(standing.status);
}

function waiting(delivery: Delivery, waitMs: number, slow: boolean, status: number | undefined): LineLeft {
  const { _id: deliveryId, kind, event_type, tries, next_attempt_at } = delivery;
  const nextAt = next_attempt_at?.toISOString() ?? '';
  const shown = {
    deliveryId,
    kind,
    event: event_type,
    attempt: tries,
    attempts: retryWaits.length,
    nextAt,
    ...defined({ status }),
  };
  return { kind: 'waiting', waitMs, slow, shown };
}
