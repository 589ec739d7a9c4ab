/**
 * The state of a bot in a call, and why a bot is not in its call, derived from the status codes of the bot services.
 * Services may add codes at any time, so an unknown status counts as `joining`, and an unknown reason as `unknown`.
 * Pure.
 */

const botPhases = ['scheduled', 'joining', 'waiting', 'in_call', 'recording', 'processing', 'done', 'failed'] as const;
export type BotPhase = (typeof botPhases)[number];

/** Why a bot is not in its call, with a sentence for the members of the organization. */
export const botReasons = {
  not_admitted: 'Nobody let the bot into the call.',
  nobody_came: 'Nobody came to the call.',
  ended: 'The call ended.',
  removed: 'Somebody removed the bot from the call.',
  bad_link: 'The link of the meeting does not lead to a call.',
  needs_settings: 'The meeting does not let bots in; its settings or the account must be changed.',
  no_recording: 'The bot was not allowed to record.',
  service: 'The service that sends bots failed.',
  refused: 'The service that sends bots refused the request.',
  gone: 'The service no longer knows the bot.',
  late: 'It was more than 15 minutes too late for the interview to start by itself.',
  unknown: 'The bot could not stay in the call.',
} as const;
export type BotReason = keyof typeof botReasons;

export type BotState = { phase: BotPhase; reason?: BotReason };

export const isIn = ({ phase }: BotState): boolean => phase === 'in_call' || phase === 'recording';
/** Whether the bot has left the call for good, or could not join. */
export const isOver = ({ phase }: BotState): boolean => ['processing', 'done', 'failed'].includes(phase);

const recallPhases: Readonly<Record<string, BotPhase>> = {
  ready: 'scheduled',
  joining_call: 'joining',
  in_waiting_room: 'waiting',
  in_call_not_recording: 'in_call',
  recording_permission_allowed: 'in_call',
  recording_permission_denied: 'in_call',
  in_call_recording: 'recording',
  call_ended: 'processing',
  recording_done: 'processing',
  done: 'done',
  analysis_done: 'done',
  fatal: 'failed',
};

const attendeePhases: Readonly<Record<string, BotPhase>> = {
  scheduled: 'scheduled',
  staged: 'scheduled',
  ready: 'joining',
  joining: 'joining',
  waiting_room: 'waiting',
  joined_not_recording: 'in_call',
  joined_recording: 'recording',
  joined_recording_paused: 'in_call',
  joined_recording_permission_denied: 'in_call',
  leaving: 'processing',
  post_processing: 'processing',
  ended: 'done',
  data_deleted: 'done',
  fatal_error: 'failed',
};

/** Patterns that map the reason codes of both services to a `BotReason`. The first pattern that matches is used. */
const words: readonly (readonly [RegExp, BotReason])[] = [
  [/noone_joined|meeting_not_started/, 'nobody_came'],
  [/waiting_room|knocking|request_to_join_denied/, 'not_admitted'],
  [/kicked_from_call|removed_from_meeting/, 'removed'],
  [/meeting_(not_found|link_|password|ended)/, 'bad_link'],
  [/requires_|login_required|locked|meeting_full|blocked|not_invited|^zoom_(sdk|local)|captcha/, 'needs_settings'],
  [/permission_denied/, 'no_recording'],
  [/call_ended|everyone_left|only_bots|silence_detected|received_leave|max_length|platform_idle/, 'ended'],
  [
    /failed_to_launch|errored|internal_error|timeout|connection|terminated|not_launched|unable_to_connect|credits/,
    'service',
  ],
];

const reasonOf = (word: string | null | undefined): BotReason | undefined =>
  word ? (words.find(([form]) => form.test(word))?.[1] ?? 'unknown') : undefined;

function stateOf(phase: BotPhase, word: string | null | undefined): BotState {
  const reason = reasonOf(word);
  // A reason is kept only for a bot that is no longer in the call. A failed bot always gets a reason.
  if (!isOver({ phase }) || (reason === undefined && phase !== 'failed')) return { phase };
  return { phase, reason: reason ?? 'unknown' };
}

/** Converts Recall.ai's last status change to a `BotState`. */
export const recallState = (code: string, subCode: string | null | undefined): BotState =>
  stateOf(recallPhases[code] ?? 'joining', subCode);

/** Converts Attendee's state, with the `event_sub_type` of its last event, to a `BotState`. */
export const attendeeState = (state: string, subType: string | null | undefined): BotState =>
  stateOf(attendeePhases[state] ?? 'joining', subType);

export const botName = 'Interview assistant (AI)';

/** Whether a URL may be the URL of an online meeting. */
export function isMeetingUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && url.protocol === 'https:' && url.username === '' && url.password === '' && text.length <= 2_048
  );
}
