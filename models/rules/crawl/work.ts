/** The workflows of crawls. Pure. */
import { workOf } from '../base/work.ts';

export const crawlSiteWorkflowId = (crawlId: string): string => `crawl:${crawlId}`;

export const crawlSiteWork = (orgId: string, crawlId: string) =>
  workOf('crawlSite', 'crawl', crawlSiteWorkflowId(crawlId), [{ orgId, crawlId }]);

/** The id of a site's Temporal Schedule. The ids of the workflows that the Schedule starts begin with this id. */
export const recrawlScheduleId = (scheduleId: string): string => `recrawl:${scheduleId}`;

/** The workflow that a site's Temporal Schedule starts. */
export const recrawlSiteWork = (orgId: string, scheduleId: string) =>
  workOf('recrawlSite', 'crawl', recrawlScheduleId(scheduleId), [{ orgId, scheduleId }]);

/**
 * The workflow that makes the Temporal Schedule match the stored record of the crawl schedule, as the record is when
 * the workflow runs. `change`: the id of the change; each change has its own workflow.
 */
export const arrangeRecrawlWork = (orgId: string, scheduleId: string, change: string) =>
  workOf('arrangeRecrawl', 'crawl', `${recrawlScheduleId(scheduleId)}:arrange:${change}`, [{ orgId, scheduleId }]);

/** The workflow that removes the orphaned knowledge data that a pruning request has found. */
export const pruneKnowledgeWork = (orgId: string, pruningId: string) =>
  workOf('pruneKnowledge', 'sources', `pruning:${pruningId}`, [{ orgId, pruningId }]);
