/**
 * Has members told of a conversation, of a call of a tool that waits for one of them, or of a delivery that was given up. What is
 * to be told, and whom, the activity reads from the record; what leaves are deliveries, sent by workflows of their own.
 */
import { continueAsNew, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { NoticeActivities } from '../../activities/events/notices.ts';
import { noticedSignal, type NoticeRef } from '../../models/rules/chat/work.ts';

const { tellMembers } = proxyActivities<NoticeActivities>({
  ...throughOutages,
  // It reads and writes some records for each member.
  startToCloseTimeout: '1 minute',
  // Somebody waits for a person, so a worker that died is noticed sooner.
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
