/**
 * Lines of deliveries as a workflow carries them: each is sent in order, beside the others. The waits for further attempts are
 * timers here; what is outstanding, and when it is due, is in MongoDB. Operators see each line that waits.
 */
import {
  condition,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/common';
import { searchAttributes } from '../attributes.ts';
import { throughOutages } from '../base/options.ts';
import { queueBeside, queues } from '../../models/rules/base/work.ts';
import type { DeliveryActivities, LineLeft, Shown } from '../../activities/events/deliver.ts';
import { tryNowSignal } from '../../models/rules/chat/work.ts';

const sending = {
  ...throughOutages,
  // An attempt takes 15 s at most, and an activity begins no further one after half a minute.
  startToCloseTimeout: '3 minutes',
} as const;

export const { sendEvents, sendSome } = proxyActivities<DeliveryActivities>(sending);

/** The same where only slow destinations are sent to. */
const sendSlowly = (): DeliveryActivities['sendSome'] =>
  proxyActivities<DeliveryActivities>({
    ...sending,
    // Many of these attempts wait for 15 s at the same time. A heartbeat every second of each would be as much work for
    // Temporal as what is delivered to others; that a worker has died may be noticed later here.
    heartbeatTimeout: '40 seconds',
    taskQueue: queueBeside(workflowInfo().taskQueue, queues.deliveries, queues.slowdeliveries),
  }).sendSome;

/** Makes the next attempt of everything that waits now. */
export const tryNow = defineSignal(tryNowSignal);

function carryLines(orgId: string) {
  /** `again`: something was stored for the line while an activity was at it. */
  const lines = new Map<string, { again: boolean }>();
  const waits = new Map<string, Shown>();
  const failures = new Set<string>();
  let nudges = 0;
  /** How many there were when the last look began. */
  let nudgesBefore = 0;
  let stopping = false;
  /** Asked for while this run stops, so the next one makes the attempts. */
  let urgent = false;
  let wasShown = false;
  let broken: unknown;

  async function carry(line: string, begun: LineLeft): Promise<void> {
    const state = { again: false };
    lines.set(line, state);
    let before = nudgesBefore;
    for (let left = begun; ;) {
      note(line, left);
      if (left.kind === 'waiting') {
        // What was asked for while the last attempt was under way is not over with that one.
        if (nudges === before) {
          before = nudges;
          await condition(() => nudges !== before || stopping, left.waitMs);
        }
        if (stopping && nudges !== before) urgent = true;
      }
      if (stopping || (left.kind === 'done' && !state.again)) break;
      // What was stored up to now, the activity finds.
      state.again = false;
      before = nudges;
      const slow = left.kind !== 'done' && left.slow;
      left = await (slow ? sendSlowly() : sendSome)({ orgId, line });
    }
    lines.delete(line);
  }

  /** Shows what waits. While everything is delivered nothing is shown, since each change of the status is an action. */
  function note(line: string, left: LineLeft): void {
    if (left.kind === 'done' && left.failed !== undefined) failures.add(left.failed);
    const before = waits.size;
    if (left.kind === 'waiting' && left.shown) waits.set(line, left.shown);
    else waits.delete(line);
    if (waits.size === 0 && !wasShown) return;
    setCurrentDetails(describe([...waits.values()], failures));
    if (waits.size > 0 && before === 0) setStatus('retrying');
  }

  function setStatus(status: string): void {
    wasShown = true;
    upsertSearchAttributes([{ key: searchAttributes.status, value: status }]);
  }

  return {
    /** Before each look at what is to be carried. */
    looks: (): void => void (nudgesBefore = nudges),
    names: (): string[] => [...lines.keys()],
    /** Goes on with a line; one that is carried already is looked at once more. */
    take(line: string, left: LineLeft): void {
      const state = lines.get(line);
      if (state) state.again = true;
      else
        carry(line, left).catch((error: unknown) => {
          broken = error;
          lines.delete(line);
        });
    },
    /** A delivery was given up, outside of a line that is carried. */
    failed: (deliveryId: string): void => void failures.add(deliveryId),
    nudge(): void {
      nudges += 1;
      if (stopping) urgent = true;
    },
    /** Nothing is left to carry. @throws what broke a line. */
    idle(): boolean {
      if (broken !== undefined) throw broken;
      return lines.size === 0;
    },
    /**
     * Lets activities end and leaves the waits, for a run that continues as new; returns whether attempts were asked for that
     * this run did not make.
     */
    async stop(): Promise<boolean> {
      stopping = true;
      await condition(() => lines.size === 0);
      return urgent;
    },
    /** The last thing that operators see. */
    end(): void {
      if (failures.size > 0) setCurrentDetails(describe([], failures));
      if (failures.size > 0 || wasShown) setStatus(failures.size > 0 ? 'failed' : 'delivered');
    },
  };
}

type Carried = ReturnType<typeof carryLines>;

/**
 * Carries lines until nothing is left. `look` says what is to be carried: at the beginning, at each signal `news`, and when
 * operators want the next attempts now. `again` continues a long run as a new one, which is told with `urgent` to make the
 * next attempts at once.
 */
export async function carryAll(
  orgId: string,
  news: SignalDefinition,
  look: (carried: Carried) => Promise<void> | void,
  again: (urgent: boolean) => Promise<never>,
  urgent = false,
): Promise<void> {
  const carried = carryLines(orgId);
  let signals = 0;
  setHandler(news, () => void (signals += 1));
  setHandler(tryNow, () => {
    signals += 1;
    carried.nudge();
  });
  const isLong = (): boolean => workflowInfo().continueAsNewSuggested;
  for (let isFirst = true; ; isFirst = false) {
    const seen = signals;
    carried.looks();
    await look(carried);
    if (isFirst && urgent) carried.nudge();
    await condition(() => signals !== seen || carried.idle() || isLong());
    if (isLong()) {
      await again(await carried.stop());
    }
    if (signals === seen && carried.idle()) break;
  }
  carried.end();
}

/** Temporal holds no addresses of people, and no words of receivers, which may name them. */
const where =
  'Where it goes and what the receiver said: `GET /v1/support/outbox/orgs/{orgId}/deliveries/{deliveryId}`.';

/** What operators see in the Temporal UI. */
function describe(waits: readonly Shown[], failures: ReadonlySet<string>): string {
  const table = waits.map(
    ({ deliveryId, kind, event, attempt, attempts, nextAt, status = 'none' }) =>
      `| ${deliveryId} | ${kind} | ${event} | ${attempt} of ${attempts} | ${nextAt} | ${status} |`,
  );
  const given = [...failures].map((deliveryId) => `given up: ${deliveryId}`);
  const parts = [
    ...(table.length > 0
      ? [
          [
            '| delivery | kind | event | attempts made | next attempt | last answer |',
            '| --- | --- | --- | --- | --- | --- |',
            ...table,
          ].join('\n'),
          `${where} To try now, send the signal \`${tryNowSignal}\`, or redeliver the delivery (docs/deliveries.md). To stop, terminate this workflow: its deliveries stay recorded and can be redelivered.`,
        ]
      : []),
    ...(given.length > 0
      ? [
          `${given.join('\n')}\n\n${where} Once the receiver works again: \`POST /v1/support/outbox/orgs/{orgId}/recover\`.`,
        ]
      : []),
  ];
  return parts.join('\n\n');
}
