/** The declarations of a slice for the worker processes. Each slice has them in the file of its name in this folder. */
import type { Logger } from 'pino';
import type { Model } from '../../models/base/define.ts';
import type { RecrawlSchedules } from '../../activities/crawl/recrawl.ts';
import type { Starter } from '../../providers/base/handled.ts';
import type { MailSettings } from '../../providers/mail/settings.ts';
import type { Bot } from '../../providers/recall/bot.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { Files } from '../../clients/files/files.ts';
import type { Github } from '../../providers/github/client.ts';
import type { StreamingHttp } from '../../clients/http/http.ts';
import type { Mcp } from '../../clients/mcp/mcp.ts';
import type { Linear } from '../../providers/linear/client.ts';
import type { Mailer } from '../../providers/mail/client.ts';
import type { ObjectStore } from '../../clients/s3/s3.ts';
import type { Search } from '../../clients/knowledge/search/search.ts';
import type { TeamsBot } from '../../providers/teams/client.ts';
import type { Slack } from '../../providers/slack/client.ts';
import type { Sites } from '../../clients/crawl/site/site.ts';
import type { Intelligence } from '../../intelligence/intelligence.ts';
import type { Launchable } from '../../models/base/pending.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Quotas } from '../../models/rules/knowledge/quota.ts';
import type { Queue } from '../../models/rules/base/work.ts';

/** The dependencies of activities; tests pass their own. */
export type WorkerDeps = Starter & {
  files: Files;
  sites: Sites;
  search: Search;
  intelligence: Intelligence;
  /** The service that sends bots into external calls, if one is configured. */
  outsideBot: Bot | undefined;
  embedding: Embedding;
  linear: Linear;
  github: Github;
  slack: Slack;
  slackApp: { clientId: string; clientSecret: string } | undefined;
  mailer: Mailer;
  /** Undefined when no password of the Teams bot is configured. */
  teams: TeamsBot | undefined;
  mail: MailSettings;
  objects: ObjectStore;
  /** The buckets that received mails may be fetched from. */
  inboundBuckets: readonly string[];
  secrets: SecretBox;
  schedules: RecrawlSchedules;
  /** The client for URLs that organizations configured, except crawled sites. */
  http: StreamingHttp;
  mcp: Mcp;
  /** The public URL of this system. */
  publicUrl: string;
  /** Private hosts that requests may reach. */
  egressAllow: readonly string[];
  /**
   * Starts workflows as `start` does, for work that a customer waits for. If possible, a worker of this process runs
   * the workflow.
   */
  startNear: Starter['start'];
  quotas: Quotas;
  testRepliesPerMinute: number;
  testConversationsPerMonth: number;
  clock: () => Date;
  /** Aborted when this process stops; running work is abandoned. */
  stopping: AbortSignal;
  log: Logger;
};

/**
 * The workers of one queue: their activities, and how many run in parallel. In production each fleet is one service.
 */
export type Fleet = {
  activities(deps: WorkerDeps): object;
  /** True keeps a reader process ready, so that small files are read without delay. */
  readerReady?: true;
  /** Maximum number of activities that run in parallel in one process. */
  maxActivities: number;
  /**
   * Maximum number of workflow tasks that run in parallel in one process; they are short, so a few keep two cores busy.
   * Absent when only workflows of other queues schedule the activities. Then the process needs no workflow thread,
   * which takes 50 MiB, and a quarter of a second at each start.
   */
  maxWorkflowTasks?: number;
};

export type Slice = {
  /** The models whose records start workflows; the sweeper starts those that were not started at once. */
  launchable: readonly Model<Launchable>[];
  /** The fleets, by the queue that they poll. */
  fleets: { readonly [Q in Queue]?: Fleet };
};

/** Accepts a model whose records have `pending`, whatever other fields they have. */
export const launchable = <T extends Launchable>(model: Model<T>): Model<Launchable> =>
  model as unknown as Model<Launchable>;
