/**
 * Sends a line of deliveries that belongs to no ticket, such as an answer by mail, or a single delivery that is sent
 * again.
 */
import { continueAsNew, defineSignal } from '@temporalio/workflow';
import { carryAll } from './lines.ts';
import { lineSignal } from '../../models/rules/events/work.ts';

export type LineRef = { orgId: string; line: string };

/** The signal that a delivery of the line was stored. */
export const lineNews = defineSignal(lineSignal);

export async function sendLine(ref: LineRef): Promise<void> {
  await carryAll(
    ref.orgId,
    lineNews,
    (carried) => carried.take(ref.line, { kind: 'more', slow: false }),
    () => continueAsNew<typeof sendLine>(ref),
  );
}
