/**
 * The activities of deliveries: they plan what a ticket's events are sent as, and send what is outstanding of a line, one
 * after the other. What comes next is in MongoDB, so each may run again at any point. Workflows and their histories see ids,
 * numbers and times: where it goes and what the receiver said may hold addresses of people, and is read by the delivery's id.
 */
import { withHeartbeat } from '../base/heartbeat.ts';
import { createAttempts, type AttemptDeps, type Whereto } from './attempt.ts';
import { createGate } from './gate.ts';
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
import { destinationId, findDestinations } from '../../models/events/destination.ts';
import { findSupportConfig } from '../../models/integrations/supportconfig.ts';
import { outstanding, type DeliveryKind } from '../../models/rules/events/delivery.ts';
import { retryWaits } from '../../models/rules/events/schedule.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** What operators see of a line that waits. `attempts`: how many are made at most; `status`: what the receiver answered last. */
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
 * What is left of a line. `more`: an activity has to go on at once. `waiting`: nothing is due before `waitMs`. `slow`: it is
 * to go on where nothing else waits for it. `failed`: the delivery that was given up last.
 */
export type LineLeft =
  | { kind: 'done'; failed?: string }
  | { kind: 'more'; slow: boolean }
  | { kind: 'waiting'; waitMs: number; slow: boolean; shown?: Shown };

export type TicketRef = { orgId: string; convId: string; ticketId: string };
/** `carried`: lines of the ticket that the workflow is at already. */
export type EventsRef = TicketRef & { carried: string[] };
/** The lines with something outstanding. */
export type EventsOutcome = { lines: { line: string; left: Exclude<LineLeft, { kind: 'done' }> }[]; failed?: string };
export type LineRef = { orgId: string; line: string };

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

/** Attempts at one destination under way in one process; more are sent from the queue of slow ones. */
export const inFlightPerDestination = 8;
/** Deliveries of a line that one query reads. */
const batch = 50;
/** An activity works on a line for this long, in ms; then the next one goes on, on any worker. */
const worksForMs = 30_000;
/** Clocks differ a little: an attempt this early is on time, in ms. */
const earlyMs = 1_000;
/** After an attempt of somebody else was met, in ms. */
const againMs = 5_000;

/** `slow`: for destinations that do not answer in time, or have as many attempts under way as they may. */
export function createDeliveryActivities(deps: AttemptDeps, { slow = false }: { slow?: boolean } = {}) {
  const { clock, senders = allSenders } = deps;
  const { make } = createAttempts(deps);
  const gate = createGate(slow ? Number.POSITIVE_INFINITY : inFlightPerDestination);

  /** What is known of the destinations of an organization and mode. */
  async function destinationsOf(orgId: string, mode: Delivery['mode'], version: number) {
    const known = await findDestinations(orgId, mode, version);
    return (kind: DeliveryKind): Whereto => ({
      ref: { org_id: orgId, mode, kind, version },
      standing: known.get(kind),
    });
  }

  /** Sends these in order until one has to wait. One that has a claim was claimed by the caller (`claimed`). */
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
      const leave = gate.enter(destinationId(whereto.ref));
      if (!leave) return { kind: 'more', slow: true };
      try {
        const own = delivery === claimed ? delivery : await claimDelivery(delivery, clock());
        if (!own) {
          if (await isOutstanding(delivery)) return { kind: 'waiting', waitMs: againMs, slow };
          continue;
        }
        const tried = await make(own, whereto, signal);
        if (tried.kind === 'failed') {
          failed = own._id;
          // It may have been disabled by this.
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
        leave();
      }
    }
    return { kind: 'done', ...defined({ failed }) };
  }

  return {
    /**
     * Plans the events of a ticket that were not planned before, and makes the first attempts at once where the destination
     * answers well; other lines are left to activities of their own, so that a bad destination holds up no other.
     */
    async sendEvents({ orgId, convId, ticketId, carried }: EventsRef): Promise<EventsOutcome> {
      return withHeartbeat(async (signal) => {
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
        // What was stored by an attempt at this activity that died, and what is not due or not ours to send now.
        const others = new Set(before.map(({ line }) => line));
        const sent = [...Map.groupBy(records, ({ line }) => line)].map(async ([line, own]) => {
          const [first] = own;
          if (!first?.claim || !own.every(isNew)) return void others.add(line);
          return { line, left: await sendInOrder(own, whereto(first.kind), signal, first) };
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
      });
    },

    /** Sends what is outstanding of a line until something has to wait. */
    async sendSome({ orgId, line }: LineRef): Promise<LineLeft> {
      return withHeartbeat(async (signal) => {
        const deliveries = await outstandingOf(orgId, line, batch);
        const [first] = deliveries;
        if (!first) return { kind: 'done' };
        const { outbox_version } = await findSupportConfig(orgId);
        const whereto = (await destinationsOf(orgId, first.mode, outbox_version))(first.kind);
        // What does not answer in time waits where only its like do.
        if (!slow && whereto.standing?.slow) return { kind: 'more', slow: true };
        const left = await sendInOrder(deliveries, whereto, signal);
        return left.kind === 'done' && deliveries.length === batch ? { kind: 'more', slow } : left;
      });
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
