/** The bot of an interview: it is sent into the call or the room, followed while the interview runs, and dismissed. */
import { isCancellation, proxyActivities, sleep } from '@temporalio/workflow';
import { iso, now, since, type Run } from './interviewrun.ts';
import { show } from '../base/board.ts';
import { throughOutages } from '../base/options.ts';
import type { InterviewActivities } from '../../activities/interviews/interview.ts';
import { isIn, isOver, type BotReason, type BotState } from '../../models/rules/interviews/bot.ts';
import { interviewTimes, lookPause, next, rejoinPause } from '../../models/rules/interviews/interview.ts';

const { deployBot, eraseRecordings } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // A service answers within seconds, or it is down.
  startToCloseTimeout: '2 minutes',
});
const { lookAtBot } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  startToCloseTimeout: '2 minutes',
  // A service may refuse every request for the bot's state, for example after its key was revoked. While the activity
  // is retried, the workflow notices no time limit of the interview, so the activity gives up soon.
  scheduleToCloseTimeout: '5 minutes',
});
const { readRoom } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  // The activity reads one record from MongoDB.
  startToCloseTimeout: '10 seconds',
});
const { dismissBot } = proxyActivities<InterviewActivities>({
  ...throughOutages,
  startToCloseTimeout: '2 minutes',
  // After a day, every call has ended and the bot has left by itself.
  scheduleToCloseTimeout: '1 day',
});

/**
 * Waits for the time at which the interview starts automatically, if there is one, and starts it then. If that time is
 * long past, for example after an outage, nobody waits in the call any more, and a start would end as a no-show. So the
 * interview stays `scheduled`, and a member starts it or sets another time.
 */
export async function wait(run: Run): Promise<void> {
  const { status, dueAt, startedFor } = run.state();
  const due = status === 'scheduled' && dueAt !== undefined && dueAt !== startedFor ? Date.parse(dueAt) : Infinity;
  if (await run.until(due, 'the time of its start')) return;
  run.note({ startedFor: dueAt! });
  if (now() - due > interviewTimes.joinWindow) run.note({ failure: 'late' satisfies BotReason });
  else begin(run, 'clock');
  await run.store();
}

export function begin(run: Run, actor: string): void {
  if (run.state().status === 'draft') run.move('schedule', actor);
  run.move('start', actor);
  run.note({ joiningSince: iso(), attempts: 0 });
  run.forget('failure', 'bot', 'botSince', 'former', 'waitingSince', 'joinedAt', 'rejoin');
}

/**
 * Makes the status changes that people in the room have requested and that are still missing. They may be missing
 * because the process that got the request died before it sent an update.
 */
export async function heedRoom(run: Run): Promise<void> {
  for (const { operation, actor, cause } of await readRoom(run.ref)) {
    if (run.isRemoved() || next(run.state().status, operation) === undefined) continue;
    run.move(operation, actor, cause);
    if (operation === 'join') run.note({ joinedAt: iso(), looks: 0 });
    await run.store();
  }
}

/** When to check a bot although no report has arrived, in ms since 1970. The bot of a room is never checked. */
function nextLook({ state }: Run): number {
  const { bot, looks } = state();
  return bot === undefined || bot.kind === 'room' ? Infinity : now() + lookPause(looks);
}

/**
 * The state of the bot. Undefined for the bot of a room, when the service does not answer, and when the status or the
 * bot has changed meanwhile.
 */
async function look({ state, note, heard }: Run): Promise<BotState | undefined> {
  const { bot, status } = state();
  heard.looked = heard.reports;
  if (bot === undefined || bot.kind === 'room') return undefined;
  note({ looks: state().looks + 1 });
  try {
    const seen = await lookAtBot({ bot });
    return state().status === status && state().bot?.id === bot.id ? seen : undefined;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return undefined;
  }
}

/** Sends a bot into the call, or opens the room. Returns false when the service refuses or the interview is gone. */
async function send({ ref, state, note, forget, store, unstored, confirm }: Run): Promise<boolean> {
  const { sent, orders } = state();
  note({ orders: orders + 1 });
  const said = unstored();
  const deployed = await deployBot({ ...ref, bot: sent + 1, order: orders + 1, said });
  confirm(said.moves);
  if ('bot' in deployed) {
    note({ bot: deployed.bot, sent: sent + 1, waitingSince: iso(), botSince: iso(), looks: 0 });
    forget('rejoin', 'failure');
  } else {
    note({ failure: deployed.refused });
  }
  await store();
  return 'bot' in deployed;
}

/** Brings the bot into the call, and waits for people to join. */
export async function join(run: Run): Promise<void> {
  const { state, heard, isRemoved } = run;
  const giveUp = since(state().joiningSince) + interviewTimes.joinWindow;
  if (state().bot === undefined) {
    if (!(await send(run)) && state().status === 'bot_deployed') await pause(run, giveUp);
    return;
  }
  const noShow = since(state().waitingSince) + interviewTimes.noShow;
  // `seen` is the count of reports when the last check of the bot began. So a report that arrived during that check
  // still counts as news, and `until` returns at once.
  const seen = heard.looked;
  const isNews = await run.until(Math.min(noShow, nextLook(run)), 'people to join', seen);
  if (state().status !== 'bot_deployed' || isRemoved()) return;
  run.forget('rejoin');
  if (!isNews && now() >= noShow) return giveUpOnPeople(run, giveUp);
  if (isNews && heard.reports === seen && state().bot?.kind === 'room') return;
  await judge(run, await look(run), giveUp);
}

