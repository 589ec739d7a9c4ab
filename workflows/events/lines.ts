/**
 * Sends lines of deliveries. A line holds deliveries that must be sent in order, such as those of a ticket to one
 * destination. Different lines are sent in parallel. Waits between attempts are timers in the workflow; the deliveries
 * and their due times are in MongoDB. Operators see each line that waits.
 */
import { condition, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/common';
import { show } from '../base/board.ts';
import { throughOutages } from '../base/options.ts';
import { queueBeside, queues } from '../../models/rules/base/work.ts';
import type { DeliveryActivities, LineLeft, Shown } from '../../activities/events/deliver.ts';
import { tryNowSignal } from '../../models/rules/chat/work.ts';

const sending = {
  ...throughOutages,
  // An attempt takes at most 30 s, and an activity starts no further attempt after half a minute.
  startToCloseTimeout: '3 minutes',
} as const;

export const { sendEvents, sendSome } = proxyActivities<DeliveryActivities>(sending);

/** The activity `sendSome` on the queue for slow destinations. */
const sendSlowly = (): DeliveryActivities['sendSome'] =>
  proxyActivities<DeliveryActivities>({
    ...sending,
    // Many attempts at slow destinations wait for 15 s in parallel. A heartbeat per second from each would be as much
    // work for Temporal as all other deliveries. With this timeout heartbeats are rarer, and the death of a worker is
    // noticed later.
    heartbeatTimeout: '40 seconds',
    taskQueue: queueBeside(workflowInfo().taskQueue, queues.deliveries, queues.slowdeliveries),
  }).sendSome;

/** The signal to make the next attempt of every waiting line immediately. */
export const tryNow = defineSignal(tryNowSignal);

function carryLines(orgId: string) {
  /**
   * The lines that are being sent, by name. `again`: whether a delivery was stored for the line while an activity was
   * sending the line.
   */
  const lines = new Map<string, { again: boolean }>();
  const waits = new Map<string, Shown>();
  const failures = new Set<string>();
  let nudges = 0;
  /** The value of `nudges` (the number of signals `tryNow`) when the last `look` began. */
  let nudgesBefore = 0;
  let stopping = false;
  /** Whether a signal `tryNow` arrived while this run was stopping, so that the next run makes the attempts. */
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
        // A signal `tryNow` that arrived during the last attempt requests another attempt at once, without a wait.
        if (nudges === before) {
          before = nudges;
          await condition(() => nudges !== before || stopping, left.waitMs, { summary: 'the next attempt' });
        }
        if (stopping && nudges !== before) urgent = true;
      }
      if (stopping || (left.kind === 'done' && !state.again)) break;
      // The next activity finds all deliveries that were stored up to now, so the line need not be sent once more for
      // them.
      state.again = false;
      before = nudges;
      const slow = left.kind !== 'done' && left.slow;
      left = await (slow ? sendSlowly() : sendSome)({ orgId, line });
    }
    lines.delete(line);
  }

  /**
   * Shows the waiting lines to operators. While all deliveries succeed, the status is left alone, because each change
   * of it costs a Temporal action.
   */
  function note(line: string, left: LineLeft): void {
    if (left.kind === 'done' && left.failed !== undefined) failures.add(left.failed);
    if (left.kind === 'waiting' && left.shown) waits.set(line, left.shown);
    else waits.delete(line);
    if (waits.size === 0 && !wasShown) return;
    wasShown = true;
    show({ ...(waits.size > 0 ? { status: 'retrying' } : {}), ...describe(orgId, [...waits.values()], failures) });
  }

  return {
    /** Remembers the number of signals `tryNow` so far. The caller must call it before each `look`. */
    looks: (): void => void (nudgesBefore = nudges),
    names: (): string[] => [...lines.keys()],
    /** Starts sending a line. A line that is being sent already is sent once more afterwards, for new deliveries. */
    take(line: string, left: LineLeft): void {
      const state = lines.get(line);
      if (state) state.again = true;
      else
        carry(line, left).catch((error: unknown) => {
          broken = error;
          lines.delete(line);
        });
    },
    /** Records a delivery that `look` itself tried to send and that was given up. */
    failed: (deliveryId: string): void => void failures.add(deliveryId),
    nudge(): void {
      nudges += 1;
      if (stopping) urgent = true;
    },
    /** Whether no line is being sent. @throws the error that ended the sending of a line. */
    idle(): boolean {
      if (broken !== undefined) throw broken;
      return lines.size === 0;
    },
    /**
     * Lets activities finish and aborts the waits, so that the workflow can continue as new. Returns whether attempts
     * were requested that this run did not make.
     */
    async stop(): Promise<boolean> {
      stopping = true;
      await condition(() => lines.size === 0);
      return urgent;
    },
    /** Shows operators the final state. */
    end(): void {
      if (failures.size === 0 && !wasShown) return;
      show({ status: failures.size > 0 ? 'failed' : 'delivered', ...describe(orgId, [], failures) });
    },
  };
}

