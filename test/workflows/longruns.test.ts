/**
 * Long-lived workflows: on a server that soon suggests continue-as-new, each continues in a new run and loses nothing
 * in between.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { activityInfo, Context } from '@temporalio/activity';
import { Client, Connection, TerminatedFailure, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { ask, moves, world } from './interviews/interviewworld.ts';
import { until } from '../kit/harness.ts';
import type { Attended } from '../../activities/chat/conversation.ts';
import type { EventsOutcome, LineLeft } from '../../activities/events/deliver.ts';
import { startTemporal, type Temporal } from '../../engines/temporal.ts';
import { announce, happened } from '../../workflows/tasks/announce.ts';
import { attend, conversation } from '../../workflows/chat/conversation.ts';
import { interview, interviewChanged, reloadInterview } from '../../workflows/interviews/interview.ts';
import { arrived, inbound } from '../../workflows/events/inbound.ts';
import { tryNow } from '../../workflows/events/lines.ts';
import { taskChanged, taskIssues } from '../../workflows/tasks/taskissues.ts';
import { ticketEvent, ticketEvents } from '../../workflows/events/ticketevents.ts';

/** The number of history events after which the server suggests continue-as-new. */
const suggestAfter = 40;
let temporal: Temporal;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let workflowBundle: { code: string };
beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const settings = [
    `limit.historyCount.suggestContinueAsNew=${suggestAfter}`,
    // By default, a run that follows a short one starts a second later.
    'history.workflowIdReuseMinimalInterval="0s"',
  ];
  temporal = await startTemporal({ report: () => undefined, settings });
  const { address } = temporal;
  [connection, native] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
  client = new Client({ connection });
  workflowBundle = { code: await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8') };
});
afterAll(async () => {
  await native.close();
  await connection.close();
  await temporal.stop();
});

/** Runs a workflow to its end; returns the history length of each of its runs, first run first. */
async function runsOf<A extends unknown[]>(
  workflow: (...args: A) => Promise<unknown>,
  args: A,
  activities: object,
  meanwhile: (handle: WorkflowHandle) => Promise<void>,
): Promise<number[]> {
  const taskQueue = `long-${randomUUID()}`;
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle, activities });
  return worker.runUntil(async () => {
    const { workflowId, firstExecutionRunId } = await client.workflow.start(workflow, {
      args,
      taskQueue,
      workflowId: taskQueue,
    });
    const handle = client.workflow.getHandle(workflowId);
    await meanwhile(handle);
    await handle.result().catch((error: Error) => {
      if (!(error.cause instanceof TerminatedFailure)) throw error;
    });
    const lengths: number[] = [];
    for (let runId: string | undefined = firstExecutionRunId; runId;) {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      lengths.push(events!.length);
      const next: string | null | undefined =
        events!.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
      runId = next || undefined;
    }
    return lengths;
  });
}

/** Expects several runs, none of them much longer than the server's suggestion. */
function expectRenewed(lengths: readonly number[]): void {
  expect(lengths.length).toBeGreaterThan(1);
  for (const length of lengths) expect(length).toBeLessThan(2 * suggestAfter);
}

describe('a workflow that is signalled during each of its activities', () => {
  const task = { orgId: 'org_1', taskId: 'task_1' };
  it.each([
    ['inbound', inbound, { orgId: 'org_1' }, arrived, 'processInbound'],
    ['conversation', conversation, { orgId: 'org_1', convId: 'conv_1' }, attend, 'attendTo'],
    ['announce', announce, task, happened, 'announceTask'],
    ['taskIssues', taskIssues, task, taskChanged, 'carryToIssues'],
  ] as const)(
    'a workflow signalled during its activities continues in a new run, and runs its activity again after the last signal: %s',
    async (...named) => {
      const [, workflow, ref, signal, activity] = named;
      let looks = 0;
      let handle: WorkflowHandle | undefined;
      const look = async () => {
        looks += 1;
        if (looks <= 30) await handle!.signal(signal);
        return { kind: 'done' };
      };
      const started = async (begun: WorkflowHandle): Promise<void> => {
        handle = begun;
        await until(async () => looks > 30, 'the look after the last signal');
        // This workflow ends on its own only when nobody has written for a minute.
        if (workflow === conversation) await handle.terminate();
      };
      expectRenewed(await runsOf<[never]>(workflow, [ref as never], { [activity]: look }, started));
      // A new run may run its activity once more.
      expect([31, 32]).toContain(looks);
    },
  );
});

