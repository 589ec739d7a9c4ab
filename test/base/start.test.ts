/** Storing a start intent in a real database and starting the workflow, with a simulated Temporal. */
import { describe, expect, it } from '@jest/globals';
import {
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure, defineUpdate } from '@temporalio/workflow';
import { pino } from 'pino';
import { modelsIn } from '../kit/database.ts';
import { command, launch, type Starter } from '../../workflows/start.ts';
import { newId } from '../../models/base/ids.ts';
import { countWaitingIntents, intentFor, settleIntent } from '../../models/base/pending.ts';
import type { Work } from '../../models/rules/base/work.ts';
import { RemovalModel } from '../../models/knowledge/removal.ts';
import { sweep } from '../../workers/sweeper.ts';
import { refusal } from '../../workflows/base/refusal.ts';

modelsIn('durable');

/** A simulated Temporal that answers each start by `answer`, which gets the workflow id. */
function starter(
  answer: (workflowId: string) => Promise<void>,
  clock = () => new Date(),
): Starter & { started: string[] } {
  const started: string[] = [];
  const start = async (_workflow: unknown, { workflowId }: { workflowId: string }) => {
    await answer(workflowId);
    started.push(workflowId);
  };
  const temporal = {
    withDeadline: (_deadline: number, work: () => unknown) => work(),
    workflow: { start, signalWithStart: start },
    workflowService: { getSystemInfo: () => answer('system info') },
  } as unknown as Client;
  return { temporal, clock, log: pino({ level: 'silent' }), config: { taskQueuePrefix: '' }, started };
}

const working = (id: string): Work => ({ workflow: 'work', id, queue: 'conversations', args: [{ id }] });

describe('a record that starts several workflows', () => {
  it('a record keeps the intent to start a workflow until that workflow has started', async () => {
    const org_id = newId('org');
    const ctx = starter(async (id) => {
      if (id === 'second') throw new Error('Temporal is away');
    });
    const told = { ...working('first'), signal: 'told' };
    const starts = [told, working('second'), working('third')] as const;
    await launch(ctx, RemovalModel, starts, async (pending) => {
      const record = { _id: `${org_id}:0`, org_id, mode: 'test' as const, removed_at: new Date(), pending };
      await RemovalModel.collection.insertOne(record as never);
      return record;
    });
    expect(ctx.started.toSorted()).toEqual(['first', 'third']);
    const [left] = await RemovalModel.find({ org_id }).lean();
    expect(left?.pending?.map(({ workflow_id }) => workflow_id)).toEqual(['second']);
  });
});

const unavailable = () => {
  const cause = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '', metadata: {} });
  return new ServiceError('Failed to start Workflow', { cause });
};
const later = (minutes: number) => () => new Date(Date.now() + minutes * 60_000);
const idsOf = (org: string, count: number) => Array.from({ length: count }, (_, i) => `${org}:${i}`);

/** Stores records of one organization that wait for the sweeper, oldest first, saved a minute ago. */
async function waiting(org_id: string, ids: readonly string[]): Promise<void> {
  const removed_at = new Date();
  const saved = later(-1)();
  await RemovalModel.collection.insertMany(
    ids.map((id) => ({ _id: id as never, org_id, mode: 'test', removed_at, pending: [intentFor(working(id), saved)] })),
  );
}
const waitingOf = async (org_id: string) => {
  const found = await RemovalModel.find({ org_id, 'pending.0': { $exists: true } }).lean();
  return found.map(({ _id, pending }) => ({ id: _id, ...pending![0]! }));
};

