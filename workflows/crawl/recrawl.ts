/** Repeated crawls of a site: the Temporal Schedule is updated to follow the record, and each firing begins a crawl. */
import { ParentClosePolicy, proxyActivities, startChild, workflowInfo } from '@temporalio/workflow';
import type { Begun, RecrawlActivities } from '../../activities/crawl/recrawl.ts';
import { searchAttributes } from '../attributes.ts';
import { crawlSite, crawlWorkflowId } from './crawl.ts';
import { throughOutages } from '../base/options.ts';

export type RecrawlRef = { orgId: string; scheduleId: string };

/** The id of a site's Temporal Schedule, and what the ids of the workflows that it starts begin with. */
export const recrawlId = (scheduleId: string): string => `recrawl:${scheduleId}`;
/** `change`: each change of a schedule has a workflow of its own. */
export const arrangeRecrawlWorkflowId = (scheduleId: string, change: string): string =>
  `${recrawlId(scheduleId)}:arrange:${change}`;

const activities = proxyActivities<RecrawlActivities>({
  // The schedule skips firings during an outage.
  ...throughOutages,
  // A few commands to MongoDB and Temporal, whose own retries end within 20 s.
  startToCloseTimeout: '2 minutes',
});

/** Makes the Temporal Schedule equal the record, or removes it. */
export async function arrangeRecrawl(ref: RecrawlRef): Promise<void> {
  await activities.arrangeRecrawl(ref);
}

/**
 * The workflow that a schedule starts: it begins a crawl and ends, so that the next firing finds that crawl running and
 * records it.
 */
export async function recrawlSite(ref: RecrawlRef): Promise<Begun> {
  const begun = await activities.beginRecrawl({ ...ref, firing: workflowInfo().runId });
  // The record is gone, so whatever left this schedule behind, this was its last firing.
  if (begun.state === 'gone') await activities.arrangeRecrawl(ref);
  if (begun.state === 'begun') {
    await startChild(crawlSite, {
      // The same id as every crawl has, so that status and cancel find it.
      workflowId: crawlWorkflowId(begun.crawlId),
      args: [{ orgId: ref.orgId, crawlId: begun.crawlId }],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      typedSearchAttributes: [
        { key: searchAttributes.organization, value: ref.orgId },
        { key: searchAttributes.mode, value: begun.mode },
      ],
      priority: { fairnessKey: ref.orgId },
    });
  }
  return begun;
}
