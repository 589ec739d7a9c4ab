import { workOf } from '../base/work.ts';

/** The signal that the owner has deleted the meeting. */
export const removeMeetingSignal = 'remove';

/**
 * The workflow that removes a meeting when its retention period ends. `removed`: whether to signal the workflow to
 * remove the meeting at once.
 */
export const meetingWork = (
  { _id, org_id, expires_at }: { _id: string; org_id: string; expires_at: Date },
  { removed = false } = {},
) =>
  workOf(
    'meeting',
    'interviews',
    `meeting:${_id}`,
    [{ owner: org_id, meetingId: _id, expiresAt: expires_at.toISOString() }],
    removed ? removeMeetingSignal : undefined,
  );

export const interviewSignals = {
  /**
   * A member changed the interview's settings. The member's request does not wait until the workflow has read the
   * change.
   */
  changed: 'changed',
  /** The bot's service has reported an event of the bot. */
  reported: 'reported',
  /** A person in the room gave or refused consent, or ended the interview. The workflow reads the room's record. */
  room: 'room',
  /** A member deleted the interview. */
  remove: 'remove',
} as const;

export const interviewWorkflowId = (interviewId: string): string => `interview:${interviewId}`;

/**
 * The workflow that owns an interview's state. `signal`: the signal to send; it starts the workflow when the workflow
 * is not running.
 */
export const interviewWork = (orgId: string, interviewId: string, signal?: keyof typeof interviewSignals) =>
  workOf('interview', 'interviews', interviewWorkflowId(interviewId), [{ orgId, interviewId }], signal);
