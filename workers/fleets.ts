/** The table of fleets: which queue a fleet works, what it can do, and how much at once. One service a fleet in production. */
import type { Logger } from 'pino';
import { createConversationActivities } from '../activities/chat/conversation.ts';
import { createCrawlActivities } from '../activities/crawl/crawl.ts';
import { createDocumentActivities } from '../activities/knowledge/document.ts';
import { createErasureActivities } from '../activities/chat/erasure.ts';
import { createMaintenanceActivities } from '../activities/knowledge/maintenance.ts';
import { createRecrawlActivities, type RecrawlSchedules } from '../activities/crawl/recrawl.ts';
import { createSourceActivities } from '../activities/knowledge/source.ts';
import type { Ai } from '../clients/ai/ai.ts';
import type { Files } from '../clients/files/files.ts';
import type { Search } from '../clients/search/search.ts';
import type { Sites } from '../clients/site/site.ts';
import type { Quotas } from '../models/rules/knowledge/quota.ts';
import { queues, type Queue } from '../workflows/queues.ts';

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

export type Fleet = {
  queue: Queue;
  activities(deps: WorkerDeps): object;
  /** Activities at once in one process. */
  maxActivities: number;
  /** Workflow tasks at once in one process: they are short, and two cores are kept busy by a few. */
  maxWorkflowTasks: number;
};

export const fleets = {
  documents: {
    queue: queues.documents,
    // Those of sources for workflows that were begun on this queue before they had one of their own.
    activities: (deps) => ({ ...createDocumentActivities(deps), ...createSourceActivities(deps) }),
    // Each reads in a process of its own of up to 512 MiB; four fit beside the worker into 3 GiB.
    maxActivities: 4,
    maxWorkflowTasks: 10,
  },
  sources: {
    queue: queues.sources,
    // Short, and not to wait behind files that take half a minute to read: what was taken back has to be out of the index.
    activities: createSourceActivities,
    maxActivities: 10,
    maxWorkflowTasks: 5,
  },
  crawl: {
    queue: queues.crawl,
    activities: (deps) => ({ ...createCrawlActivities(deps), ...createRecrawlActivities(deps) }),
    // A crawl waits more than it works; its pages are read by the processes that all crawls of a worker share.
    maxActivities: 8,
    maxWorkflowTasks: 5,
  },
  conversations: {
    queue: queues.conversations,
    activities: (deps) => ({ ...createConversationActivities(deps), ...createErasureActivities(deps) }),
    // A turn waits for MongoDB or a model most of its time; this many keep two cores busy when they answer extractively.
    maxActivities: 40,
    maxWorkflowTasks: 20,
  },
  maintenance: {
    queue: queues.maintenance,
    activities: createMaintenanceActivities,
    // Merging an index is disk work; a second one at once would only slow the first.
    maxActivities: 1,
    maxWorkflowTasks: 2,
  },
} as const satisfies Record<string, Fleet>;

export type FleetName = keyof typeof fleets;
export const fleetNames = Object.keys(fleets) as FleetName[];
