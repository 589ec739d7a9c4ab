/** Running workflows survive a new version: the current workflow code replays the stored histories. */
import { describe, expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
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
  /** Replays the histories from before the change with the workflow in test/workflows/changed/. */
  async function replay(changed: 'guarded' | 'unguarded'): Promise<void> {
    const workflowsPath = fileURLToPath(new URL(`./changed/${changed}.ts`, import.meta.url));
    const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    await Worker.runReplayHistory({ workflowBundle: bundle }, await read('eraseTask.json'), 'eraseTask');
  }

  it('a changed workflow fails the replay when it takes a step that its histories do not have', async () => {
    await expect(replay('unguarded')).rejects.toThrow(/Nondeterminism/i);
  });

  it('a changed workflow replays the same histories when the added step is guarded by a patch', async () => {
    await expect(replay('guarded')).resolves.toBeUndefined();
  });
});
