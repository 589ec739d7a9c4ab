/**
 * Notifies members of a conversation, of a tool call that waits for approval, or of a failed delivery. The activity
 * reads the content and the recipients from the record. The notifications are deliveries, which their own workflows
 * send.
 */
import { continueAsNew, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { NoticeActivities } from '../../activities/events/notices.ts';
import { noticedSignal, type NoticeRef } from '../../models/rules/chat/work.ts';

const { tellMembers } = proxyActivities<NoticeActivities>({
  ...throughOutages,
  // Reads and writes some records for each member.
  startToCloseTimeout: '1 minute',
  // A person waits, so the death of a worker is noticed sooner than usual.
  heartbeatTimeout: '5 seconds',
});

/** Something more is to be told. */
export const noticed = defineSignal(noticedSignal);

export async function notices(ref: NoticeRef): Promise<void> {
  let signals = 0;
  setHandler(noticed, () => void (signals += 1));
  for (let seen = -1; seen !== signals;) {
    seen = signals;
    await tellMembers(ref);
    if (seen !== signals && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof notices>(ref);
  }
}
