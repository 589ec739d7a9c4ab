/**
 * Running workflows survive a new version: the current workflow code replays the stored histories, and a version that
 * could not continue the open workflows is detected before it takes tasks.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { until } from '../kit/harness.ts';
import { replayOpen } from '../../workers/replay.ts';
import * as workflows from '../../workflows/index.ts';

const folder = new URL('../histories/', import.meta.url);
const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
const workflowBundle = { code: await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8') };

type Stored = { events: { workflowExecutionStartedEventAttributes: { workflowType: { name: string } } }[] };
const read = async (name: string): Promise<Stored> =>
  JSON.parse(await readFile(new URL(name, folder), 'utf8')) as Stored;
const kindOf = ({ events }: Stored): string => events[0]!.workflowExecutionStartedEventAttributes.workflowType.name;

describe('stored histories', () => {
  it('stored histories exist for every kind of workflow, and for no removed kind', async () => {
    const kinds = new Set((await Promise.all(files.map(read))).map(kindOf));
    expect([...kinds].toSorted()).toEqual(Object.keys(workflows).toSorted());
  });

  it('stored histories are replayed by the current workflow code', async () => {
    const histories = await Promise.all(files.map(async (name) => ({ workflowId: name, history: await read(name) })));
    const replayed: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
      if (error) throw error;
      replayed.push(workflowId);
    }
    expect(replayed).toEqual(files);
  });
});

describe('a changed workflow', () => {
  /** Bundles a workflow in test/workflows/changed/. */
  const bundle = (changed: string): Promise<WorkflowBundleWithSourceMap> =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL(`./changed/${changed}.ts`, import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    });
  let unguarded: WorkflowBundleWithSourceMap;
  let guarded: WorkflowBundleWithSourceMap;
  beforeAll(async () => {
    unguarded = await bundle('unguarded');
    guarded = await bundle('guarded');
  });
  /** Replays the histories from before the change. */
  const replay = async (changed: WorkflowBundleWithSourceMap): Promise<void> =>
    Worker.runReplayHistory({ workflowBundle: changed }, await read('eraseTask.json'), 'eraseTask');

  it('a changed workflow fails the replay when it takes a step that its histories do not have', async () => {
    await expect(replay(unguarded)).rejects.toThrow(/Nondeterminism/i);
  });

  it('a changed workflow replays the same histories when the added step is guarded by a patch', async () => {
    await expect(replay(guarded)).resolves.toBeUndefined();
  });

  it('a worker version that cannot continue the open workflows is detected by replay before it takes tasks', async () => {
    const address = process.env['TEST_TEMPORAL_ADDRESS']!;
    const prefix = `replay-${randomUUID()}-`;
    const taskQueue = `${prefix}tasks`;
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    try {
      const worker = await Worker.create({
        connection: native,
        taskQueue,
        workflowBundle,
        activities: { eraseCopies: async () => undefined },
      });
      const { workflow } = new Client({ connection });
      const handle = await worker.runUntil(async () => {
        const args = [{ taskId: 'task_1' }];
        const started = await workflow.start('eraseTask', { workflowId: `${prefix}1`, taskQueue, args });
        await until(
          async () => (await started.fetchHistory()).events!.some((event) => event.timerStartedEventAttributes),
          'it to wait',
        );
        return started;
      });
      const config = {
        temporalAddress: address,
        temporalNamespace: 'default',
        taskQueuePrefix: prefix,
        dataDir: '',
        encryptsPayloads: false,
        temporalAccess: {},
        secretKeys: [Buffer.alloc(32)] as const,
      };
      // A new workflow is in the list of open workflows only a moment after its start.
      await until(async () => (await replayOpen(config, unguarded)) === 1, 'the change to be found');
      expect(await replayOpen(config, workflowBundle)).toBe(0);
      await handle.terminate();
    } finally {
      await native.close();
      await connection.close();
    }
  });
});
