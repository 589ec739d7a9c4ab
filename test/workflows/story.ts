/** Tells a workflow's story: the real code with stub activities, on a server that skips time. */
import { afterAll, beforeAll } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { CrawlActivities } from '../../activities/crawl.ts';
import type { DocumentActivities } from '../../activities/document.ts';
import type { SourceActivities } from '../../activities/source.ts';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

export type Story<R> = { calls: string[]; result: R; skippedMs: number };

/** One server for the tests of a file. */
export function stories() {
  let env: TestWorkflowEnvironment;
  let code: string;
  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    code = await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
    const path = process.env['TEST_TEMPORAL_TESTSERVER']!;
    env = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: 'existing-path', path } } });
    await env.connection.operatorService.addSearchAttributes({
      namespace: 'default',
      searchAttributes: { Organization: 2, Mode: 2, Status: 2 },
    });
  });
  afterAll(() => env.teardown());

  /** Runs one workflow with these activities, noting which were called; `meanwhile` has its handle once it is started. */
  async function tell<A extends unknown[], R>(
    workflow: (...args: A) => Promise<R>,
    args: A,
    activities: Partial<CrawlActivities & DocumentActivities & SourceActivities>,
    meanwhile: (handle: WorkflowHandle) => Promise<void> = async () => undefined,
  ): Promise<Story<R>> {
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
      maxHeartbeatThrottleInterval: '100 milliseconds',
    });
    const started = await env.currentTimeMs();
    const result = await worker.runUntil(async () => {
      const handle = await env.client.workflow.start(workflow, { args, taskQueue, workflowId: taskQueue });
      await meanwhile(handle);
      return handle.result() as Promise<R>;
    });
    return { calls, result, skippedMs: (await env.currentTimeMs()) - started };
  }

  return { tell, bundle: () => ({ code }) };
}
