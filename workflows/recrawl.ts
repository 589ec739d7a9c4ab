/** A site is crawled again: the Temporal Schedule is made to follow the record, and each of its firings begins a crawl. */
import { ParentClosePolicy, proxyActivities, startChild, workflowInfo } from '@temporalio/workflow';
import type { Begun, RecrawlActivities } from '../activities/crawl/recrawl.ts';
import { searchAttributes } from './attributes.ts';
import { crawlSite, crawlWorkflowId } from './crawl.ts';
import { throughOutages } from './options.ts';

export type RecrawlRef = { orgId: string; scheduleId: string };

/** The id of a site's Temporal Schedule, and what the ids of the workflows that it starts begin with. */
export const recrawlId = (scheduleId: string): string => `recrawl:${scheduleId}`;
/** `change`: each change of a schedule is a piece of work of its own. */
export const arrangeRecrawlWorkflowId = (scheduleId: string, change: string): string =>
  `${recrawlId(scheduleId)}:arrange:${change}`;

const activities = proxyActivities<RecrawlActivities>({
  // Firings during an outage are passed over by the schedule.
  ...throughOutages,
  // A few commands to MongoDB and Temporal; their own tries end within 20 s.
  startToCloseTimeout: '2 minutes',
});

/** Makes the Temporal Schedule what the record says, or removes it. */
export async function arrangeRecrawl(ref: RecrawlRef): Promise<void> {
  await activities.arrangeRecrawl(ref);
}

/** What a schedule starts: begins a crawl and ends, so that the next firing finds it running and says so. */
export async function recrawlSite(ref: RecrawlRef): Promise<Begun> {
  const begun = await activities.beginRecrawl({ ...ref, firing: workflowInfo().runId });
  // Nobody wants it any more: whatever left this schedule behind, this was its last firing.
  if (begun.state === 'gone') await activities.arrangeRecrawl(ref);
  if (begun.state === 'begun') {
    await startChild(crawlSite, {
      // As every crawl's, so that status and cancel find it.
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
