/**
 * Mails a customer the unread replies, a minute after the first one. Within that minute the customer may come back, and
 * further replies go into the same mail. The replies are in MongoDB; the workflow only waits.
 */
import { condition, continueAsNew, defineSignal, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { MailReplyActivities } from '../../activities/events/mailreply.ts';
import { repliedSignal } from '../../models/rules/chat/work.ts';
import { mailAfterMs } from '../../models/rules/events/mailout.ts';

export type MailReplyRef = { orgId: string; convId: string };

const { mailUnsent } = proxyActivities<MailReplyActivities>({
  ...throughOutages,
  // The activity reads and writes a few records, one of them a delivery. Another workflow sends the delivery.
  startToCloseTimeout: '1 minute',
});

/** The signal that a message to the customer was stored. */
export const replied = defineSignal(repliedSignal);

export async function mailReply(ref: MailReplyRef): Promise<void> {
  const news = newsOf(replied);
  for (;;) {
    await sleep(mailAfterMs, { summary: 'the customer to come back, or further replies' });
    const seen = news();
    const { waitMs } = await mailUnsent(ref);
    if (waitMs !== undefined)
      await condition(() => news() !== seen, waitMs, { summary: 'the time at which the next mail may be sent' });
    else if (news() === seen) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof mailReply>(ref);
  }
}
