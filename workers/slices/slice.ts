/**
 * What a slice (a part of the platform, such as chat or crawl) declares for the worker processes. Each slice has a file
 * of its name in this folder.
 */
import type { Logger } from 'pino';
import type { openClients, settingsOf } from '../clients.ts';
import type { Model } from '../../models/base/define.ts';
import type { RecrawlSchedules } from '../../activities/crawl/recrawl.ts';
import type { Starter } from '../../providers/base/handled.ts';
import type { Launchable } from '../../models/base/pending.ts';
import type { Queue } from '../../models/rules/base/work.ts';

/** The dependencies of activities; tests pass their own. */
export type WorkerDeps = Starter &
  ReturnType<typeof openClients>['clients'] &
  ReturnType<typeof settingsOf> & {
    schedules: RecrawlSchedules;
    /**
     * Starts workflows as `start` does, but a worker of this process runs the workflow if possible. Used for work that
     * a customer waits for.
     */
    startNear: Starter['start'];
    clock: () => Date;
    /** This signal is aborted when the process stops; running work is then abandoned. */
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
   * Maximum number of workflow tasks that run in parallel in one process. They are short, so a few keep two cores busy.
   * Absent when only workflows of other queues schedule the activities. Then the process needs no workflow thread.
   */
  maxWorkflowTasks?: number;
};

export type Slice = {
  /** The models whose records start workflows; the sweeper starts the workflows that were not started at once. */
  launchable: readonly Model<Launchable>[];
  /** The fleets, by the queue that they poll. */
  fleets: { readonly [Q in Queue]?: Fleet };
};

/** Accepts a model whose records have `pending`, whatever other fields they have. */
export const launchable = <T extends Launchable>(model: Model<T>): Model<Launchable> =>
  model as unknown as Model<Launchable>;
