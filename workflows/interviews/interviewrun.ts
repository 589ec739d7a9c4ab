/**
 * One run of an interview's workflow: its state, the signals that are not handled yet, and how it waits. Only the
 * functions here change the state. Each status change follows the table in models/rules/interviews/interview.ts, is
 * shown to operators, and is stored in the record; the writes run one after the other. The functions in interviewbot.ts
 * and interviewresults.ts get the run as an argument.
 */
import { condition, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { show as showOperators } from '../base/board.ts';
import { throughOutages } from '../base/options.ts';
import { refusal } from '../base/refusal.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import type { InvitationActivities } from '../../activities/interviews/invitation.ts';
import type { BotReason } from '../../models/rules/interviews/bot.ts';
import {
  isAhead,
  next,
  refusalOf,
  type InterviewState,
  type Move,
  type Operation,
} from '../../models/rules/interviews/interview.ts';
import { defined } from '../../models/rules/base/defined.ts';

const { inviteCandidate } = proxyActivities<InvitationActivities>({
  ...throughOutages,
  // The activity reads and writes a few records in MongoDB.
  startToCloseTimeout: '1 minute',
});

/** Each activity is one read or one write of MongoDB. */
const recordAccess = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
} as const;
const { loadInterview, storeInterview } = proxyLocalActivities<InterviewActivities>(recordAccess);
/**
 * The same activities, as normal activities instead of local ones. A normal activity is scheduled only after Temporal
 * has stored that the update was accepted. So an update that is lost with its worker has not changed the record.
 */
const accepted = proxyActivities<InterviewActivities>(recordAccess);

type Unstored = { state: InterviewState; moves: readonly Move[] };

const rejoin = (path: string): string =>
  `The organizer asks the people to join. If the bot is missing in the call, \`POST ${path}/rejoin\` sends another one.`;

export type Run = ReturnType<typeof openRun>;

export const now = (): number => Date.now();
export const iso = (): string => new Date().toISOString();
/** The time of a stored moment in ms since 1970. Without a moment, the current time. */
export const since = (moment: string | undefined): number => (moment === undefined ? now() : Date.parse(moment));

/** `carried`: the state of the previous run; without it, the state is read from the record. */
export function openRun(ref: { orgId: string; interviewId: string }, carried: InterviewState | undefined) {
  let known = carried;
  let removed = false;
  const unstored: Move[] = [];
  let writing: Promise<void> = Promise.resolve();
  let last: Move | undefined;
  const heard = {
    /** The number of reports that the bot's service has sent. */
    reports: 0,
    /** The value of `reports` when the bot was checked last. */
    looked: 0,
    /** How often the configuration was read. */
    reloads: 0,
    /** The number of changes of the configuration that are not read yet. */
    unread: 0,
    /** The number of signals about the room that are not handled yet. */
    room: 0,
  };
  const work = {
    /** Resolves when all summaries that were started are done. */
    evaluating: Promise.resolve(),
    /** Resolves when all mails to the candidate are queued. */
    inviting: Promise.resolve(),
    scoring: false,
    /** One promise for each bot that is being dismissed. */
    dismissals: [] as Promise<void>[],
  };

  const state = (): InterviewState => known!;
  /** Changes fields of the state. To change the status, call `move`. */
  const note = (change: Partial<InterviewState>): void => void (known = { ...state(), ...change });
  const forget = (...names: (keyof InterviewState)[]): void => {
    const rest: Partial<InterviewState> = { ...state() };
    for (const name of names) delete rest[name];
    known = rest as InterviewState;
  };

  /** Shows operators the state. `isPending`: whether the workflow waits for people or a report, without a timer. */
  function show(isPending = false): void {
    const { status: stored, bot, failure, scheduledAt } = state();
    // Operators search for interviews that nobody joined by the status `no_show`. In the record, the status of this
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
   * Stores the state and the new status changes. `asked`: true within an update. Then a normal activity stores the
   * state (see `accepted`), because Temporal may not have stored yet that the update was accepted.
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
   * Reads the configuration from the record; the first call also reads the state. Returns whether a time is set for the
   * interview.
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
    // The failure `late` belongs to an earlier `dueAt`, because a member has set another time since.
    if (state().failure === ('late' satisfies BotReason) && state().dueAt !== state().startedFor) {
      forget('failure');
      await store({ asked: true });
    }
    return record.scheduled === true;
  }

  /**
   * Waits for an update, a signal or the time `at` (ms since 1970, or infinite); returns false when the time has come.
   * `reports`: the number of reports that are known already.
   */
  async function until(at: number, timer: string, reports = heard.reports): Promise<boolean> {
    const { seq, rejoin } = state();
    const { reloads } = heard;
    const news = () =>
      removed ||
      state().seq !== seq ||
      heard.reports !== reports ||
      heard.reloads !== reloads ||
      heard.unread > 0 ||
      heard.room > 0 ||
      state().rejoin !== rejoin;
    show(!Number.isFinite(at));
    if (!Number.isFinite(at)) return condition(news).then(() => true);
    const left = at - now();
    return left <= 0 ? news() : condition(news, left, { summary: timer });
  }

  return {
    ref,
    heard,
    work,
    until,
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
     * The state and the status changes that are not stored yet. The caller stores them itself, and then marks them as
     * stored with `confirm`.
     */
    unstored: (): Unstored => ({ state: state(), moves: [...unstored] }),
    confirm,
  };
}

const describe = ({ from, to, operation, actor, cause, at }: Move): string =>
  `${from} → ${to} by \`${operation}\` of ${actor}${cause === undefined ? '' : ` (${cause})`} at ${at}`;

/**
 * Queues a mail that tells the candidate the current time and place, in the background. Interviews without `invites` in
 * their state send no such mails.
 */
export function invite({ ref, state, work }: Run): void {
  if (state().invites) work.inviting = work.inviting.then(() => inviteCandidate(ref));
}

/** Reads the configuration that a member has changed. A draft that gets a time becomes scheduled. */
export async function reload(run: Run, actor: string): Promise<void> {
  const scheduled = await run.load();
  if (run.isRemoved()) return;
  run.heard.reloads += 1;
  if (scheduled && run.state().status === 'draft') {
    run.move('schedule', actor);
    await run.store({ asked: true });
  }
  invite(run);
}
