/**
 * Sends the events of a ticket. Each destination gets them in order; different destinations are served in parallel. The
 * action that creates an event signals this workflow. The events and their deliveries are in MongoDB, so the history
 * stays short. The workflow ends when no delivery is outstanding.
 */
import { continueAsNew, defineSignal } from '@temporalio/workflow';
import { carryAll, sendEvents } from './lines.ts';
import { ticketEventSignal } from '../../models/rules/chat/work.ts';

/**
 * `tryNow`: whether the next attempts are made without waiting. It is true when operators requested the attempts, and
 * the previous run continued as new before it made them.
 */
export type TicketRef = { orgId: string; convId: string; ticketId: string; tryNow?: boolean };

/** The signal that an event of the ticket was stored. */
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
