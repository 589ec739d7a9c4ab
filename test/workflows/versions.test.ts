/**
 * Two versions of the workers run side by side, with a workflow of each kind open when the newer one becomes the
 * current one.
 */
import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { plainStories, type Kind } from './plainstories.ts';
import { until } from '../kit/harness.ts';
import { kindOf } from '../../workflows/base/kinds.ts';

const address = process.env['TEST_TEMPORAL_ADDRESS']!;
const namespace = 'default';
const org = { orgId: 'org_1' };
const deploymentName = `versions-${randomUUID()}`;
const taskQueue = `${deploymentName}-queue`;
let connection: Connection;
let native: NativeConnection;
let client: Client;
let code: string;
const running: { worker: Worker; ended: Promise<void> }[] = [];
/** Resolves when the newer version is the current one. */
const promoted = Promise.withResolvers<void>();
const handles = new Map<Kind, WorkflowHandle>();
const kinds = (Object.keys(plainStories) as Kind[]).filter((kind) => kind !== 'maintainStores');
const idOf = (kind: Kind): string => `${kind}-${deploymentName}`;
/** The activities of all stories. Activities of the same name follow the story of their workflow. */
const stories = new Map(kinds.map((kind) => [idOf(kind), plainStories[kind].activities(() => handles.get(kind)!)]));
const names = new Set([...stories.values()].flatMap((activities) => Object.keys(activities)));
const activities = Object.fromEntries(
  [...names].map((name) => [
    name,
    async (input: never): Promise<unknown> => {
      const { isLocal, workflowExecution } = Context.current().info;
      if (!isLocal) await promoted.promise;
      return stories.get(workflowExecution!.workflowId)?.[name]?.(input);
    },
  ]),
);

async function start(buildId: string): Promise<void> {
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: { code },
    activities,
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  });
  running.push({ worker, ended: worker.run() });
}
/** The version that takes a new workflow. The task queue learns of a new current version a moment after it is set. */
async function versionOfNew(): Promise<string | undefined> {
  const workflowId = `probe-${randomUUID()}`;
  const handle = await client.workflow.start('announce', { workflowId, taskQueue, args: [{ ...org, taskId: 'none' }] });
  const taken = await until(async () => {
    const { events } = await handle.fetchHistory();
    return (
      events?.find((event) => event.workflowTaskCompletedEventAttributes)?.workflowTaskCompletedEventAttributes ??
      undefined
    );
  }, 'the probe to be taken');
  await handle.terminate();
  return taken.deploymentVersion?.buildId ?? undefined;
}
/** Makes a version the current one, once Temporal knows it: that is after a worker of this version has polled. */
const promote = (buildId: string): Promise<unknown> =>
  until(
    () =>
      connection.workflowService
        .setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, ignoreMissingTaskQueues: true })
        .then(
          () => true,
          () => false,
        ),
    `${buildId} to be current`,
  );

beforeAll(async () => {
  connection = await Connection.connect({ address });
  native = await NativeConnection.connect({ address });
  client = new Client({ connection });
  code = await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
});
afterAll(async () => {
  for (const handle of handles.values()) await handle.terminate().catch(() => undefined);
  for (const { worker, ended } of running) {
    worker.shutdown();
    await ended;
  }
  await native.close();
  await connection.close();
});

it('short workflows end on the worker version that began them, long ones continue on the next version, and none fails', async () => {
  await start('1');
  await promote('1');
  for (const kind of kinds) {
    const { ref } = plainStories[kind];
    handles.set(
      kind,
      await client.workflow.start(kind, { workflowId: idOf(kind), taskQueue, args: ref === undefined ? [] : [ref] }),
    );
  }
  const isBegun = async (handle: WorkflowHandle): Promise<boolean> =>
    (await handle.fetchHistory()).events!.some((event) => event.workflowTaskCompletedEventAttributes);
  for (const handle of handles.values()) await until(() => isBegun(handle), 'it to begin on version 1');
  await start('2');
  await promote('2');
  await until(async () => (await versionOfNew()) === '2', 'the queue to follow the new version');
  promoted.resolve();

  const versions = new Map<Kind, string[]>();
  for (const [kind, handle] of handles) {
    await until(async () => {
      const { status, raw } = await handle.describe();
      return status.name !== 'RUNNING' || (!raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0);
    }, `${kind} to go on`);
    // The signal gives a waiting workflow a task, which shows on which version the workflow continues.
    await handle.signal('news').catch(() => undefined);
    await until(async () => !(await handle.describe()).raw.pendingWorkflowTask, `${kind} to hear`);
    const { events } = await handle.fetchHistory();
    expect([kind, events!.filter((event) => event.workflowTaskFailedEventAttributes)]).toEqual([kind, []]);
    versions.set(
      kind,
      events!.flatMap((event) => event.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? []),
    );
  }
  for (const [kind, seen] of versions) {
    const expected = kindOf(kind)!.isShort ? '1' : '2';
    expect([kind, seen[0], seen.at(-1)]).toEqual([kind, '1', expected]);
  }
});
