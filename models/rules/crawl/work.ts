/** What is started for crawls. Pure. */
import { workOf } from '../base/work.ts';

export const crawlSiteWorkflowId = (crawlId: string): string => `crawl:${crawlId}`;

/** Crawls a site. */
export const crawlSiteWork = (orgId: string, crawlId: string) =>
  workOf({ workflow: 'crawlSite', id: crawlSiteWorkflowId(crawlId), queue: 'crawl', args: [{ orgId, crawlId }] });

/** The id of a site's Temporal Schedule, and what the ids of the workflows that it starts begin with. */
export const recrawlScheduleId = (scheduleId: string): string => `recrawl:${scheduleId}`;

/** What a site's Temporal Schedule starts. */
export const recrawlSiteWork = (orgId: string, scheduleId: string) =>
  workOf({
    workflow: 'recrawlSite',
    id: recrawlScheduleId(scheduleId),
    queue: 'crawl',
    args: [{ orgId, scheduleId }],
  });

/** Makes the Temporal Schedule what the record says when it runs. `change`: each change has a workflow of its own. */
export const arrangeRecrawlWork = (orgId: string, scheduleId: string, change: string) =>
  workOf({
    workflow: 'arrangeRecrawl',
    id: `${recrawlScheduleId(scheduleId)}:arrange:${change}`,
    queue: 'crawl',
    args: [{ orgId, scheduleId }],
  });

/** Removes what a request to prune found. */
export const pruneKnowledgeWork = (orgId: string, pruningId: string) =>
  workOf({
    workflow: 'pruneKnowledge',
    id: `pruning:${pruningId}`,
    queue: 'sources',
    args: [{ orgId, pruningId }],
  });
