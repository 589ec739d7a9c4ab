/**
 * Tests the workflow of a ticket's events: its lines (the deliveries to one destination, in order) run concurrently,
 * each only once at a time, and the workflow ends when nothing is outstanding.
 */
import { describe, expect, it } from '@jest/globals';
import proto from '@temporalio/proto';
import { stories } from '../story.ts';
import { detailsOf } from '../storyserver.ts';
import type { EventsOutcome, LineLeft, LineRef } from '../../../activities/events/deliver.ts';
import { tryNow } from '../../../workflows/events/lines.ts';
import { lineNews, sendLine } from '../../../workflows/events/sendline.ts';
import { ticketEvent, ticketEvents } from '../../../workflows/events/ticketevents.ts';

const ref = { orgId: 'org_1', convId: 'conv_1', ticketId: 'tkt_1' };
const { tell } = stories();
const eventTypes = proto.temporal.api.enums.v1.EventType;
const more = { kind: 'more', slow: false } as const;
const hour = 3_600_000;
const shown = {
  deliveryId: 'dlv_1',
  kind: 'webhook',
  event: 'ticket.created',
  attempt: 3,
  attempts: 8,
  nextAt: '2026-11-22T10:00:00.000Z',
  status: 500,
} as const;
const waiting = (waitMs: number): LineLeft => ({ kind: 'waiting', waitMs, slow: false, shown });