describe('the conversation workflow', () => {
  it('the conversation workflow loses no signal that comes while it continues in a new run', async () => {
    let looks = 0;
    const signals: Promise<void>[] = [];
    let handle: WorkflowHandle | undefined;
    const attendTo = async (): Promise<Attended> => {
      looks += 1;
      // The signal is delivered after this activity has ended. Without it, no further activity starts.
      if (looks <= 100) signals.push(handle!.signal(attend));
      return { kind: 'done' };
    };
    const ref = { orgId: 'org_1', convId: 'conv_1' };
    const lengths = await runsOf(conversation, [ref], { attendTo }, async (started) => {
      handle = started;
      await until(async () => looks > 100, 'the look after the last signal');
      await Promise.all(signals);
      await handle.terminate();
    });
    expectRenewed(lengths);
  });
});

describe('the inbound workflow', () => {
  it('the inbound workflow continues in a new run while failed events are retried', async () => {
    let looks = 0;
    const processInbound = async () => ((looks += 1) < 20 ? { againInMs: 1 } : {});
    expectRenewed(await runsOf(inbound, [{ orgId: 'org_1' }], { processInbound }, async () => undefined));
    // A new run may run its activity once more.
    expect(looks).toBeGreaterThanOrEqual(20);
  });
});

describe('the ticketEvents workflow', () => {
  it('the ticketEvents workflow continues in a new run without losing a queue of deliveries or sending one twice at once', async () => {
    const atWork = new Set<string>();
    const sent: string[] = [];
    let left = 20;
    let isTried = false;
    const waiting = { kind: 'waiting', waitMs: 3_600_000, slow: false } as const;
    const linesLeft = (): EventsOutcome['lines'] => [
      ...(isTried ? [] : [{ line: 'waits', left: waiting }]),
      ...(left > 0 ? [{ line: 'busy', left: { kind: 'more' as const, slow: false } }] : []),
    ];
    const planned: string[][] = [];
    const lengths = await runsOf(
      ticketEvents,
      [{ orgId: 'org_1', convId: 'conv_1', ticketId: 'tkt_1' }],
      {
        sendEvents: async ({ carried }: { carried: string[] }): Promise<EventsOutcome> => {
          planned.push(carried);
          return { lines: linesLeft().filter(({ line }) => !carried.includes(line)) };
        },
        sendSome: async ({ line }: { line: string }): Promise<LineLeft> => {
          expect(atWork.has(line)).toBe(false);
          atWork.add(line);
          await new Promise((resolve) => setTimeout(resolve, 5));
          atWork.delete(line);
          sent.push(line);
          if (line === 'waits') isTried = true;
          else left -= 1;
          return line === 'waits' || left === 0 ? { kind: 'done' } : { kind: 'more', slow: false };
        },
      },
      async (handle) => {
        await until(async () => left === 0, 'the busy line to be done');
        await handle.signal(ticketEvent);
        await handle.signal(tryNow);
      },
    );
    expectRenewed(lengths);
    expect(sent.filter((line) => line === 'busy')).toHaveLength(20);
    expect(sent.filter((line) => line === 'waits')).toHaveLength(1);
    // Each run starts without lines in progress.
    expect(planned.filter((carried) => carried.length === 0).length).toBeGreaterThanOrEqual(lengths.length);
  });
});

