/** Runs a workflow's real code with stub activities, on a server that skips time. */
import { afterAll, beforeAll } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { startStoryServer, type StoryServer } from './storyserver.ts';
import type { ConversationActivities } from '../../activities/chat/conversation.ts';
import type { CrawlActivities } from '../../activities/crawl/crawl.ts';
import type { DeliveryActivities } from '../../activities/events/deliver.ts';
import type { DocumentActivities } from '../../activities/knowledge/document.ts';
import type { EmbeddingActivities } from '../../activities/knowledge/embedding.ts';
import type { ErasureActivities } from '../../activities/chat/erasure.ts';
import type { InboundActivities } from '../../activities/events/inbound/index.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import type { LiveCopyActivities } from '../../activities/knowledge/livecopy.ts';
import type { MeetingActivities, MeetingTaskActivities } from '../../activities/interviews/meeting.ts';
import type { DepartureActivities } from '../../activities/access/departure.ts';
import type { MailReplyActivities } from '../../activities/events/mailreply.ts';
import type { NoticeActivities } from '../../activities/events/notices.ts';
import type { MaintenanceActivities } from '../../activities/knowledge/maintenance.ts';
import type { ReleaseActivities } from '../../activities/integrations/release.ts';
import type { RecrawlActivities } from '../../activities/crawl/recrawl.ts';
import type { SourceActivities } from '../../activities/knowledge/source.ts';
import type { ExecutionActivities } from '../../activities/tasks/execution.ts';
import type { IssueActivities } from '../../activities/tasks/issues.ts';
import type { ToolCallActivities } from '../../activities/chat/toolcall.ts';
import type { ToolServerActivities } from '../../activities/mcp/server.ts';

export type Story<R> = { calls: string[]; result: R; skippedMs: number };

/** Starts one server for the tests of a file. */
export function stories() {
  let server: StoryServer;
  let code: string;
  beforeAll(async () => {
    code = await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
    server = await startStoryServer(process.env['TEST_TEMPORAL_TESTSERVER']!, code);
  });
  afterAll(async () => server.stop());

  /**
   * Runs one workflow with these activities, recording which were called; `meanwhile` gets its handle once it has
   * started.
   */
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
        InboundActivities &
        InterviewActivities &
        LiveCopyActivities &
        MaintenanceActivities &
        MeetingActivities &
        MeetingTaskActivities &
        NoticeActivities &
        RecrawlActivities &
        ReleaseActivities &
        SourceActivities &
        ExecutionActivities &
        IssueActivities &
        ToolCallActivities &
        ToolServerActivities
    >,
    meanwhile?: (handle: WorkflowHandle) => Promise<void>,
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
    const started = await server.env.currentTimeMs();
    const { result } = await server.run({ workflow, args, activities: noted, meanwhile });
    return { calls, result, skippedMs: (await server.env.currentTimeMs()) - started };
  }

  return {
    tell,
    bundle: () => ({ code }),
    /** The server's clock, which jumps ahead with each run. */
    now: () => server.env.currentTimeMs(),
    /** Advances the server's clock by this time. The clock stands still while nobody waits for a result. */
    pass: (ms: number) => server.env.sleep(ms),
  };
}
