/**
 * The state of an interview's workflow, and the only functions that change it. Each status change follows the table in
 * models/rules/interviews/interview.ts, is shown to operators, and is stored in the record. The writes run one after
 * the other.
 */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { show as showOperators } from '../base/board.ts';
import { refusal } from '../base/refusal.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import {
  isAhead,
  next,
  refusalOf,
  type InterviewState,
  type Move,
  type Operation,
} from '../../models/rules/interviews/interview.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** Each of these activities is one read or one write of MongoDB. */
const { loadInterview, storeInterview } = proxyLocalActivities<InterviewActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/**
 * The same activities, as normal ones instead of local ones. A normal activity is scheduled only after Temporal has
 * stored that the update was accepted, so an update that is lost with its worker has not changed the record.
 */
const accepted = proxyActivities<InterviewActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

type Unstored = { state: InterviewState; moves: readonly Move[] };

const rejoin = (path: string): string =>
  `The organizer asks the people to join. If the bot is missing in the call, \`POST ${path}/rejoin\` sends another one.`;

/** `carried`: the state of the previous run; without it, the state is read from the record. */
export function openLedger(ref: { orgId: string; interviewId: string }, carried: InterviewState | undefined) {
  let known = carried;
  let removed = false;
  const unstored: Move[] = [];
  let writing: Promise<void> = Promise.resolve();
  let last: Move | undefined;

  const state = (): InterviewState => known!;
  /** Changes fields of the state. Only `move` changes the status with it. */
  const note = (change: Partial<InterviewState>): void => void (known = { ...state(), ...change });
  const forget = (...names: (keyof InterviewState)[]): void => {
    const rest: Partial<InterviewState> = { ...state() };
    for (const name of names) delete rest[name];
    known = rest as InterviewState;
  };

  /** Shows operators the state. `isPending`: whether the workflow waits for people or a report, without a timer. */
  function show(isPending = false): void {
    const { status: stored, bot, failure, scheduledAt } = state();
    // Operators search for interviews that nobody joined by the status `no_show`. In the record, the status of such an
    // interview is `cancelled`.
    const status = last?.operation === 'no_show' ? 'no_show' : stored;
    const rows = [
      ...(scheduledAt === undefined || !isAhead(stored) ? [] : [`Scheduled for ${scheduledAt}.`]),
      ...(last ? [`Last move: ${describe(last)}`] : []),
      ...(bot ? [`Bot: ${bot.kind} \`${bot.id}\``] : []),
    ];
    showOperators({
      status,
      failed: failure,
      waitsFor: isPending ? 'a person, or a report of the bot' : undefined,
      more: rows.length > 0 ? rows.join('\n\n') : undefined,
      ...(bot ? { providers: [bot.kind] } : {}),
      can: status === 'bot_deployed' ? [rejoin(`/v1/orgs/${ref.orgId}/interviews/${ref.interviewId}`)] : [],
    });
  }

  /** Refuses an operation that the status does not allow. */
  function check(operation: Operation): void {
    const { status } = state();
    if (next(status, operation) !== undefined) return;
    const { message, transition } = refusalOf(status, operation);
    throw refusal(message, transition);
  }

  /** Makes a status change. No other function changes the status. */
  function move(operation: Operation, actor: string, cause?: string): void {
    check(operation);
    const { status: from, seq } = state();
    const to = next(from, operation)!;
    const at = new Date().toISOString();
    last = { seq: seq + 1, from, to, operation, actor, at, ...defined({ cause }) };
    unstored.push(last);
    note({ status: to, seq: seq + 1 });
    show();
  }

  /**
   * Stores the state and the new status changes. `asked`: true within an update. Then a normal activity stores (see
   * `accepted`), because Temporal may not have stored yet that the update was accepted.
   */
  async function store({ asked = false } = {}): Promise<void> {
    const before = writing;
    const put = asked ? accepted.storeInterview : storeInterview;
    const write = async () => {
      await before;
      const moves = [...unstored];
      if (!(await put({ ...ref, state: state(), moves }))) removed = true;
      confirm(moves);
    };
    writing = write();
    return writing;
  }

  /** Marks status changes as stored. */
  function confirm(moves: readonly Move[]): void {
    const last = moves.at(-1)?.seq ?? 0;
    while (unstored[0] && unstored[0].seq <= last) unstored.shift();
  }

  /**
   * Reads the configuration from the record; the first call also reads the state. Returns whether the interview has a
   * time.
   */
  async function load(): Promise<boolean> {
    const record = await loadInterview(ref);
    if (!record) {
      removed = true;
      return false;
    }
    known ??= record.state;
    if (record.dueAt === undefined) forget('dueAt');
    else note({ dueAt: record.dueAt });
    if (record.scheduledAt === undefined) forget('scheduledAt');
    else note({ scheduledAt: record.scheduledAt });
    if (record.invites) note({ invites: true });
    return record.scheduled === true;
  }

  return {
    state,
    note,
    forget,
    show,
    check,
    move,
    store,
    load,
    /** Whether the state is loaded. The workflow decides nothing before that. */
    isKnown: () => known !== undefined,
    isRemoved: () => removed,
    remove: () => void (removed = true),
    /** Resolves when all writes so far are done. */
    stored: () => writing,
    /**
     * The state and the status changes that are not stored yet, for a caller that stores them too; `confirm` marks them
     * as stored.
     */
    unstored: (): Unstored => ({ state: state(), moves: [...unstored] }),
    confirm,
  };
}

const describe = ({ from, to, operation, actor, cause, at }: Move): string =>
  `${from} → ${to} by \`${operation}\` of ${actor}${cause === undefined ? '' : ` (${cause})`} at ${at}`;