/**
 * Ends the interview as a no-show, because nobody has joined in time. Before that, the room is read or the bot is
 * checked once more, because a signal may be missing after an outage. A bot whose service does not answer may be in the
 * call with people. So the bot is checked again for up to `interviewTimes.maximumLength`. After that, the bot counts as
 * failed.
 */
async function giveUpOnPeople(run: Run, giveUp: number): Promise<void> {
  if (run.state().bot?.kind === 'room') await heedRoom(run);
  const met = await look(run);
  if (run.state().status !== 'bot_deployed' || run.isRemoved()) return;
  if (met && isIn(met)) return judge(run, met, giveUp);
  const { bot, waitingSince } = run.state();
  if (!met && bot?.kind !== 'room') {
    const lost = since(waitingSince) + interviewTimes.maximumLength;
    if (now() < lost)
      return void (await run.until(Math.min(lost, nextLook(run)), 'the next look at the bot', run.heard.looked));
    run.work.dismissals.push(dismiss(run));
    return judge(run, { phase: 'failed', reason: 'service' }, giveUp);
  }
  run.move('no_show', 'clock', 'candidate_no_show');
  return run.store();
}

/** Acts on the state of a bot that was sent into the call while the interview waits for people. */
async function judge(run: Run, seen: BotState | undefined, giveUp: number): Promise<void> {
  if (!seen) return;
  if (isIn(seen)) {
    run.move('join', 'bot');
    run.note({ joinedAt: iso(), botSince: iso(), looks: 0 });
    return run.store();
  }
  if (!isOver(seen)) return;
  if (seen.reason === 'nobody_came') {
    run.move('no_show', 'bot', 'candidate_no_show');
    return run.store();
  }
  run.note({ failure: seen.reason ?? 'unknown' });
  run.forget('bot', 'waitingSince');
  await run.store();
  await pause(run, giveUp);
}

/**
 * Counts a failed attempt to join, and waits until the next attempt is due. Ends all attempts at the time `giveUp`, in
 * ms since 1970.
 */
async function pause(run: Run, giveUp: number): Promise<void> {
  const { state, note } = run;
  note({ attempts: state().attempts + 1 });
  await run.until(Math.min(giveUp, now() + rejoinPause(state().attempts)), 'the next attempt to join');
  if (state().status !== 'bot_deployed' || run.isRemoved()) return;
  run.forget('rejoin');
  if (now() < giveUp) return;
  run.move('join_failed', 'clock', state().failure ?? 'unknown');
  // If the scheduled start has passed, `startedFor` records it, so that the clock does not start the interview again. A
  // member decides what happens next.
  const { dueAt } = state();
  if (dueAt !== undefined && Date.parse(dueAt) <= now()) note({ startedFor: dueAt });
  run.forget('joiningSince');
  await run.store();
}

/** Follows the bot of a running interview until the interview ends. */
export async function follow(run: Run): Promise<void> {
  const { state, heard, forget } = run;
  const longest = since(state().joinedAt) + interviewTimes.maximumLength;
  if (state().bot === undefined && state().rejoin) {
    forget('rejoin');
    await send(run);
    return;
  }
  const timer = 'the call to end';
  const isNews = await run.until(Math.min(longest, nextLook(run)), timer, heard.looked);
  if (state().status !== 'in_progress' || run.isRemoved()) return;
  if (!isNews && now() >= longest) {
    run.move('end', 'clock', 'maximum_length');
    return run.store();
  }
  const seen = await look(run);
  const { bot } = state();
  // A bot that has not left needs no replacement, so the request for one (`rejoin`) is dropped. While the bot's service
  // does not answer, the request is kept.
  if (bot !== undefined && (seen ? !isOver(seen) : bot.kind === 'room')) forget('rejoin');
  if (seen && isOver(seen)) await left(run, seen);
}

/** Acts on a bot that has left the call: nobody came, the bot was lost, or the interview has ended. */
async function left({ state, note, forget, move, store }: Run, { phase, reason }: BotState): Promise<void> {
  // If an earlier bot was in the call, people have talked there, so the interview is not a no-show.
  if (reason === 'nobody_came' && !state().former?.length) move('no_show', 'bot', 'candidate_no_show');
  else if (phase === 'failed' || reason === 'removed') {
    // The bot was lost. A member can send another one or end the interview.
    const { bot, former = [], botSince } = state();
    const lost = bot ? [{ ...bot, since: botSince ?? iso() }] : [];
    note({ failure: reason ?? ('unknown' satisfies BotReason), former: [...former, ...lost] });
    forget('bot', 'botSince');
  } else move('end', 'bot', reason ?? 'ended');
  await store();
}

/**
 * The pauses between attempts to delete recordings. A bot's recordings can be deleted only after it has ended: bots
 * leave within seconds, and their service transcribes within minutes.
 */
const erasurePauses = ['5 seconds', '30 seconds', '5 minutes'] as const;

/** Has the bots' service delete the recordings of a deleted interview, with retries until it succeeds. */
export async function eraseRecorded({ ref, state, isKnown }: Run): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    if (await eraseRecordings({ ...ref, ...(isKnown() ? { known: state() } : {}) })) return;
    show({ failed: "the bots' service has not deleted the recordings yet" });
    await sleep(erasurePauses[looks] ?? '1 hour', { summary: "the next question to the bots' service" });
  }
}

export async function dismiss({ state }: Run): Promise<void> {
  const { bot } = state();
  if (bot === undefined || bot.kind === 'room') return;
  // If the service cannot be reached for a day, its own time limits end the bot.
  await dismissBot({ bot }).catch(() => undefined);
}