describe('an attempt that an operator requests', () => {
  it('an attempt that an operator requests while the workflow continues in a new run is made at once', async () => {
    const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const runs = new Set<string>();
    const tried: string[] = [];
    const lengths = await runsOf(
      ticketEvents,
      [{ orgId: 'org_1', convId: 'conv_1', ticketId: 'tkt_1' }],
      {
        sendEvents: async ({ carried }: { carried: string[] }): Promise<EventsOutcome> => {
          runs.add(activityInfo().workflowExecution!.runId);
          const lines: EventsOutcome['lines'] = [
            ...(tried.includes('waits')
              ? []
              : [{ line: 'waits', left: { kind: 'waiting' as const, waitMs: 3_600_000, slow: false } }]),
            ...(tried.includes('busy') ? [] : [{ line: 'busy', left: { kind: 'more' as const, slow: false } }]),
          ];
          return { lines: lines.filter(({ line }) => !carried.includes(line)) };
        },
        sendSome: async ({ line }: { line: string }): Promise<LineLeft> => {
          if (line === 'busy') {
            const { heartbeat } = Context.current();
            const beat = setInterval(heartbeat, 500);
            begun.resolve();
            await held.promise.finally(() => clearInterval(beat));
          }
          tried.push(line);
          return { kind: 'done' };
        },
      },
      async (handle) => {
        await begun.promise;
        const isLong = async () => (await handle.describe()).historyLength > suggestAfter + 10;
        while (!(await isLong())) await handle.signal(ticketEvent);
        // Now the workflow waits only for the busy line before it continues in a new run.
        await handle.signal(tryNow);
        held.resolve();
      },
    );
    expect(lengths.length).toBeGreaterThan(1);
    expect([tried, runs.size]).toEqual([['busy', 'waits'], lengths.length]);
  });
});

describe('the interview workflow', () => {
  const ref = { orgId: 'org_1', interviewId: 'int_1' };

  it('the interview workflow continues in a new run with its bot, status changes and allowed operations', async () => {
    const { record, activities } = world();
    let deployed = 0;
    const deployBot: typeof activities.deployBot = (order) => {
      deployed += 1;
      return activities.deployBot(order);
    };
    const lengths = await runsOf(interview, [ref], { ...activities, deployBot }, async (handle) => {
      const nag = async (): Promise<void> => {
        for (let n = 0; n < 12; n += 1) await handle.executeUpdate(reloadInterview, { args: [{ actor: 'usr_1' }] });
      };
      await nag();
      await ask(handle, 'start');
      await until(async () => record.state.bot !== undefined, 'the bot');
      await nag();
      await ask(handle, 'join');
      await nag();
      await expect(ask(handle, 'start')).rejects.toThrow();
      await ask(handle, 'end');
      await until(async () => record.state.summarized === true, 'phase 1');
      await ask(handle, 'score');
    });
    expect(lengths.length).toBeGreaterThan(2);
    expect(deployed).toBe(1);
    expect(moves(record.history).map(([, to]) => to)).toEqual([
      'scheduled',
      'bot_deployed',
      'in_progress',
      'evaluating',
      'completed',
    ]);
    expect(record.history.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it('the interview workflow applies a member’s change that is made while it waits to continue in a new run', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const { record, activities } = world({ dueAt: inAnHour });
    const storing = Promise.withResolvers<void>();
    let isStoring = false;
    const storeInterview: typeof activities.storeInterview = async (stored) => {
      if (stored.moves.some(({ operation }) => operation === 'schedule')) {
        isStoring = true;
        await storing.promise;
      }
      return activities.storeInterview(stored);
    };
    const lengths = await runsOf(interview, [ref], { ...activities, storeInterview }, async (handle) => {
      const order = handle.executeUpdate(reloadInterview, { args: [{ actor: 'usr_1' }] });
      await until(async () => isStoring, 'the move to be stored');
      const isLong = async () => (await handle.describe()).historyLength > suggestAfter + 10;
      while (!(await isLong())) await handle.signal(interviewChanged);
      // Now the workflow waits only for the store before it continues in a new run.
      record.due = new Date().toISOString();
      await handle.signal(interviewChanged);
      storing.resolve();
      await order;
      await until(async () => record.state.status === 'bot_deployed', 'the clock to start it');
      await ask(handle, 'cancel');
    });
    expect(lengths.length).toBeGreaterThan(1);
  });
});
