/**
 * What the workflow of an interview knows, and the only way to change it: each move is one of the table, is shown to operators,
 * and is stored with the record, one write after the other.
 */
import { proxyActivities, proxyLocalActivities, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../attributes.ts';
import { refusal } from '../base/refusal.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import {
  isAhead,
  next,
  refusalOf,
  type InterviewState,
  type InterviewStatus,
  type Move,
  type Operation,
} from '../../models/rules/interviews/interview.ts';

/** A read or a write of MongoDB each. */
const { loadInterview, storeInterview } = proxyLocalActivities<InterviewActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/**
 * The same as an activity of its own: it is scheduled when Temporal has stored that the update was accepted. An update that is
 * lost with its worker must not have changed the record.
 */
const accepted = proxyActivities<InterviewActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

type Unstored = { state: InterviewState; moves: readonly Move[] };
export type Timer = { what: string; at: number };

/** `carried`: what the run before knew; without it, the record is read first. */
export function openLedger(ref: { orgId: string; interviewId: string }, carried: InterviewState | undefined) {
  let known = carried;
  let removed = false;
  const unstored: Move[] = [];
  let writing: Promise<void> = Promise.resolve();
  let last: Move | undefined;
  let shown: InterviewStatus | undefined;

  const state = (): InterviewState => known!;
  /** Changes what is known besides the status. */
  const note = (change: Partial<InterviewState>): void => void (known = { ...state(), ...change });
  const forget = (...names: (keyof InterviewState)[]): void => {
    const rest: Partial<InterviewState> = { ...state() };
    for (const name of names) delete rest[name];
    known = rest as InterviewState;
  };

  /** What operators see in the Temporal UI. */
  function show(timer?: Timer): void {
    const { status, bot, failure, scheduledAt } = state();
    if (status !== shown) upsertSearchAttributes([{ key: searchAttributes.status, value: status }]);
    shown = status;
    const rows = [
      `**${status}**`,
      ...(scheduledAt === undefined || !isAhead(status) ? [] : [`Scheduled for ${scheduledAt}.`]),
      timer ? `Next timer: ${timer.what} at ${new Date(timer.at).toISOString()}` : 'No timer.',
      ...(last ? [`Last move: ${describe(last)}`] : []),
      ...(bot ? [`Bot: ${bot.kind} \`${bot.id}\``] : []),
      ...(failure === undefined ? [] : [`Failure: ${failure}`]),
    ];
    setCurrentDetails(rows.join('\n\n'));
  }

  /** Refuses what the state does not allow. */
  function check(operation: Operation): void {
    const { status } = state();
    if (next(status, operation) !== undefined) return;
    const { message, transition } = refusalOf(status, operation);
    throw refusal(message, transition);
  }

  /** Makes a move that `check` allows. Nothing else changes the status. */
  function move(operation: Operation, actor: string, cause?: string): void {
    check(operation);
    const { status: from, seq } = state();
    const to = next(from, operation)!;
    const at = new Date().toISOString();
    last = { seq: seq + 1, from, to, operation, actor, at, ...(cause === undefined ? {} : { cause }) };
    unstored.push(last);
    note({ status: to, seq: seq + 1 });
    show();
  }

  /** Stores the state and the moves since the last time. `asked`: in an update, which may not be accepted for good yet. */
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

  /** Notes that moves are stored. */
  function confirm(moves: readonly Move[]): void {
    const last = moves.at(-1)?.seq ?? 0;
    while (unstored[0] && unstored[0].seq <= last) unstored.shift();
  }

  /** Reads the record: its state, the first time, and what a member configured. True when it has a time. */
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
    /** Whether the state is known; nothing is decided before. */
    isKnown: () => known !== undefined,
    isRemoved: () => removed,
    remove: () => void (removed = true),
    /** Resolves when everything is stored. */
    stored: () => writing,
    /** What is to be stored now, for whoever does it besides; `confirm` notes that it is done. */
    unstored: (): Unstored => ({ state: state(), moves: [...unstored] }),
    confirm,
  };
}

const describe = ({ from, to, operation, actor, cause, at }: Move): string =>
  `${from} → ${to} by \`${operation}\` of ${actor}${cause === undefined ? '' : ` (${cause})`} at ${at}`;
