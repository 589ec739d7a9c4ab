/** Tells a workflow's story: the real code with stub activities, on a server that skips time. */
import { afterAll, beforeAll } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { until } from '../kit/harness.ts';
import type { ConversationActivities } from '../../activities/chat/conversation.ts';
import type { CrawlActivities } from '../../activities/crawl/crawl.ts';
import type { DeliveryActivities } from '../../activities/events/deliver.ts';
import type { DocumentActivities } from '../../activities/knowledge/document.ts';
import type { EmbeddingActivities } from '../../activities/knowledge/embedding.ts';
import type { ErasureActivities } from '../../activities/chat/erasure.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import type { LiveCopyActivities } from '../../activities/knowledge/livecopy.ts';
import type { MeetingActivities, MeetingTaskActivities } from '../../activities/interviews/meeting.ts';
import type { DepartureActivities } from '../../activities/access/departure.ts';
import type { MailReplyActivities } from '../../activities/events/mailreply.ts';
import type { MaintenanceActivities } from '../../activities/knowledge/maintenance.ts';
import type { ReleaseActivities } from '../../activities/integrations/release.ts';
import type { RecrawlActivities } from '../../activities/crawl/recrawl.ts';
import type { SourceActivities } from '../../activities/knowledge/source.ts';
import type { ExecutionActivities } from '../../activities/tasks/execution.ts';
import type { IssueActivities } from '../../activities/tasks/issues.ts';
import type { ToolCallActivities } from '../../activities/chat/toolcall.ts';
import type { ToolServerActivities } from '../../activities/mcp/server.ts';
import { accepts, freePort } from '../../engines/ports.ts';
import { searchAttributes } from '../../workflows/attributes.ts';

export type Story<R> = { calls: string[]; result: R; skippedMs: number };

/** What operators see of a workflow, written by itself; while its worker runs. */
export async function detailsOf(handle: WorkflowHandle): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return currentDetails ?? '';
}

/** One server for the tests of a file. */
export function stories() {
  let env: TestWorkflowEnvironment;
  let server: ChildProcess | undefined;
  const kill = () => server?.kill('SIGKILL');
  let code: string;
  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    code = await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
    const path = process.env['TEST_TEMPORAL_TESTSERVER']!;
    const port = await freePort();
    server = spawn(path, [String(port)], { stdio: 'ignore' });
    process.once('exit', kill);
    await until(() => accepts(port), 'the test server to listen');
    // What `createTimeSkipping` does, but for the start: it gives the server five seconds, too few on a busy machine.
    env = await TestWorkflowEnvironment['create']({
      server: { type: 'existing' },
      address: `127.0.0.1:${port}`,
      namespace: 'default',
      supportsTimeSkipping: true,
    });
    // This server takes search attributes, and cannot list them: what workers do at their start does not work here.
    const keyword = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
    await env.connection.operatorService.addSearchAttributes({
      namespace: 'default',
      searchAttributes: Object.fromEntries(Object.values(searchAttributes).map(({ name }) => [name, keyword])),
    });
  });
  afterAll(async () => {
    kill();
    process.off('exit', kill);
    await env.teardown();
  });

  /** Runs one workflow with these activities, noting which were called; `meanwhile` has its handle once it is started. */
  async function tell<A extends unknown[], R>(
    workflow: (...args: A) => Promise<R>,
    args: A,
    activities: Partial<
      ConversationActivities &
        CrawlActivities &
        DeliveryActivities &
        DepartureActivities &
        DocumentActivities &
        EmbeddingActivities &
        ErasureActivities &
        MailReplyActivities &
        InterviewActivities &
        LiveCopyActivities &
        MaintenanceActivities &
        MeetingActivities &
        MeetingTaskActivities &
        RecrawlActivities &
        ReleaseActivities &
        SourceActivities &
        ExecutionActivities &
        IssueActivities &
        ToolCallActivities &
        ToolServerActivities
    >,
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
      // Runs the workflow in this thread, as the replay of histories does: a thread of its own takes a quarter of a second of
      // processor time for each story.
      debugMode: true,
    });
    const started = await env.currentTimeMs();
    const result = await worker.runUntil(async () => {
      const handle = await env.client.workflow.start(workflow, { args, taskQueue, workflowId: taskQueue });
      await meanwhile(handle);
      return handle.result();
    });
    return { calls, result, skippedMs: (await env.currentTimeMs()) - started };
  }

  return {
    tell,
    bundle: () => ({ code }),
    /** The server's clock, which jumps ahead with each story. */
    now: () => env.currentTimeMs(),
    /** Lets this time pass on the server's clock, which stands still while nobody waits for a result. */
    pass: (ms: number) => env.sleep(ms),
  };
}
