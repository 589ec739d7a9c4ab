import { launchable, type Slice } from './slice.ts';
import { createCrawlActivities } from '../../activities/crawl/crawl.ts';
import { createRecrawlActivities } from '../../activities/crawl/recrawl.ts';
import { CrawlModel } from '../../models/crawl/crawl.ts';
import { RecrawlModel } from '../../models/crawl/recrawl.ts';

export const crawl = {
  launchable: [launchable(CrawlModel), launchable(RecrawlModel)],
  fleets: {
    crawl: {
      activities: (deps) => ({ ...createCrawlActivities(deps), ...createRecrawlActivities(deps) }),
      // A crawl mostly waits. All crawls of a worker share the processes that read pages.
      maxActivities: 8,
      maxWorkflowTasks: 5,
    },
  },
} as const satisfies Slice;
