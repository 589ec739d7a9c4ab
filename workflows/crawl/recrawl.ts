/** Crawl schedules: the Temporal Schedule is kept equal to the record, and each firing starts a crawl. */
import { ParentClosePolicy, proxyActivities, startChild, workflowInfo } from '@temporalio/workflow';
import type { Begun, RecrawlActivities } from '../../activities/crawl/recrawl.ts';
import { introduced } from '../base/introduced.ts';
import { crawlSite } from './crawl.ts';
import { throughOutages } from '../base/options.ts';
import { crawlSiteWork } from '../../models/rules/crawl/work.ts';

export type RecrawlRef = { orgId: string; scheduleId: string };

const activities = proxyActivities<RecrawlActivities>({
  // Retries continue through an outage; the schedule skips firings meanwhile.
  ...throughOutages,
  // The activities send a few commands to MongoDB and Temporal. The retries of each command end within 20 s.
  startToCloseTimeout: '2 minutes',
});

/** Makes the Temporal Schedule equal the record, or removes it. */
export async function arrangeRecrawl(ref: RecrawlRef): Promise<void> {
  await activities.arrangeRecrawl(ref);
}

/**
 * The workflow that a schedule starts. It starts a crawl and ends. If the crawl is still running at the next firing,
 * that firing is skipped, which is noted on the record.
 */
export async function recrawlSite(ref: RecrawlRef): Promise<Begun> {
  const begun = await activities.beginRecrawl({ ...ref, firing: workflowInfo().runId });
  // The record was removed, so this leftover schedule is removed as well.
  if (begun.state === 'gone') await activities.arrangeRecrawl(ref);
  if (begun.state === 'begun') {
    // The id has the same form as for every other crawl, so that requests for the status or a cancellation find the
    // workflow.
    const { id, args } = crawlSiteWork(ref.orgId, begun.crawlId);
    await startChild(crawlSite, {
      workflowId: id,
      args,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      ...introduced('crawlSite', id, ref.orgId, begun.mode),
      priority: { fairnessKey: ref.orgId },
    });
  }
  return begun;
}
