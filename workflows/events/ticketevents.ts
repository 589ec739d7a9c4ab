/**
 * Sends the events of a ticket: in order to each destination, the destinations beside each other. The act that makes an event
 * signals this workflow; the events and their deliveries are in MongoDB, so the history stays short, and it ends as soon as
 * nothing is outstanding.
 */
import { continueAsNew, defineSignal } from '@temporalio/workflow';
import { carryAll, sendEvents } from './lines.ts';
import { ticketEventSignal } from '../../models/rules/chat/work.ts';

/** `tryNow`: the next attempts were asked for when the run before had no time for them. */
export type TicketRef = { orgId: string; convId: string; ticketId: string; tryNow?: boolean };

/** An event of the ticket was stored. */
export const ticketEvent = defineSignal(ticketEventSignal);

export async function ticketEvents({ tryNow, ...ref }: TicketRef): Promise<void> {
  await carryAll(
    ref.orgId,
    ticketEvent,
    async (carried) => {
      const { lines, failed } = await sendEvents({ ...ref, carried: carried.names() });
      if (failed !== undefined) carried.failed(failed);
      for (const { line, left } of lines) carried.take(line, left);
    },
    (urgent) => continueAsNew<typeof ticketEvents>(urgent ? { ...ref, tryNow: true } : ref),
    tryNow,
  );
}
