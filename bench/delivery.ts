/**
 * Ticket events on their way to receivers on this machine. Asked: at least 0.8 of the bare one-activity workflows a second
 * that the same Temporal completes in the same run; from event to receipt p50 under 60 ms when idle; at most 3 Temporal
 * actions a delivered event; each ticket in order; beside a destination that always times out, p99 of another one grows by
 * at most a fifth.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { bare } from './peers/bare.ts';
import { countActions, inLanes, onStage, quantile, type Stage } from './stage.ts';
import { apiAt } from '../test/kit/harness.ts';
import { startProcess } from '../test/kit/processes.ts';
import { hang, outboxOf, startReceiver, status, type Receiver } from '../test/kit/receiver.ts';
import { startSaved, type Starter } from '../api/durable.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { newId } from '../models/base/ids.ts';
import { actOn, eventIntents } from '../models/chat/act.ts';
import { ConversationModel } from '../models/chat/conversation.ts';
import { provideConversation } from '../models/chat/current.ts';
import { provideCustomer } from '../models/chat/customer.ts';
import type { Act } from '../models/rules/chat/conversation.ts';

const target = { share: 0.8, p50: 60, actions: 3, growth: 1.2 };
/** Of each ticket: the first escalation makes two events, each further act one. */
const acts: readonly Act[] = ['escalate', 'resolve', 'escalate', 'resolve'];
const eventsOfTicket = acts.length + 1;
/** `npm run bench -- delivery small` is a tenth of it, to see that it runs. */
const small = process.argv[3] === 'small';
const tickets = small ? 20 : 200;
const idleEvents = small ? 20 : 100;
/** The steady pace is this part of what Temporal can do here, so that nothing piles up; for so long at most. */
const pace = 0.1;
const pacedSeconds = small ? 15 : 60;
const lanes = 16;

type Ticket = { orgId: string; convId: string };
type Bench = { ctx: Starter; api: ReturnType<typeof apiAt>; temporal: Client };

export async function run(): Promise<void> {
  const missed: string[] = [];
  await onStage(
    async (stage) => {
      await connectMongo(stage.mongodbUri);
      const connection = await Connection.connect({ address: stage.temporalAddress });
      const temporal = new Client({ connection });
      const ctx: Starter = {
        temporal,
        clock: () => new Date(),
        log: pino({ level: 'silent' }),
        config: { taskQueuePrefix: '' },
      };
      try {
        missed.push(...(await measure(stage, { ctx, api: apiAt(stage.url), temporal })));
      } finally {
        await connection.close();
        await disconnectMongo();
      }
    },
    { EGRESS_ALLOW: '127.0.0.1' },
  );
  console.log(missed.length === 0 ? 'All that was asked for was reached.' : `Not reached: ${missed.join('; ')}`);
}

async function measure(stage: Stage, bench: Bench): Promise<string[]> {
  const receiver = await startReceiver(status(204));
  const peer = await startProcess('bench/peers/workflows.ts', {
    DATA_DIR: stage.dataDir,
    TEMPORAL_ADDRESS: stage.temporalAddress,
  });
  try {
    const { orgId } = await outboxOf(bench.api).newOrg(receiver.url);
    // Everybody is warm, and the destination has proven itself.
    await inLanes(Array.from({ length: 20 }), 4, async () => void (await newTicket(bench, orgId, acts)));
    await arrived(receiver, 20 * eventsOfTicket);
    await bareWorkflows(bench, small ? 50 : 300);
    const slow = await idle(bench, receiver, orgId);
    const { bareRate, missed } = await throughput(bench, receiver, orgId);
    return [...slow, ...missed, ...(await beside(bench, receiver, orgId, bareRate * pace))];
  } finally {
    await peer.stop();
    await receiver.close();
  }
}

async function act({ ctx }: Bench, { orgId, convId }: Ticket, what: Act): Promise<string> {
  const acted = await actOn(orgId, convId, what, { now: new Date(), reason: 'asked' });
  await startSaved(ctx, ConversationModel, acted, eventIntents(acted));
  return acted.ticket!.ticket_id;
}

/** A conversation of a new customer, with these acts done to it as an API process or an activity does them. */
async function newTicket(bench: Bench, orgId: string, done: readonly Act[]): Promise<Ticket> {
  const now = new Date();
  const customer = await provideCustomer(orgId, 'live', { externalId: newId('request'), name: 'Ada Example' }, now);
  const { _id: convId } = await provideConversation(orgId, 'live', customer._id, now);
  const ticket = { orgId, convId };
  for (const what of done) await act(bench, ticket, what);
  return ticket;
}

async function arrived({ received }: Receiver, count: number): Promise<void> {
  for (const began = performance.now(); received.length < count; await sleep(2))
    if (performance.now() - began > 120_000) throw new Error(`${received.length} of ${count} events arrived`);
}

/** Starts and completes one-activity workflows; their rate. */
async function bareWorkflows({ temporal }: Bench, count: number): Promise<number> {
  const began = performance.now();
  await inLanes(Array.from({ length: count }), lanes * 2, async () => {
    const options = { taskQueue: 'bare', workflowId: newId('request'), args: [] as [] };
    await temporal.workflow.execute(bare, options);
  });
  return count / ((performance.now() - began) / 1000);
}

