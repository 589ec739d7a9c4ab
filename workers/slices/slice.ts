/** What a slice gives the worker processes. Each slice says it once, in the file of its name beside this one. */
import type { Model } from 'mongoose';
import type { Logger } from 'pino';
import type { RecrawlSchedules } from '../../activities/crawl/recrawl.ts';
import type { Ai } from '../../clients/ai/ai.ts';
import type { Files } from '../../clients/files/files.ts';
import type { Search } from '../../clients/search/search.ts';
import type { Sites } from '../../clients/site/site.ts';
import type { Launchable } from '../../models/base/pending.ts';
import type { Quotas } from '../../models/rules/knowledge/quota.ts';
import type { Queue } from '../../workflows/queues.ts';

/** What activities are made of; a test hands in its own. */
export type WorkerDeps = {
  files: Files;
  sites: Sites;
  search: Search;
  ai: Ai;
  schedules: RecrawlSchedules;
  quotas: Quotas;
  testRepliesPerMinute: number;
  clock: () => Date;
  log: Logger;
};

/** The workers of one queue: what they can do, and how much at once. One service a fleet in production. */
export type Fleet = {
  activities(deps: WorkerDeps): object;
  /** Activities at once in one process. */
  maxActivities: number;
  /** Workflow tasks at once in one process: they are short, and two cores are kept busy by a few. */
  maxWorkflowTasks: number;
};

export type Slice = {
  /** Every model whose records start workflows; the sweeper starts what was left behind. */
  launchable: readonly Model<Launchable>[];
  /** The fleets, by the queue that each works. */
  fleets: { readonly [Q in Queue]?: Fleet };
};

/** A model whose records have `pending`, whatever else they have. */
export const launchable = <T extends Launchable>(model: Model<T>): Model<Launchable> =>
  model as unknown as Model<Launchable>;
