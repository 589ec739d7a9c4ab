/**
 * An interview, from its draft to its evaluation. This workflow owns its state: every change is an operation of the one table
 * (models/rules/interviews/interview.ts), asked for by an Update, by the clock, or by what a bot reports; the record in
 * MongoDB is its projection. Nothing personal passes through here: only ids, words for causes, and times.
 */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  patched,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { openLedger } from './interviewledger.ts';
import { throughOutages } from './options.ts';
import { refusal } from './refusal.ts';
import type { InterviewActivities } from '../activities/interviews/interview.ts';
import { isIn, isOver, type BotReason, type BotState } from '../models/rules/interviews/bot.ts';
import {
  interviewTimes,
  isFinal,
  lookPause,
  rejoinPause,
  type CalledBot,
  type InterviewState,
  type InterviewStatus,
} from '../models/rules/interviews/interview.ts';

export type InterviewRef = {
  orgId: string;
  interviewId: string;
  /** Of the run before, which continues here. */
  state?: InterviewState;
};
export const interviewWorkflowId = (interviewId: string): string => `interview:${interviewId}`;

/** `actor`: a user's id, `bot` or `candidate`; `cause`: a word such as `consent_refused`. */
export type Order = { actor: string; cause?: string };
/** The number of the move in the interview's history. */
export type Done = { seq: number };

/** What may be asked of an open interview. */
export const interviewUpdates = {
  start: defineUpdate<Done, [Order]>('start'),
  cancel: defineUpdate<Done, [Order]>('cancel'),
  rejoin: defineUpdate<Done, [Order]>('rejoin'),
  join: defineUpdate<Done, [Order]>('join'),
  refuse: defineUpdate<Done, [Order]>('refuse'),
  end: defineUpdate<Done, [Order]>('end'),
  evaluate: defineUpdate<Done, [Order]>('evaluate'),
  score: defineUpdate<Done, [Order]>('score'),
};
export type InterviewCommand = keyof typeof interviewUpdates;
const commands = Object.keys(interviewUpdates) as InterviewCommand[];

/** A member changed the configuration: the record is read again. The signal is for when nobody waits for it. */
export const reloadInterview = defineUpdate<void, [Order]>('reload');
export const interviewChanged = defineSignal('changed');
/** The bot's service has sent news of it. */
export const botReported = defineSignal('reported');
/** A member deleted the interview. */
export const removeInterviewNow = defineSignal('remove');

const { deployBot, lookAtBot, collectTranscript, removeInterview, forgetInterview } =
  proxyActivities<InterviewActivities>({
    ...throughOutages,
    // A service answers within seconds or is away; a transcript of hours is read within a minute.
    startToCloseTimeout: '2 minutes',
  });
const { dismissBot } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  startToCloseTimeout: '2 minutes',
  // By then every call has ended, and its service with it.
  scheduleToCloseTimeout: '1 day',
});
const { summarizeInterview, scoreInterview } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // A model is asked twice at most, and each time for a minute or two.
  startToCloseTimeout: '10 minutes',
});

/** How long the service of a bot may take to write a transcript down; after that there is what there is. */
const transcriptPauses = [5_000, 15_000, 30_000, 60_000, 120_000, 240_000, 480_000, 900_000];

/** Longer than a request lives that stores what was said. */
const untilQuiet = '5 minutes';

