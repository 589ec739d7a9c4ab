/**
 * What a slice declares for the worker processes. Each slice declares it once, in the file of its name beside this one.
 */
import type { Model } from 'mongoose';
import type { Logger } from 'pino';
import type { RecrawlSchedules } from '../../activities/crawl/recrawl.ts';
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
import type { Intent, Launchable } from '../../models/base/pending.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import type { Quotas } from '../../models/rules/knowledge/quota.ts';
import type { Queue } from '../../models/rules/base/work.ts';

/**
 * Starts the workflows that a saved record asks for, at once. It never fails: what is not started is left to the sweeper.
 */
export type StartSaved = <T extends Launchable>(
  model: Model<T>,
  record: Launchable,
  intents: readonly Intent[],
) => Promise<void>;

/** The dependencies of activities; a test passes its own. */
export type WorkerDeps = {
  files: Files;
  sites: Sites;
  search: Search;
  intelligence: Intelligence;
  /** The service that sends bots into outside calls, where one is configured. */
  outsideBot: Bot | undefined;
  embedding: Embedding;
  linear: Linear;
  github: Github;
  slack: Slack;
  slackApp: { clientId: string; clientSecret: string } | undefined;
  mailer: Mailer;
  /** Without the bot's password there is none. */
  teams: TeamsBot | undefined;
  mail: MailSettings;
  objects: ObjectStore;
  /** The buckets from which received mails may be fetched. */
  inboundBuckets: readonly string[];
  secrets: SecretBox;
  schedules: RecrawlSchedules;
  /** The client for addresses that organizations gave, except crawled sites. */
  http: StreamingHttp;
  mcp: Mcp;
  /** The public address of this system. */
  publicUrl: string;
  /** Private hosts that requests may reach. */
  egressAllow: readonly string[];
  start: StartSaved;
  /** The same for work that a customer waits for: a worker of this process starts it if it can. */
  startNear: StartSaved;
  quotas: Quotas;
  testRepliesPerMinute: number;
  testConversationsPerMonth: number;
  clock: () => Date;
  /** Aborted when this process stops: running work is given up. */
  stopping: AbortSignal;
  log: Logger;
};

/** The workers of one queue: their activities, and how many run at once. In production each fleet is one service. */
export type Fleet = {
  activities(deps: WorkerDeps): object;
  /** Whether it reads small files without delay, so that a reading process is kept ready for it. */
  readerReady?: true;
  /** Activities at once in one process. */
  maxActivities: number;
  /**
   * Workflow tasks at once in one process: they are short, so a few keep two cores busy. Absent where only activities run, which
   * workflows of other queues schedule: a thread for workflows takes a quarter of a second of each start, and 50 MiB.
   */
  maxWorkflowTasks?: number;
};

export type Slice = {
  /** Every model whose records start workflows; the sweeper starts the intents that are left. */
  launchable: readonly Model<Launchable>[];
  /** The fleets, by the queue that each one polls. */
  fleets: { readonly [Q in Queue]?: Fleet };
};

/** A model whose records have `pending`, whatever other fields they have. */
export const launchable = <T extends Launchable>(model: Model<T>): Model<Launchable> =>
  model as unknown as Model<Launchable>;
