/** The workflows of crawls. Pure. */
import { workOf } from '../base/work.ts';

export const crawlSiteWorkflowId = (crawlId: string): string => `crawl:${crawlId}`;

export const crawlSiteWork = (orgId: string, crawlId: string) =>
  workOf({ workflow: 'crawlSite', id: crawlSiteWorkflowId(crawlId), queue: 'crawl', args: [{ orgId, crawlId }] });

/** The id of a site's Temporal Schedule. The ids of the workflows that the Schedule starts begin with this id. */
export const recrawlScheduleId = (scheduleId: string): string => `recrawl:${scheduleId}`;

/** The workflow that a site's Temporal Schedule starts. */
export const recrawlSiteWork = (orgId: string, scheduleId: string) =>
  workOf({
    workflow: 'recrawlSite',
    id: recrawlScheduleId(scheduleId),
    queue: 'crawl',
    args: [{ orgId, scheduleId }],
  });

/**
 * Makes the Temporal Schedule match the stored record of the crawl schedule, as the record is when the workflow runs.
 * `change`: the id of the change; each change has its own workflow.
 */
export const arrangeRecrawlWork = (orgId: string, scheduleId: string, change: string) =>
  workOf({
    workflow: 'arrangeRecrawl',
    id: `${recrawlScheduleId(scheduleId)}:arrange:${change}`,
    queue: 'crawl',
    args: [{ orgId, scheduleId }],
  });

/** Removes the orphaned knowledge data that a pruning request has found. */
export const pruneKnowledgeWork = (orgId: string, pruningId: string) =>
  workOf({
    workflow: 'pruneKnowledge',
    id: `pruning:${pruningId}`,
    queue: 'sources',
    args: [{ orgId, pruningId }],
  });
