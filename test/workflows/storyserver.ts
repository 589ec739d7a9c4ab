/** A Temporal server that skips time, and workflows that run on it: their real code with stub activities. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { until } from '../kit/harness.ts';
import { accepts, freePort } from '../../engines/ports.ts';
import { searchAttributes } from '../../workflows/attributes.ts';

export type StoryServer = Awaited<ReturnType<typeof startStoryServer>>;

/** Runs a workflow with these activities to its end; `meanwhile` gets its handle once it has started. */
export type Telling<A extends unknown[], R> = {
  workflow: (...args: A) => Promise<R>;
  args: A;
  activities: object;
  meanwhile?: ((handle: WorkflowHandle) => Promise<void>) | undefined;
  workflowId?: string;
};

/** The details that a workflow shows to operators; only while its worker runs. */
export async function detailsOf(handle: WorkflowHandle): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return currentDetails ?? '';
}

/** `testServer` is the path of the server program (engines/testserver.ts), `code` the bundle of the workflows. */
export async function startStoryServer(testServer: string, code: string) {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const port = await freePort();
  const server = spawn(testServer, [String(port)], { stdio: 'ignore' });
  const kill = (): void => void server.kill('SIGKILL');
  process.once('exit', kill);
  await until(() => accepts(port), 'the test server to listen');
  // This does what `createTimeSkipping` does. But that function gives the server only five seconds to start, too few on
  // a busy machine.
  const env = await TestWorkflowEnvironment['create']({
    server: { type: 'existing' },
    address: `127.0.0.1:${port}`,
    namespace: 'default',
    supportsTimeSkipping: true,
  });
  // This server accepts search attributes but cannot list them, so the registration by workers fails here.
  const { INDEXED_VALUE_TYPE_KEYWORD: keyword, INDEXED_VALUE_TYPE_KEYWORD_LIST: keywords } =
    proto.temporal.api.enums.v1.IndexedValueType;
  await env.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(
      Object.values(searchAttributes).map(({ name, type }) => [name, type === 'KEYWORD' ? keyword : keywords]),
    ),
  });

  async function run<A extends unknown[], R>({ workflow, args, activities, meanwhile, workflowId }: Telling<A, R>) {
    const taskQueue = workflowId ?? `story-${randomUUID()}`;
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue,
      workflowBundle: { code },
      activities,
      maxHeartbeatThrottleInterval: '100 milliseconds',
      // Runs the workflow in this thread, as the replay of histories does: a separate thread would cost a quarter of a
      // second of processor time per run.
      debugMode: true,
    });
    return worker.runUntil(async () => {
      const handle = await env.client.workflow.start(workflow, { args, taskQueue, workflowId: taskQueue });
      await meanwhile?.(handle);
      return { handle, result: await handle.result() };
    });
  }

  return {
    env,
    run,
    async stop(): Promise<void> {
      kill();
      process.off('exit', kill);
      await env.teardown();
    },
  };
}
