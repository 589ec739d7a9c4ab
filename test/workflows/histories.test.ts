/** Histories of real runs: what an operator has in flight goes on with the workflows as they are now. */
import { describe, expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { Worker } from '@temporalio/worker';

const workflowBundle = { code: await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8') };

describe('stored histories', () => {
  it('replay with the workflows as they are now', async () => {
    const folder = new URL('../histories/', import.meta.url);
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    expect(names.length).toBeGreaterThanOrEqual(58);
    const histories = await Promise.all(
      names.map(async (name) => ({
        workflowId: name.replace('.json', ''),
        history: JSON.parse(await readFile(new URL(name, folder), 'utf8')) as unknown,
      })),
    );
    const replayed: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
      if (error) throw error;
      replayed.push(`${workflowId}.json`);
    }
    expect(replayed).toEqual(names);
  });

  it('of another story are refused, so that this test can fail', async () => {
    const text = await readFile(new URL('../histories/document-indexed.json', import.meta.url), 'utf8');
    const history = JSON.parse(text.replaceAll('"readDocument"', '"anotherActivity"')) as unknown;
    await expect(Worker.runReplayHistory({ workflowBundle }, history, 'changed')).rejects.toThrow();
  });
});
