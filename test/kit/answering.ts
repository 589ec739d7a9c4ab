/** A separate system whose conversation workers a test starts, stops and kills. */
import { afterAll, beforeAll, expect } from '@jest/globals';
import { conversing, shownBy } from './conversing.ts';
import { apiAt } from './harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from './processes.ts';
import type { Fault } from './worker.ts';
import { MessageModel } from '../../models/chat/message.ts';

const gannetDocument = `# Gannet cards
The gannet card costs 12 EUR a year. It is free for students under 26.

# Lost cards
Call the night line at once when a gannet card is lost.
`;

/** Call this where hooks may be registered. `name` is the name of the system, unique in the run. */
export function answering(name: string) {
  const { newCustomer, ctx } = conversing(name);
  let env: SystemEnv;
  let api: Running;
  let indexer: Running;
  const workers: Running[] = [];
  beforeAll(async () => {
    env = systemEnv(name);
    [api, indexer] = await Promise.all([
      startProcess('api/server.ts', env),
      startProcess('test/kit/worker.ts', { ...env, FLEETS: 'documents,backlog,sources' }),
    ]);
  });
  afterAll(async () => {
    await stopWorkers();
    await Promise.all([api.stop(), indexer.stop()]);
    await removeDataDir(env);
  });

  /** The environment of a worker that serves conversations only. */
  const workerEnv = (extra: Record<string, string> = {}): SystemEnv => ({ ...env, FLEETS: 'conversations', ...extra });
  /** Starts a worker; `stopWorkers` stops the workers that are not meant to crash. */
  async function startWorker(extra: Record<string, string> = {}): Promise<Running> {
    const worker = await startProcess('test/kit/worker.ts', workerEnv(extra));
    if (extra['FAULT'] === undefined) workers.push(worker);
    return worker;
  }
  /** Starts a worker unless one is running. All `describe` blocks that need an ordinary worker share it. */
  const ensureWorker = async (): Promise<void> => void (workers.length > 0 || (await startWorker()));
  /** The ordinary worker that is running. */
  const runningWorker = (): Running => workers[0]!;
  const stopWorkers = () => Promise.all(workers.splice(0).map((worker) => worker.stop()));

  /** A new organization with one document. */
  async function newOrg(
    files: { name: string; content: string; segments?: string }[] = [{ name: 'a.md', content: gannetDocument }],
  ): Promise<string> {
    const client = apiAt(api.url);
    const org = await client.newOrg();
    const { token } = await client.newKey(org);
    for (const { segments, ...file } of files) {
      const { status, body } = await client.upload(org.orgId, token, file, segments === undefined ? {} : { segments });
      expect(status).toBe(201);
      expect((await client.processed(org.orgId, token, body.document.doc_id)).status).toBe('indexed');
    }
    return org.orgId;
  }
  return { newCustomer, ctx, workerEnv, startWorker, ensureWorker, runningWorker, stopWorkers, newOrg };
}

type Answering = ReturnType<typeof answering>;

/**
 * A worker starts an answer and is paused by `signal`. Another worker answers. Then the first one continues, and must
 * write nothing more, so that the customer gets one answer. No other worker may be running when this is called.
 */
export async function expectNothingOfSleeper(
  { newCustomer, startWorker, stopWorkers }: Answering,
  orgId: string,
  fault: Fault,
  signal: 'sleep' | 'SIGSTOP',
): Promise<void> {
  const customer = await newCustomer(orgId);
  // With FAULT_OF, work left over from earlier conversations does not pause the worker.
  const sleeper = await startWorker({ FAULT: fault, FAULT_SIGNAL: signal, FAULT_OF: customer.convId });
  const fallen = new Promise<void>((resolve) => {
    sleeper.child.on('message', (message: { type?: string }) => {
      if (message.type === 'fallen') resolve();
    });
  });
  const id = await customer.say('What does the gannet card cost?');
  await fallen;
  // Usually 1. On a busy machine an earlier attempt may have been lost.
  expect((await MessageModel.findById(id).lean())?.attempts).toBeGreaterThanOrEqual(1);
  await startWorker();
  const answer = await customer.answered(id);
  await customer.settled();
  const before = await customer.frames();
  if (signal === 'sleep') sleeper.child.send({ type: 'wake' });
  else sleeper.child.kill('SIGCONT');
  // The process ends only after it has finished its current work.
  await sleeper.stop();
  expect(await customer.frames()).toEqual(before);
  expect((await customer.messages()).map(({ role }) => role)).toEqual(['customer', 'ai']);
  expect([...shownBy(before)]).toEqual([[answer._id, { text: answer.body, ends: 1 }]]);
  await stopWorkers();
}
