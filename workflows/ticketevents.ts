/**
 * Sends the events of a ticket: in order to each destination, the destinations beside each other. The act that makes an event
 * signals this workflow; the events and their deliveries are in MongoDB, so the history stays short, and it ends as soon as
 * nothing is outstanding.
 */
import { condition, continueAsNew, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import { carryLines, sendEvents, tryNow } from './lines.ts';
import { ticketEventsWork } from '../models/rules/chat/work.ts';

export type TicketRef = { orgId: string; convId: string; ticketId: string };

/** An event of the ticket was stored. */
export const ticketEvent = defineSignal(ticketEventsWork.signal);

export async function ticketEvents(ref: TicketRef): Promise<void> {
  const carried = carryLines(ref.orgId);
  let news = 0;
  setHandler(ticketEvent, () => void (news += 1));
  setHandler(tryNow, () => {
    news += 1;
    carried.nudge();
  });
  const isLong = (): boolean => workflowInfo().continueAsNewSuggested;
  for (;;) {
    const seen = news;
    const { lines, failed } = await sendEvents({ ...ref, carried: carried.names() });
    if (failed !== undefined) carried.failed(failed);
    for (const { line, left } of lines) carried.take(line, left);
    await condition(() => news !== seen || carried.idle() || isLong());
    if (isLong()) {
      await carried.stop();
      await continueAsNew<typeof ticketEvents>(ref);
    }
    if (news === seen && carried.idle()) break;
  }
  carried.end();
}
