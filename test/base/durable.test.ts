/** Saving and starting on a real database, with a Temporal that does what a test tells it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { launch, type Start, type Starter } from '../../api/durable.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { newId } from '../../models/base/ids.ts';
import { actOn } from '../../models/chat/act.ts';
import { ConversationModel, findConversation, provideConversation } from '../../models/chat/conversation.ts';
import { defineSignal } from '@temporalio/workflow';

beforeAll(async () => {
  const uri = new URL(process.env['TEST_MONGODB_URI']!);
  uri.pathname = '/durable';
  await connectMongo(uri.href);
});
afterAll(disconnectMongo);

const orgId = newId('org');
const begin = async () => (await provideConversation(orgId, 'test', newId('customer'), new Date()))._id;

/** A Temporal where each start is `answer`, which is given the workflow's id. */
function starter(answer: (workflowId: string) => Promise<void>): Starter & { started: string[] } {
  const started: string[] = [];
  const start = async (_workflow: unknown, { workflowId }: { workflowId: string }) => {
    await answer(workflowId);
    started.push(workflowId);
  };
  const temporal = {
    withDeadline: (_deadline: number, work: () => unknown) => work(),
    workflow: { start, signalWithStart: start },
  } as unknown as Client;
  const clock = () => new Date();
  return { temporal, clock, log: pino({ level: 'silent' }), config: { taskQueuePrefix: '' }, started };
}

async function work(_ref: { id: string }): Promise<void> {}
const working = (id: string): Start<Parameters<typeof work>> => ({
  workflow: work,
  id,
  queue: 'conversations',
  args: [{ id }],
});
const pendingOf = async (convId: string) =>
  (await findConversation(orgId, convId))?.pending?.map(({ workflow_id }) => workflow_id);

describe('an act that concerns several workflows', () => {
  it('leaves an intent for each, all are started, and each is settled by itself', async () => {
    const convId = await begin();
    const ctx = starter(async (id) => {
      if (id === 'second') throw new Error('Temporal is away');
    });
    const told = { ...working('first'), signal: defineSignal('told') };
    const starts = [told, working('second'), working('third')] as const;
    const act = await launch(ctx, ConversationModel, starts, (intents) =>
      actOn(orgId, convId, 'escalate', { now: new Date(), intents }),
    );
    expect(act.pending?.map(({ workflow_id }) => workflow_id)).toEqual(['first', 'second', 'third']);
    expect(ctx.started.toSorted()).toEqual(['first', 'third']);
    expect(await pendingOf(convId)).toEqual(['second']);
  });

  it('may decide by what it made of the conversation', async () => {
    const convId = await begin();
    const made: unknown[] = [];
    const intents: NonNullable<Parameters<typeof actOn>[3]['intents']> = (what) => {
      made.push([what.moved, what.events.map(({ type }) => type)]);
      return [];
    };
    await actOn(orgId, convId, 'escalate', { now: new Date(), intents });
    await actOn(orgId, convId, 'message', { now: new Date(), message: { body: 'Hello', byCustomer: true }, intents });
    expect(made).toEqual([
      [true, ['ticket.created', 'ticket.escalated']],
      [false, []],
    ]);
    expect(await pendingOf(convId)).toBeUndefined();
  });
});
