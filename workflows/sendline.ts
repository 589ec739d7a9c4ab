/** Sends a line of deliveries that belongs to no ticket, such as an answer by mail, or a single delivery that is sent again. */
import { condition, continueAsNew, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import { carryLines, tryNow } from './lines.ts';
import { deliveryWork } from '../models/rules/events/work.ts';

export type LineRef = { orgId: string; line: string };

/** A delivery of the line was stored. */
export const lineNews = defineSignal(deliveryWork.signal);

export async function sendLine(ref: LineRef): Promise<void> {
  const carried = carryLines(ref.orgId);
  let news = 0;
  setHandler(lineNews, () => void (news += 1));
  setHandler(tryNow, () => {
    news += 1;
    carried.nudge();
  });
  const isLong = (): boolean => workflowInfo().continueAsNewSuggested;
  for (;;) {
    const seen = news;
    carried.take(ref.line, { kind: 'more', slow: false });
    await condition(() => news !== seen || carried.idle() || isLong());
    if (isLong()) {
      await carried.stop();
      await continueAsNew<typeof sendLine>(ref);
    }
    if (news === seen && carried.idle()) break;
  }
  carried.end();
}
