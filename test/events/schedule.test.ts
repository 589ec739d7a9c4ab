/** The complete schedule of attempts on a server that skips time, with real activities, receiver and database. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { temporal } from '@temporalio/proto';
import { Context } from '@temporalio/activity';
import { delivering } from '../kit/delivering.ts';
import { status } from '../kit/receiver.ts';
import { receiversOfTest } from '../kit/receivers.ts';
import { stories } from '../workflows/story.ts';
import { detailsOf } from '../workflows/storyserver.ts';
import { until } from '../kit/harness.ts';
import type { MailSettings } from '../../providers/mail/settings.ts';
import { email } from '../../providers/mail/send.ts';
import { webhook } from '../../providers/webhook/send.ts';
import { MailRefused } from '../../providers/mail/client.ts';
import { newId } from '../../models/base/ids.ts';
import { createDelivery } from '../../models/events/delivery.ts';
import { retryWaits } from '../../models/rules/events/schedule.ts';
import { ticketLine } from '../../models/rules/events/delivery.ts';
import { sendLine } from '../../workflows/events/sendline.ts';
import { ticketEvents } from '../../workflows/events/ticketevents.ts';

const { tell } = stories();
/** Returns the server's time, which skips ahead, when called inside an activity. */
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
  deps: {
    senders: { webhook, email },
    mail: { server: {} } as MailSettings,
    mailer: {
      send: async (_route, { to }) => {
        throw new MailRefused('now', `451 4.2.1 <${to.address}> is busy`, { status: 451 });
      },
      check: async () => undefined,
    },
  },
});
const newReceiver = receiversOfTest();
const whole = retryWaits.reduce((sum, wait) => sum + wait, 0);

describe('a receiver that never accepts anything', () => {
  it('a receiver that never accepts anything gets eight attempts per ticket event, on schedule, before the deliveries are given up', async () => {
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
      // Each attempt is signed again, because a receiver refuses an old signature.
      expect(new Set(same.map(({ headers }) => headers['webhook-signature'])).size).toBeGreaterThanOrEqual(7);
    }
  });
});

describe('a receiver that accepts the fourth attempt', () => {
  it('a receiver that accepts the fourth attempt at an event gets the next event at once', async () => {
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
    expect(shown).toContain('| failed last | webhook: answered 503 |');
    expect(shown).toContain('redeliver');
    const found = await deliveries(ticket.orgId);
    expect(found.map(({ status: at, attempts }) => [at, attempts.length])).toEqual([
      ['delivered', 4],
      ['delivered', 1],
    ]);
  });
});

describe('a line of deliveries without a ticket', () => {
  it('deliveries without a ticket leave neither the recipient’s address nor the mail server’s words in Temporal', async () => {
    const address = `${randomUUID()}@customer.example`;
    const who = { name: '', address: 'support@bank.example' };
    const words = {
      subject: 'Your card',
      text: 'It is here.',
      date: clock().toISOString(),
      message_id: '<1@bank.example>',
    };
    const mail = { from: who, to: { name: '', address }, ...words, references: [], headers: {} };
    const { delivery } = await createDelivery(
      {
        org_id: newId('org'),
        mode: 'live',
        kind: 'email',
        event_id: newId('event'),
        event_type: 'mail.reply',
        lane: 'email',
        destination: address,
        subject: {},
        about: [],
        payload: { mail, via: 'deployment' },
      },
      clock(),
    );
    let shown = '';
    let history = Buffer.alloc(0);
    await tell(sendLine, [{ orgId: delivery.org_id, line: delivery.line }], activities, async (handle) => {
      shown = await until(async () => {
        const details = await detailsOf(handle);
        return details.includes('1 of 8') && details;
      }, 'the details of the first failure');
      await handle.result();
      const { History } = temporal.api.history.v1;
      history = Buffer.from(History.encode(await handle.fetchHistory()).finish());
    });
    expect((await deliveries(delivery.org_id)).map(({ status: at, error }) => [at, error])).toEqual([
      ['failed', `451 4.2.1 <${address}> is busy`],
    ]);
    expect([shown.includes('answered 451 |'), shown.includes(address)]).toEqual([true, false]);
    expect(history.includes(delivery._id)).toBe(true);
    for (const secret of [address, 'is busy', 'It is here']) expect(history.includes(secret)).toBe(false);
  });

  it('the workflow sendLine makes eight attempts for each delivery, on the same schedule as for ticket events', async () => {
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
