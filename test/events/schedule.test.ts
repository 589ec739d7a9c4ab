/** The whole schedule of attempts, walked through by a server that skips time: real activities, receiver and database. */
import { describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { delivering } from '../kit/delivering.ts';
import { status } from '../kit/receiver.ts';
import { receiversOfTest } from '../kit/receivers.ts';
import { detailsOf, stories } from '../workflows/story.ts';
import { until } from '../kit/harness.ts';
import { retryWaits } from '../../models/rules/events/schedule.ts';
import { ticketLine } from '../../models/rules/events/delivery.ts';
import { sendLine } from '../../workflows/sendline.ts';
import { ticketEvents } from '../../workflows/ticketevents.ts';

const { tell } = stories();
/** Inside an activity of the server it is the server's time, which skips. */
function clock(): Date {
  try {
    return new Date(Math.max(Date.now(), Context.current().info.currentAttemptScheduledTimestampMs));
  } catch {
    return new Date();
  }
}
const { newOrg, newTicket, deliveries, activities, sendEvents } = delivering('schedule', {
  http: { egressAllow: ['127.0.0.1'] },
  clock,
});
const newReceiver = receiversOfTest();
const whole = retryWaits.reduce((sum, wait) => sum + wait, 0);

describe('a receiver that never takes anything', () => {
  it('gets eight attempts at each event of a ticket, in order, each as late as it should be; then they are given up', async () => {
    const receiver = await newReceiver(status(500));
    const ticket = await newTicket(await newOrg(receiver.url));
    const { skippedMs } = await tell(ticketEvents, [ticket], activities);
    const found = await deliveries(ticket.orgId);
    expect(found.map(({ status: at, tries }) => [at, tries])).toEqual([
      ['failed', 8],
      ['failed', 8],
    ]);
    for (const { attempts } of found) {
      const waits = attempts.slice(1).map(({ at }, index) => at.getTime() - attempts[index]!.at.getTime());
      expect(waits).toHaveLength(7);
      waits.forEach((wait, index) => {
        expect(wait).toBeGreaterThanOrEqual(retryWaits[index + 1]!);
        expect(wait).toBeLessThan(retryWaits[index + 1]! * 1.2 + 20_000);
      });
    }
    expect(skippedMs).toBeGreaterThanOrEqual(2 * whole);
    expect(receiver.received.map(({ event }) => event.data.ticket.event_seq)).toEqual([
      ...Array<number>(8).fill(1),
      ...Array<number>(8).fill(2),
    ]);
    for (const seq of [1, 2]) {
      const same = receiver.received.filter(({ event }) => event.data.ticket.event_seq === seq);
      expect(new Set(same.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(new Set(same.map(({ body }) => body)).size).toBe(1);
      // Signed anew each time: the two-minute old signature of a retry would be refused.
      expect(new Set(same.map(({ headers }) => headers['webhook-signature'])).size).toBeGreaterThanOrEqual(7);
    }
  });
});

describe('a receiver that takes the fourth attempt', () => {
  it('gets what came after it at once, and operators see what is waited for', async () => {
    let times = 0;
    const receiver = await newReceiver((received, response) => {
      times += 1;
      status(times < 4 ? 503 : 200)(received, response);
    });
    const ticket = await newTicket(await newOrg(receiver.url));
    let shown = '';
    await tell(ticketEvents, [ticket], activities, async (handle) => {
      shown = await until(async () => {
        const details = await detailsOf(handle);
        return details.includes('1 of 8') && details;
      }, 'the details of the first failure');
    });
    expect(shown).toContain('The receiver answered 503.');
    expect(shown).toContain('redeliver');
    const found = await deliveries(ticket.orgId);
    expect(found.map(({ status: at, attempts }) => [at, attempts.length])).toEqual([
      ['delivered', 4],
      ['delivered', 1],
    ]);
  });
});

describe('a line that belongs to no ticket', () => {
  it('has the same schedule', async () => {
    const receiver = await newReceiver(status(500));
    const ticket = await newTicket(await newOrg(receiver.url));
    await sendEvents(ticket);
    const line = ticketLine(ticket.ticketId, 'webhook');
    const { skippedMs } = await tell(sendLine, [{ orgId: ticket.orgId, line }], activities);
    expect((await deliveries(ticket.orgId)).map(({ status: at, tries }) => [at, tries])).toEqual([
      ['failed', 8],
      ['failed', 8],
    ]);
    expect(skippedMs).toBeGreaterThanOrEqual(2 * whole);
  });
});
