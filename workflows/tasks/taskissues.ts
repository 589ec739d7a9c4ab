/**
 * Updates the issues of a task in other services (Linear, GitHub) after each change of the task. The last known content
 * of each issue is stored in MongoDB. The workflow only waits between retries, and ends when all issues are up to date.
 */
import { condition, continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { show } from '../base/board.ts';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { IssueActivities, IssuesRef } from '../../activities/tasks/issues.ts';
import { issueWaitMs } from '../../models/rules/tasks/issues.ts';
import { taskChangedSignal } from '../../models/rules/tasks/work.ts';

const { carryToIssues } = proxyActivities<IssueActivities>({
  ...throughOutages,
  // The activity sends at most three requests of 15 s to each of two services.
  startToCloseTimeout: '3 minutes',
});

const logged = "What the service said is in the worker's log.";

/** The signal that the task has changed. */
export const taskChanged = defineSignal(taskChangedSignal);

export async function taskIssues(ref: IssuesRef): Promise<void> {
  const news = newsOf(taskChanged);
  for (let tries = 0; ;) {
    // A task may change during every attempt, so `continueAsNew` bounds the history. While attempts fail (`tries` above
    // 0), the maximum number of retries bounds the history, and a new run would forget `tries`.
    if (tries === 0 && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof taskIssues>(ref);
    const seen = news();
    const { again, error, retryAfterMs } = await carryToIssues(ref);
    if (error !== undefined) show({ failed: `an issue could not be changed: ${error}`, can: [logged] });
    tries = news() === seen ? tries + 1 : 0;
    if (news() !== seen) continue;
    const waitMs = again ? issueWaitMs(tries, retryAfterMs) : undefined;
    if (waitMs === undefined) {
      if (error !== undefined) show({ status: 'failed' });
      return;
    }
    await condition(() => news() !== seen, waitMs, { summary: 'the next attempt' });
    if (news() !== seen) tries = 0;
  }
}