describe('the sweeper', () => {
  it('one run of the sweeper starts all workflows that wait to be started, taking organizations in turn', async () => {
    const [many, one] = [newId('org'), newId('org')];
    await waiting(many, idsOf(many, 150));
    await waiting(one, idsOf(one, 1));
    // The starts of the large organization end only after the one start of the small organization. If the large
    // organization came first with all its starts, the sweep would not end.
    const single = Promise.withResolvers<void>();
    const ctx = starter(async (id) => {
      if (id === `${one}:0`) single.resolve();
      if (id.startsWith(many)) await single.promise;
    });
    await sweep(ctx);
    expect(ctx.started.toSorted()).toEqual(expect.arrayContaining([...idsOf(many, 150), `${one}:0`].toSorted()));
    expect([await waitingOf(many), await waitingOf(one)]).toEqual([[], []]);
  });

  it('the sweeper continues after a workflow fails to start, and retries that start with a backoff of up to 5 minutes', async () => {
    const org = newId('org');
    await waiting(org, idsOf(org, 30));
    const bad = `${org}:0`;
    const refused = async (id: string) => {
      if (id === bad) throw new TypeError('its arguments cannot be sent');
    };
    for (const [tries, waits] of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000].entries()) {
      const now = later(10 * tries)();
      const ctx = starter(refused, () => now);
      await sweep(ctx);
      expect(ctx.started.filter((id) => id.startsWith(org))).toHaveLength(tries === 0 ? 29 : 0);
      expect(await waitingOf(org)).toMatchObject([
        { id: bad, tries: tries + 1, next_at: new Date(now.getTime() + waits) },
      ]);
    }
    await RemovalModel.deleteOne({ _id: bad });
  });

  it('a sweeper that is told to stop begins no further start of a workflow', async () => {
    const org = newId('org');
    await waiting(org, idsOf(org, 150));
    let stopped = false;
    const ctx = starter(async () => void (stopped = true));
    await sweep(ctx, () => stopped);
    // Each of the 20 lanes had begun a start at most.
    expect(ctx.started.length).toBeLessThanOrEqual(20);
    await RemovalModel.deleteMany({ org_id: org });
  });

  it('a workflow counts as waiting to be started since its record was saved, however often the start fails', async () => {
    const org = newId('org');
    const before = await countWaitingIntents(later(-0.5)());
    await waiting(org, idsOf(org, 1));
    const refused = async () => {
      throw new TypeError('its arguments cannot be sent');
    };
    await sweep(starter(refused));
    expect([await countWaitingIntents(later(-0.5)()), await countWaitingIntents(later(-2)())]).toEqual([
      before + 1,
      before,
    ]);
    await RemovalModel.deleteMany({ org_id: org });
  });

  it('once a workflow has started, the stored intent to start it is removed, but not a stored signal for the same workflow', async () => {
    const org = newId('org');
    await waiting(org, idsOf(org, 1));
    const signal = intentFor({ ...working(`${org}:0`), signal: 'attend' }, later(-1)());
    await RemovalModel.collection.updateOne({ org_id: org }, { $push: { pending: signal } } as never);
    await settleIntent(RemovalModel, { _id: `${org}:0`, org_id: org }, { workflow_id: `${org}:0` });
    expect(await waitingOf(org)).toMatchObject([{ key: signal.key }]);
    await RemovalModel.deleteMany({ org_id: org });
  });

  it('the sweeper starts no workflow while Temporal is down, and all waiting workflows when Temporal answers again', async () => {
    const org = newId('org');
    await waiting(org, idsOf(org, 50));
    const before = await waitingOf(org);
    const away = starter(async () => {
      throw unavailable();
    });
    for (let n = 0; n < 3; n++) await sweep(away);
    expect(await waitingOf(org)).toEqual(before);
    const back = starter(async () => undefined);
    await sweep(back);
    expect(back.started.toSorted()).toEqual(idsOf(org, 50).toSorted());
    expect(await waitingOf(org)).toEqual([]);
  });

  it('when Temporal goes down, the sweeper stops, and the workflows that it was about to start are due again within 5 s', async () => {
    const org = newId('org');
    await waiting(org, idsOf(org, 100));
    let asked = 0;
    const failing = async (id: string) => {
      if (id === 'system info') return;
      asked += 1;
      throw unavailable();
    };
    const now = new Date();
    for (let n = 0; n < 8; n++) await sweep(starter(failing, () => new Date(now.getTime() + n * 5_000)));
    expect(asked).toBeLessThanOrEqual(8 * 40);
    const last = now.getTime() + 7 * 5_000;
    expect((await waitingOf(org)).filter(({ next_at }) => next_at.getTime() > last + 5_000)).toEqual([]);
    await RemovalModel.deleteMany({ org_id: org });
  });
});

describe('a command to an open workflow', () => {
  const words = 'The crawl is ending already.';
  const failed = (cause: Error) => new WorkflowUpdateFailedError('Workflow Update failed', cause);
  const table = 'The resource is not in a state that allows this.';
  it.each<[string, Error, object]>([
    [
      'is answered with 409, the reason and the possible commands when the workflow’s state does not allow it',
      failed(refusal(words, { from: 'completed', operation: 'cancel', allowed: ['delete', 'restart'] })),
      {
        status: 409,
        code: 'ILLEGAL_TRANSITION',
        message: words,
        details: [{ path: ['operation'], message: 'cancel is not possible from completed; possible: delete, restart' }],
        extra: { from: 'completed', operation: 'cancel', allowed: ['delete', 'restart'] },
      },
    ],
    [
      'is answered with 409 and the reason when the workflow refuses it for another reason',
      failed(refusal(words)),
      { status: 409, code: 'CONFLICT', message: words, details: undefined, extra: {} },
    ],
    [
      'is answered with 409 and without internal details when it fails otherwise',
      failed(ApplicationFailure.nonRetryable('Cannot read properties of undefined', 'TypeError')),
      { status: 409, code: 'CONFLICT', message: table },
    ],
    [
      'is answered with 409 when the workflow has ended',
      new WorkflowNotFoundError('no such workflow', 'crawl:1', undefined),
      { status: 409, code: 'CONFLICT', message: table },
    ],
    [
      'is answered with 503 when no worker takes it in time',
      new WorkflowUpdateRPCTimeoutOrCancelledError('timeout'),
      { status: 503 },
    ],
    ['is answered with 503 while Temporal is down', unavailable(), { status: 503, code: 'UNAVAILABLE' }],
  ])('a command to a workflow %s', async (_, error, expected) => {
    const executeUpdate = async () => {
      throw error;
    };
    const temporal = {
      withDeadline: (_deadline: number, work: () => unknown) => work(),
      workflow: { getHandle: () => ({ executeUpdate }) },
    } as unknown as Client;
    const told = await command({ temporal }, 'crawl:1', defineUpdate('cancel'), { id: 'cancel:1', args: [] }).catch(
      (e: unknown) => e,
    );
    expect(told).toMatchObject(expected);
  });
});
