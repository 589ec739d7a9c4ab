/**
 * Tells an organization what happened to a task or a meeting. What is to be told, and whom, the activity reads; each delivery and
 * notification that it stores is stored once, and the deliveries are sent by workflows of their own.
 */
import { continueAsNew, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { AnnounceActivities } from '../../activities/tasks/announce.ts';
import { happenedSignal, type MeetingHappened, type TaskRef } from '../../models/rules/events/work.ts';

const { announceTask, announceMeeting } = proxyActivities<AnnounceActivities>({
  ...throughOutages,
  // It reads and writes some records for each person concerned.
  startToCloseTimeout: '1 minute',
});

/** Something more happened to the task. */
export const happened = defineSignal(happenedSignal);

export async function announce(ref: TaskRef | MeetingHappened): Promise<void> {
  let signals = 0;
  setHandler(happened, () => void (signals += 1));
  if ('meetingId' in ref) return announceMeeting(ref);
  for (let seen = -1; seen !== signals;) {
    seen = signals;
    await announceTask(ref);
    // Something may happen during each look, for days. The next run begins with a look of its own.
    if (signals !== seen && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof announce>(ref);
  }
}