async function idle(bench: Bench, receiver: Receiver, orgId: string): Promise<string[]> {
  const series = async (make: () => Promise<unknown>): Promise<number[]> => {
    const seen: number[] = [];
    for (let n = 0; n < idleEvents; n += 1) {
      await sleep(100);
      const before = receiver.received.length;
      const began = Date.now();
      const made = make();
      await arrived(receiver, before + 1);
      seen.push(receiver.received[before]!.at - began);
      await made;
      await sleep(100);
    }
    return seen.toSorted((a, b) => a - b);
  };
  const fresh = (): Promise<Ticket> => newTicket(bench, orgId, []);
  const line = (seen: number[]) => `p50 ${quantile(seen, 0.5)} ms, p99 ${quantile(seen, 0.99)} ms`;
  let ticket = await fresh();
  const stored = await series(async () => {
    const one = ticket;
    await act(bench, one, 'escalate');
    ticket = await fresh();
  });
  console.log(`Idle, ${idleEvents} events one after the other`);
  console.log(`  act to receipt           ${line(stored)} (under ${target.p50})`);
  return quantile(stored, 0.5) < target.p50 ? [] : ['p50 from event to receipt'];
}

/** What arrived of each ticket, by its events' numbers, is 1, 2, 3 … once each. */
function orderFaults(received: Receiver['received']): number {
  const seen = new Map<string, number>();
  let faults = 0;
  for (const { event } of received) {
    const { ticket_id, event_seq } = event.data.ticket;
    if (event_seq !== (seen.get(ticket_id) ?? 0) + 1) faults += 1;
    seen.set(ticket_id, event_seq);
  }
  return faults;
}

async function throughput(
  bench: Bench,
  receiver: Receiver,
  orgId: string,
): Promise<{ bareRate: number; missed: string[] }> {
  const count = tickets * eventsOfTicket;
  const conversations: Ticket[] = [];
  await inLanes(Array.from({ length: tickets }), lanes, async () => {
    conversations.push(await newTicket(bench, orgId, []));
  });
  const [bareRates, rates]: number[][] = [[], []];
  // The machine's speed changes by the minute: before and after.
  bareRates!.push(await bareWorkflows(bench, count));
  receiver.received.length = 0;
  const ids = new Set<string>();
  const began = performance.now();
  await inLanes(conversations, lanes, async (ticket) => {
    for (const what of acts) ids.add(await act(bench, ticket, what));
  });
  const made = performance.now();
  await arrived(receiver, count);
  const ended = performance.now();
  rates!.push(count / ((ended - began) / 1000));
  bareRates!.push(await bareWorkflows(bench, count));
  const bareRate = (bareRates![0]! + bareRates![1]!) / 2;
  const faults = orderFaults(receiver.received);
  const actions = await actionsOf(bench, ids);
  const share = rates![0]! / bareRate;
  console.log(`${count} events of ${tickets} tickets, ${lanes} callers`);
  console.log(`  events a second          ${rates![0]!.toFixed(0)} (made in ${((made - began) / 1000).toFixed(1)} s)`);
  console.log(`  bare workflows a second  ${bareRates!.map((rate) => rate.toFixed(0)).join(', ')}`);
  console.log(`  share                    ${share.toFixed(2)} (at least ${target.share})`);
  console.log(`  Temporal actions an event ${(actions / count).toFixed(2)} (at most ${target.actions})`);
  console.log(`  out of order or doubled  ${faults} (to reach: 0)`);
  const missed = [
    ...(share >= target.share ? [] : ['events a second']),
    ...(actions / count <= target.actions ? [] : ['Temporal actions']),
    ...(faults === 0 ? [] : ['order']),
  ];
  return { bareRate, missed };
}

/** Temporal actions over all runs of these tickets' workflows. */
async function actionsOf({ temporal }: Bench, ids: ReadonlySet<string>): Promise<number> {
  let actions = 0;
  for (const id of ids) {
    for await (const { runId } of temporal.workflow.list({ query: `WorkflowId = "ticket:${id}"` })) {
      const { events } = await temporal.workflow.getHandle(`ticket:${id}`, runId).fetchHistory();
      actions += countActions(events ?? []);
    }
  }
  if (actions === 0) throw new Error('no ticket is in the list of workflows');
  return actions;
}

/** One destination at a steady pace: alone, beside one that answers, beside one that never does. */
async function beside(bench: Bench, receiver: Receiver, orgId: string, perSecond: number): Promise<string[]> {
  const paced = Math.min(600, Math.ceil(perSecond * pacedSeconds));
  const other = await startReceiver(status(204));
  const { orgId: otherOrg } = await outboxOf(bench.api).newOrg(other.url);
  const series = async (also: boolean): Promise<number[]> => {
    const began = new Map<string, number>();
    receiver.received.length = 0;
    const making: Promise<unknown>[] = [];
    for (let n = 0; n < paced; n += 1) {
      const ticket = await newTicket(bench, orgId, []);
      began.set(ticket.convId, Date.now());
      making.push(act(bench, ticket, 'escalate'));
      if (also) making.push(newTicket(bench, otherOrg, ['escalate']));
      await sleep(1000 / perSecond);
    }
    await Promise.all(making);
    await arrived(receiver, paced * 2);
    return receiver.received
      .filter(({ event }) => event.data.ticket.event_seq === 1)
      .map(({ at, event }) => at - began.get(event.data.conversation.conv_id)!)
      .toSorted((a, b) => a - b);
  };
  const alone = await series(false);
  const answering = await series(true);
  other.answer = hang;
  const hanging = await series(true);
  const line = (seen: number[]) => `p50 ${quantile(seen, 0.5)} ms, p99 ${quantile(seen, 0.99)} ms`;
  const growth = quantile(hanging, 0.99) / quantile(alone, 0.99);
  console.log(`${paced} tickets, ${perSecond.toFixed(1)} a second`);
  console.log(`  alone                    ${line(alone)}`);
  console.log(`  beside one that answers  ${line(answering)}`);
  console.log(`  beside one that hangs    ${line(hanging)}`);
  console.log(`  p99 beside one that hangs, to alone ${growth.toFixed(2)} (at most ${target.growth})`);
  await other.close();
  return growth <= target.growth ? [] : ['p99 beside a destination that hangs'];
}