type Carried = ReturnType<typeof carryLines>;

/**
 * Sends lines until none is left. `look` finds the lines to send: at the start, at each signal `news`, and when
 * operators request the next attempts. `again` continues a long run as new; its `urgent` tells the new run to make the
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

const redeliver = 'Deliveries of a stopped line stay recorded, and can be redelivered (docs/deliveries.md).';

const answerOf = ({ status }: Shown): string => (status === undefined ? 'no answer' : `answered ${status}`);

/** A sentence that says who must repair a destination that does not accept deliveries. */
function mendOf(wait: Shown): string {
  const { kind, status } = wait;
  if (kind === 'webhook') return `Tell the organization, which mends its receiver: ${answerOf(wait)}.`;
  if (kind === 'email' || kind === 'notification')
    return `The mail server has not taken it (${answerOf(wait)}); its log says why, and \`npm run doctor\` names it. Where the organization has a mail server of its own, it mends that.`;
  return status === 401 || status === 403
    ? `An admin of the organization connects ${kind} again. What waits then goes on by itself.`
    : `Wait until ${kind} takes requests again (${answerOf(wait)}). What waits then goes on by itself.`;
}

/**
 * The details of the waiting lines and the failures for operators. Operators read addresses and receivers' replies in
 * the API, because these may contain names, which Temporal must not store.
 */
function describe(orgId: string, waits: readonly Shown[], failures: ReadonlySet<string>): Parameters<typeof show>[0] {
  const deliveries = `/v1/support/outbox/orgs/${orgId}`;
  const id = waits[0]?.deliveryId ?? [...failures].at(-1);
  const where = `Where it goes and what the receiver said, for a member of the organization: \`GET ${deliveries}/deliveries/${id}\`.`;
  const rows = waits.map(
    (wait) =>
      `| ${wait.deliveryId} | ${wait.kind} | ${wait.event} | ${wait.attempt} of ${wait.attempts} | ${wait.nextAt} | ${answerOf(wait)} |`,
  );
  const failed = [
    ...waits.map((wait) => `${wait.kind}: ${answerOf(wait)}`),
    ...(failures.size > 0 ? [`given up: ${[...failures].join(', ')}`] : []),
  ];
  const heads = [
    '| delivery | kind | event | attempts made | next attempt | last answer |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  const recover = `Once the receiver works again: \`POST ${deliveries}/recover\`.`;
  return {
    providers: [...new Set(waits.map(({ kind }) => kind))],
    failed: failed.join('; ') || undefined,
    can: [
      ...new Set(waits.map(mendOf)),
      ...(id === undefined ? [] : [where]),
      redeliver,
      ...(failures.size > 0 ? [recover] : []),
    ],
    more: rows.length > 0 ? [...heads, ...rows].join('\n') : undefined,
  };
}
