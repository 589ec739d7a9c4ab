/** The story of a document, with stub activities and skipped time; and stored histories of it, replayed. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import type { DocumentActivities } from '../../activities/document.ts';
import type { SourceActivities } from '../../activities/source.ts';
import { processDocument, type DocumentRef } from '../../workflows/document.ts';
import { eraseSource, retagSource } from '../../workflows/source.ts';

const ref: DocumentRef = { orgId: 'org_1', docId: 'doc_1', generation: 1 };
let env: TestWorkflowEnvironment;
let code: string;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  code = await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
  const path = process.env['TEST_TEMPORAL_TESTSERVER']!;
  env = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: 'existing-path', path } } });
});
afterAll(() => env.teardown());

/** Runs one workflow with these activities, noting which were called. */
async function tell<A extends unknown[], R>(
  workflow: (...args: A) => Promise<R>,
  args: A,
  activities: Partial<DocumentActivities & SourceActivities>,
) {
  const calls: string[] = [];
  const noted = Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      (input: never) => {
        calls.push(name);
        return (activity as (input: never) => Promise<unknown>)(input);
      },
    ]),
  );
  const taskQueue = `story-${randomUUID()}`;
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: { code },
    activities: noted,
  });
  const started = await env.currentTimeMs();
  const result = await worker.runUntil(
    env.client.workflow.execute(workflow, { args, taskQueue, workflowId: taskQueue }),
  );
  return { calls, result, skippedMs: (await env.currentTimeMs()) - started };
}

describe('processDocument', () => {
  it('reads, then indexes', async () => {
    const { calls, result } = await tell(processDocument, [ref], {
      readDocument: async () => 'read',
      indexDocument: async () => 'indexed',
    });
    expect([calls, result]).toEqual([['readDocument', 'indexDocument'], 'indexed']);
  });

  it.each(['indexed', 'failed', 'gone'] as const)(
    'a document that is %s after reading is not indexed again',
    async (outcome) => {
      const { calls, result } = await tell(processDocument, [ref], {
        readDocument: async () => outcome,
        indexDocument: async () => 'indexed',
      });
      expect([calls, result]).toEqual([['readDocument'], outcome]);
    },
  );

  it('a document that is deleted before it is indexed ends gone', async () => {
    const { result } = await tell(processDocument, [ref], {
      readDocument: async () => 'read',
      indexDocument: async () => 'gone',
    });
    expect(result).toBe('gone');
  });

  it('outlasts an outage of hours: both steps are tried until they succeed', async () => {
    let outage = 120;
    const failing = async () => {
      if (outage-- > 0) throw new Error('MongoDB is away');
    };
    const { calls, result, skippedMs } = await tell(processDocument, [ref], {
      readDocument: async () => (await failing(), 'read'),
      indexDocument: async () => 'indexed',
    });
    expect([calls.length, result]).toEqual([122, 'indexed']);
    expect(skippedMs).toBeGreaterThan(3_600_000);
  });

  it('hands both steps the same document and generation', async () => {
    const seen: unknown[] = [];
    await tell(processDocument, [ref], {
      readDocument: async (given) => (seen.push(given), 'read'),
      indexDocument: async (given) => (seen.push(given), 'indexed'),
    });
    expect(seen).toEqual([ref, ref]);
  });
});

describe.each([
  ['retagSource', retagSource],
  ['eraseSource', eraseSource],
] as const)('%s', (name, workflow) => {
  it('is one activity, tried until it succeeds', async () => {
    let failures = 3;
    const { calls } = await tell(workflow, [{ orgId: 'org_1', sourceId: 'doc_1' }], {
      [name]: async () => {
        if (failures-- > 0) throw ApplicationFailure.create({ message: 'a conflict in the index' });
      },
    });
    expect(calls).toEqual([name, name, name, name]);
  });
});

describe('stored histories', () => {
  it('replay with the workflows as they are now', async () => {
    const folder = new URL('../histories/', import.meta.url);
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    expect(names.length).toBeGreaterThanOrEqual(3);
    for (const name of names) {
      const history = JSON.parse(await readFile(new URL(name, folder), 'utf8')) as unknown;
      await Worker.runReplayHistory({ workflowBundle: { code } }, history, name.replace('.json', ''));
    }
  });

  it('of another story are refused, so that this test can fail', async () => {
    const text = await readFile(new URL('../histories/document-indexed.json', import.meta.url), 'utf8');
    const history = JSON.parse(text.replaceAll('"readDocument"', '"anotherActivity"')) as unknown;
    await expect(Worker.runReplayHistory({ workflowBundle: { code } }, history, 'changed')).rejects.toThrow();
  });
});