export async function interview({ orgId, interviewId, state: carried }: InterviewRef): Promise<InterviewStatus> {
  const ref = { orgId, interviewId };
  const ledger = openLedger(ref, carried);
  const { state, note, forget, check, move, store, isRemoved } = ledger;
  let reports = 0;
  let reloads = 0;
  let unread = 0;
  let scoring = false;
  let evaluating: Promise<void> = Promise.resolve();
  const dismissals: Promise<void>[] = [];

  const now = (): number => Date.now();
  const iso = (): string => new Date().toISOString();
  const since = (moment: string | undefined): number => (moment === undefined ? now() : Date.parse(moment));

  /** Waits until something is asked or reported, or until a moment; false when the moment has come. */
  async function until(at: number, timer?: string): Promise<boolean> {
    const { seq } = state();
    const seen = { reports, reloads, rejoin: state().rejoin };
    const news = () =>
      isRemoved() ||
      state().seq !== seq ||
      reports !== seen.reports ||
      reloads !== seen.reloads ||
      unread > 0 ||
      state().rejoin !== seen.rejoin;
    ledger.show(timer === undefined || !Number.isFinite(at) ? undefined : { what: timer, at });
    if (!Number.isFinite(at)) return condition(news).then(() => true);
    const left = at - now();
    return left <= 0 ? news() : condition(news, left);
  }

  /** Reads what a member has configured; a time makes a draft scheduled. */
  async function reload(actor: string): Promise<void> {
    const scheduled = await ledger.load();
    if (isRemoved()) return;
    reloads += 1;
    if (scheduled && state().status === 'draft') {
      move('schedule', actor);
      await store({ asked: true });
    }
  }

  async function summarize(): Promise<void> {
    const before = evaluating;
    const make = async () => {
      await before;
      await summarizeInterview(ref);
    };
    evaluating = make();
    await evaluating;
  }

  async function score({ actor }: Order): Promise<void> {
    if (scoring) throw refusal('The scores are being made already; they are there in a moment.');
    scoring = true;
    try {
      await condition(() => isRemoved() || state().summarized === true || state().status !== 'evaluating');
      await evaluating;
      check('score');
      const outcome = await scoreInterview(ref);
      // It may have been cancelled meanwhile.
      check('score');
      if (outcome === 'silent') throw refusal('The candidate said nothing, so there is nothing to score.');
      move('score', actor);
    } finally {
      scoring = false;
    }
  }

  async function obey(command: InterviewCommand, order: Order): Promise<Done> {
    await condition(() => isRemoved() || ledger.isKnown());
    if (isRemoved()) throw refusal('The interview is being removed.');
    check(command);
    if (command === 'score') await score(order);
    else if (command === 'start') begin(order.actor);
    else {
      move(command, order.actor, order.cause);
      if (command === 'join') note({ joinedAt: iso(), looks: 0 });
      if (command === 'rejoin') note({ rejoin: true });
    }
    const { seq } = state();
    if (command === 'evaluate') await summarize();
    await store({ asked: true });
    return { seq };
  }

  function begin(actor: string): void {
    if (state().status === 'draft') move('schedule', actor);
    move('start', actor);
    note({ joiningSince: iso(), attempts: 0 });
    forget('failure', 'bot', 'botSince', 'former', 'waitingSince', 'joinedAt', 'rejoin');
  }

  for (const command of commands) {
    setHandler(interviewUpdates[command], (order) => obey(command, order), {
      validator: (_order: Order) => {
        if (ledger.isKnown()) check(command);
      },
    });
  }
  setHandler(reloadInterview, async ({ actor }) => {
    await condition(() => isRemoved() || ledger.isKnown());
    if (!isRemoved()) await reload(actor);
  });
  setHandler(interviewChanged, () => void (unread += 1));
  setHandler(botReported, () => void (reports += 1));
  setHandler(removeInterviewNow, () => ledger.remove());

  if (!ledger.isKnown()) await ledger.load();

  /** Waits for the moment at which the clock starts it, if there is one. */
  async function wait(): Promise<void> {
    const { status, dueAt, startedFor } = state();
    const due = status === 'scheduled' && dueAt !== undefined && dueAt !== startedFor ? Date.parse(dueAt) : Infinity;
    if (await until(due, 'start')) return;
    note({ startedFor: dueAt! });
    begin('clock');
    await store();
  }

  /** When a bot elsewhere is looked after although nothing was heard of it. */
  const nextLook = (): number => {
    const { bot, looks } = state();
    return bot === undefined || bot.kind === 'room' ? Infinity : now() + lookPause(looks);
  };

  async function look(): Promise<BotState | undefined> {
    const { bot, status } = state();
    if (bot === undefined || bot.kind === 'room') return undefined;
    note({ looks: state().looks + 1 });
    const seen = await lookAtBot({ bot });
    return state().status === status && state().bot?.id === bot.id ? seen : undefined;
  }

  /** Sends a bot. True when one was sent. */
  async function send(): Promise<boolean> {
    const { sent, orders } = state();
    note({ orders: orders + 1 });
    const deployed = await deployBot({ ...ref, bot: sent + 1, order: orders + 1 });
    if ('bot' in deployed) {
      note({ bot: deployed.bot, sent: sent + 1, waitingSince: iso(), botSince: iso(), looks: 0 });
      forget('rejoin', 'failure');
    } else {
      note({ failure: deployed.refused });
    }
    await store();
    return 'bot' in deployed;
  }

  /** Tries to bring the bot into the call, and waits there for somebody to come. */
  async function join(): Promise<void> {
    const giveUp = since(state().joiningSince) + interviewTimes.joinWindow;
    if (state().bot === undefined) {
      if (!(await send()) && state().status === 'bot_deployed') await pause(giveUp);
      return;
    }
    const noShow = since(state().waitingSince) + interviewTimes.noShow;
    const seen = reports;
    const heard = await until(Math.min(noShow, nextLook()), 'no-show or a look at the bot');
    if (state().status !== 'bot_deployed' || isRemoved()) return;
    forget('rejoin');
    if (!heard && now() >= noShow) {
      // While no worker was there, somebody may have come and the news of it been lost.
      const met = await look();
      if (state().status !== 'bot_deployed' || isRemoved()) return;
      if (met && isIn(met)) return judge(met, giveUp);
      move('no_show', 'clock', 'candidate_no_show');
      return store();
    }
    if (heard && reports === seen && state().bot?.kind === 'room') return;
    await judge(await look(), giveUp);
  }

  /** What the bot's place means while it is to join. */
  async function judge(seen: BotState | undefined, giveUp: number): Promise<void> {
    if (!seen) return;
    if (isIn(seen)) {
      move('join', 'bot');
      note({ joinedAt: iso(), botSince: iso(), looks: 0 });
      return store();
    }
    if (!isOver(seen)) return;
    if (seen.reason === 'nobody_came') {
      move('no_show', 'bot', 'candidate_no_show');
      return store();
    }
    note({ failure: seen.reason ?? 'unknown' });
    forget('bot', 'waitingSince');
    await store();
    await pause(giveUp);
  }

  /** After a failed attempt: waits a while, or gives up for good. */
  async function pause(giveUp: number): Promise<void> {
    note({ attempts: state().attempts + 1 });
    await until(Math.min(giveUp, now() + rejoinPause(state().attempts)), 'another attempt to join');
    if (state().status !== 'bot_deployed' || isRemoved()) return;
    forget('rejoin');
    if (now() < giveUp) return;
    move('join_failed', 'clock', state().failure ?? 'unknown');
    forget('joiningSince');
    await store();
  }

  /** Follows the interview until it ends. */
  async function follow(): Promise<void> {
    const longest = since(state().joinedAt) + interviewTimes.maximumLength;
    if (state().bot === undefined && state().rejoin) {
      forget('rejoin');
      await send();
      return;
    }
    const heard = await until(Math.min(longest, nextLook()), 'the longest length or a look at the bot');
    if (state().status !== 'in_progress' || isRemoved()) return;
    if (!heard && now() >= longest) {
      move('end', 'clock', 'maximum_length');
      return store();
    }
    const seen = await look();
    // A room, or a bot that is in its place, needs no other.
    if (state().bot !== undefined && !(seen && isOver(seen))) forget('rejoin');
    if (seen && isOver(seen)) await left(seen);
  }

  /** The bot is no longer in the call. */
  async function left({ phase, reason }: BotState): Promise<void> {
    if (reason === 'nobody_came') move('no_show', 'bot', 'candidate_no_show');
    else if (phase === 'failed' || reason === 'removed') {
      // It was lost: a member sends it again, or ends the interview.
      const { bot, former = [], botSince } = state();
      const lost = bot ? [{ ...bot, since: botSince ?? iso() }] : [];
      note({ failure: reason ?? ('unknown' satisfies BotReason), former: [...former, ...lost] });
      forget('bot', 'botSince');
    } else move('end', 'bot', reason ?? 'ended');
    await store();
  }

  /** The transcript and phase 1, once; then everything else is asked for. */
  async function evaluate(): Promise<void> {
    const { bot, botSince, former = [], summarized } = state();
    if (summarized) return void (await until(Infinity));
    dismissals.push(dismiss());
    const last = bot ? [{ ...bot, since: botSince ?? iso() }] : [];
    for (const each of [...former, ...last]) if (each.kind !== 'room') await collect(each);
    if (isRemoved() || state().status !== 'evaluating') return;
    await summarize();
    note({ summarized: true });
    await store();
  }

  /** Takes what a bot has heard, as soon as its service has written it down. */
  async function collect(bot: CalledBot): Promise<void> {
    for (const ms of transcriptPauses) {
      if (await collectTranscript({ ...ref, bot })) return;
      const seen = reports;
      await condition(() => isRemoved() || reports !== seen || state().status !== 'evaluating', ms);
      if (isRemoved() || state().status !== 'evaluating') return;
    }
  }

  async function dismiss(): Promise<void> {
    const { bot } = state();
    if (bot === undefined || bot.kind === 'room') return;
    // After a day the service is not asked any more; it has its own limits.
    await dismissBot({ bot }).catch(() => undefined);
  }

  if (ledger.isKnown()) ledger.show();
  // News of a bot may come after the end; then this is a run of its own, with nothing to do.
  const wasFinal = ledger.isKnown() && isFinal(state().status);
  while (!isRemoved() && !isFinal(state().status)) {
    if (unread > 0) {
      unread = 0;
      await reload('clock');
    }
    if (workflowInfo().continueAsNewSuggested) {
      await Promise.all([store(), evaluating, ...dismissals]);
      await condition(allHandlersFinished);
      // The next run would not know that the record is to be read again.
      const waits = unread > 0 && patched('read-before-renewal');
      if (!isRemoved() && !waits) await continueAsNew<typeof interview>({ ...ref, state: state() });
    }
    const { status } = state();
    if (status === 'bot_deployed') await join();
    else if (status === 'in_progress') await follow();
    else if (status === 'evaluating') await evaluate();
    else await wait();
  }
  if (ledger.isKnown() && !wasFinal && state().status !== 'completed') dismissals.push(dismiss());
  if (isRemoved()) {
    await removeInterview(ref);
    await forgetInterview(ref);
  }
  await condition(allHandlersFinished);
  await Promise.all([ledger.stored(), ...dismissals]);
  if (isRemoved()) {
    await sleep(untilQuiet);
    await removeInterview(ref);
  }
  return ledger.isKnown() ? state().status : 'cancelled';
}