/** A promise that `open` resolves. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

describe('ticketEvents', () => {
  it('the ticket events workflow runs one activity and no timer when every delivery succeeds at once', async () => {
    let types: unknown[] = [];
    const sendAll = { sendEvents: async () => ({ lines: [] }) };
    await tell(ticketEvents, [ref], sendAll, async (handle) => {
      await handle.result();
      types = ((await handle.fetchHistory()).events ?? []).map(({ eventType }) => eventType);
    });
    const { EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: activity, EVENT_TYPE_TIMER_STARTED: timer } = eventTypes;
    expect([types.length, types.filter((type) => type === activity).length, types.includes(timer)]).toEqual([
      11,
      1,
      false,
    ]);
  });

  it('the ticket events workflow sends to its destinations concurrently, so that a waiting destination does not delay the others', async () => {
    const done: string[] = [];
    const left = new Map<string, LineLeft[]>([
      ['a', [waiting(5 * hour), { kind: 'done' }]],
      ['b', [more, more, { kind: 'done' }]],
    ]);
    const { skippedMs } = await tell(ticketEvents, [ref], {
      sendEvents: async (): Promise<EventsOutcome> => ({
        lines: [
          { line: 'a', left: more },
          { line: 'b', left: more },
        ],
      }),
      sendSome: async ({ line }: LineRef) => {
        const next = left.get(line)!.shift()!;
        if (next.kind === 'done') done.push(line);
        return next;
      },
    });
    expect(done).toEqual(['b', 'a']);
    expect(skippedMs).toBeGreaterThanOrEqual(5 * hour);
  });

  it('while deliveries to a destination wait, the ticket events workflow plans new deliveries without sending the waiting ones earlier', async () => {
    const [planned, again] = [gate(), gate()];
    const carried: string[][] = [];
    let tries = 0;
    await tell(
      ticketEvents,
      [ref],
      {
        sendEvents: async ({ carried: now }): Promise<EventsOutcome> => {
          carried.push(now);
          if (carried.length === 1) planned.open();
          else again.open();
          return { lines: [{ line: 'a', left: waiting(hour) as Exclude<LineLeft, { kind: 'done' }> }] };
        },
        sendSome: async (): Promise<LineLeft> => {
          tries += 1;
          return { kind: 'done' };
        },
      },
      async (handle) => {
        await planned.passed;
        await handle.signal(ticketEvent);
        await again.passed;
      },
    );
    expect(carried).toEqual([[], ['a']]);
    // The delivery that waits for its retry is tried only once here. When the retry is due, it will also send what was
    // planned meanwhile.
    expect(tries).toBe(1);
  });

  it('a delivery planned while others are sent to the same destination makes the ticket events workflow send there again', async () => {
    const [sending, planned] = [gate(), gate()];
    let [plans, sent] = [0, 0];
    await tell(
      ticketEvents,
      [ref],
      {
        sendEvents: async (): Promise<EventsOutcome> => {
          plans += 1;
          // Opens the gate late, so that planning has returned before the line's activity ends.
          if (plans === 2) setTimeout(planned.open, 500);
          return { lines: [{ line: 'a', left: more }] };
        },
        sendSome: async (): Promise<LineLeft> => {
          sent += 1;
          if (sent === 1) {
            sending.open();
            await planned.passed;
          }
          return { kind: 'done' };
        },
      },
      async (handle) => {
        await sending.passed;
        await handle.signal(ticketEvent);
      },
    );
    expect([plans, sent]).toEqual([2, 2]);
  });

  it('the ticket events workflow makes the waiting attempt at once when an operator requests it', async () => {
    const waits = gate();
    let tries = 0;
    const tried = gate();
    await tell(
      ticketEvents,
      [ref],
      {
        sendEvents: async (): Promise<EventsOutcome> =>
          tries === 0 ? { lines: [{ line: 'a', left: more }] } : { lines: [] },
        sendSome: async (): Promise<LineLeft> => {
          tries += 1;
          if (tries === 1) return waiting(10 * hour);
          tried.open();
          return { kind: 'done' };
        },
      },
      async (handle) => {
        for (let seen = ''; !seen.includes('3 of 8');) seen = await detailsOf(handle);
        waits.open();
        await handle.signal(tryNow);
        // The server skips no time before the workflow's result is awaited, so the attempt can only come from the
        // signal.
        await tried.passed;
      },
    );
    expect(tries).toBe(2);
  });

  it('the ticket events workflow makes another attempt when an operator requests it during an attempt', async () => {
    const [sending, told, tried] = [gate(), gate(), gate()];
    let tries = 0;
    await tell(
      ticketEvents,
      [ref],
      {
        sendEvents: async (): Promise<EventsOutcome> => ({ lines: tries === 0 ? [{ line: 'a', left: more }] : [] }),
        sendSome: async (): Promise<LineLeft> => {
          tries += 1;
          if (tries > 1) {
            tried.open();
            return { kind: 'done' };
          }
          sending.open();
          await told.passed;
          return waiting(10 * hour);
        },
      },
      async (handle) => {
        await sending.passed;
        await handle.signal(tryNow);
        told.open();
        // The server skips no time before the workflow's result is awaited.
        await tried.passed;
      },
    );
    expect(tries).toBe(2);
  });

  it('a retry that an operator requests while the ticket events workflow is planning leads to another attempt', async () => {
    const [planning, told, tried] = [gate(), gate(), gate()];
    let plans = 0;
    await tell(
      ticketEvents,
      [ref],
      {
        sendEvents: async (): Promise<EventsOutcome> => {
          plans += 1;
          if (plans > 1) return { lines: [] };
          planning.open();
          await told.passed;
          return { lines: [{ line: 'a', left: waiting(10 * hour) as Exclude<LineLeft, { kind: 'done' }> }] };
        },
        sendSome: async (): Promise<LineLeft> => {
          tried.open();
          return { kind: 'done' };
        },
      },
      async (handle) => {
        await planning.passed;
        await handle.signal(tryNow);
        told.open();
        await tried.passed;
      },
    );
    expect(plans).toBe(2);
  });

  it('the ticket events workflow shows operators the waiting deliveries, the commands for them, and finally the deliveries given up', async () => {
    let details = '';
    let last = '';
    const left: LineLeft[] = [waiting(hour), waiting(hour), { kind: 'done', failed: 'dlv_1' }];
    let planned: EventsOutcome['lines'] = [{ line: 'a', left: more }];
    await tell(
      ticketEvents,
      [ref],
      {
        sendEvents: async (): Promise<EventsOutcome> => {
          const lines = planned;
          // The line is planned only once: a line that is planned again during its sending would be sent once more.
          planned = [];
          return { lines };
        },
        sendSome: async () => left.shift()!,
      },
      async (handle) => {
        while (!details.includes('3 of 8')) details = await detailsOf(handle);
        await handle.signal(tryNow);
        await handle.signal(tryNow);
        await handle.result();
        last = await detailsOf(handle);
      },
    );
    for (const part of [
      'webhook',
      '3 of 8',
      '2026-11-22T10:00:00.000Z',
      '| failed last | webhook: answered 500 |',
      'ops retry story-',
      'dlv_1',
      '/deliveries/',
    ])
      expect(details).toContain(part);
    expect(last).toContain('given up: dlv_1');
    expect(last).toContain('recover');
  });

  it('the ticket events workflow retries planning through an outage until it succeeds', async () => {
    let failures = 5;
    const { calls } = await tell(ticketEvents, [ref], {
      sendEvents: async () => {
        if (failures-- > 0) throw new Error('MongoDB is away');
        return { lines: [] };
      },
    });
    expect(calls).toHaveLength(6);
  });
});

describe('sendLine', () => {
  it('the workflow sendLine sends the outstanding deliveries to one destination, and then those stored meanwhile', async () => {
    const [sending, told] = [gate(), gate()];
    let sent = 0;
    await tell(
      sendLine,
      [{ orgId: 'org_1', line: 'dlv_1' }],
      {
        sendSome: async (): Promise<LineLeft> => {
          sent += 1;
          if (sent === 1) {
            sending.open();
            await told.passed;
          }
          return { kind: 'done' };
        },
      },
      async (handle) => {
        await sending.passed;
        await handle.signal(lineNews);
        told.open();
      },
    );
    expect(sent).toBe(2);
  });
});
