/** What is started for meetings and interviews. Pure. */
import { workOf } from '../base/work.ts';

/** The owner deleted the meeting. */
export const removeMeetingSignal = 'remove';

/** Keeps a meeting until its day. `removed`: until now. */
export const meetingWork = (
  { _id, org_id, expires_at }: { _id: string; org_id: string; expires_at: Date },
  { removed = false } = {},
) =>
  workOf({
    workflow: 'meeting',
    id: `meeting:${_id}`,
    queue: 'interviews',
    args: [{ owner: org_id, meetingId: _id, expiresAt: expires_at.toISOString() }],
    signal: removed ? removeMeetingSignal : undefined,
  });

export const interviewSignals = {
  /** A member changed the configuration, and nobody waits for the workflow to read it. */
  changed: 'changed',
  /** The bot's service has sent news of it. */
  reported: 'reported',
  /** Somebody in the room agreed, refused or ended, and nobody has asked for the move: the room's record says what it is. */
  room: 'room',
  /** A member deleted the interview. */
  remove: 'remove',
} as const;

export const interviewWorkflowId = (interviewId: string): string => `interview:${interviewId}`;

/** Has the workflow that owns an interview's state look at it. */
export const interviewWork = (orgId: string, interviewId: string, signal?: keyof typeof interviewSignals) =>
  workOf({
    workflow: 'interview',
    id: interviewWorkflowId(interviewId),
    queue: 'interviews',
    args: [{ orgId, interviewId }],
    signal,
  });
