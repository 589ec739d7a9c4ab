/**
 * Announces events of a task or a meeting to an organization. The activity reads what to announce, and to whom.
 * Deliveries and notifications are deduplicated, so a repeated announcement adds none. Other workflows send the
 * deliveries.
 */
import { continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { AnnounceActivities } from '../../activities/tasks/announce.ts';
import { happenedSignal, type MeetingHappened, type TaskRef } from '../../models/rules/events/work.ts';

const { announceTask, announceMeeting } = proxyActivities<AnnounceActivities>({
  ...throughOutages,
  // The activity reads and writes a few records per person concerned.
  startToCloseTimeout: '1 minute',
});

/** The signal that another event of the task was stored. */
export const happened = defineSignal(happenedSignal);

export async function announce(ref: TaskRef | MeetingHappened): Promise<void> {
  const news = newsOf(happened);
  if ('meetingId' in ref) return announceMeeting(ref);
  for (let seen = -1; seen !== news();) {
    seen = news();
    await announceTask(ref);
    // Events may arrive during every round, for days, so `continueAsNew` bounds the history. The next run reads all
    // unannounced events first, so no event is lost.
    if (news() !== seen && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof announce>(ref);
  }
}
