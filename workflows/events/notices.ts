/**
 * Notifies members about a conversation, a tool call that waits for approval, or a failed delivery. Mails the
 * notifications that members have not read, and ends the snooze of a conversation at its time. The activity reads the
 * content and the recipients from the records. Mails are deliveries, which their own workflows send.
 */
import { condition, continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { NoticeActivities } from '../../activities/events/notices.ts';
import { noticedSignal, type NoticeRef } from '../../models/rules/chat/work.ts';

const { tellMembers } = proxyActivities<NoticeActivities>({
  ...throughOutages,
  // The activity reads and writes some records for each member.
  startToCloseTimeout: '1 minute',
  // A person waits, so the death of a worker is noticed sooner than usual.
  heartbeatTimeout: '5 seconds',
});

/** The signal that there is something more to tell the members. */
export const noticed = defineSignal(noticedSignal);

export async function notices(ref: NoticeRef): Promise<void> {
  const news = newsOf(noticed);
  for (;;) {
    const seen = news();
    // When the activity returns undefined, Temporal passes null.
    const waitMs = (await tellMembers(ref)) ?? undefined;
    if (waitMs !== undefined)
      await condition(() => seen !== news(), waitMs, {
        summary: 'a snooze to end, or the notifications to be read, else to be mailed',
      });
    else if (seen === news()) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof notices>(ref);
  }
}
