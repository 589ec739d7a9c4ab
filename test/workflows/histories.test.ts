/** What runs while a new version starts goes on: the workflows as they are now replay the stored histories. */
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
  it('are there for every kind of workflow, and for none that is gone', async () => {
    const kinds = new Set((await Promise.all(files.map(read))).map(kindOf));
    expect([...kinds].toSorted()).toEqual(Object.keys(workflows).toSorted());
  });

  it('replay with the workflows as they are now', async () => {
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
  /** Replays what began before the change with the workflow in test/workflows/changed/. */
  async function replay(changed: 'guarded' | 'unguarded'): Promise<void> {
    const workflowsPath = fileURLToPath(new URL(`./changed/${changed}.ts`, import.meta.url));
    const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    await Worker.runReplayHistory({ workflowBundle: bundle }, await read('eraseTask.json'), 'eraseTask');
  }

  it('is refused by replay when it takes another step than its histories did', async () => {
    await expect(replay('unguarded')).rejects.toThrow(/Nondeterminism/i);
  });

  it('replays the same histories when the step is guarded', async () => {
    await expect(replay('guarded')).resolves.toBeUndefined();
  });
});
