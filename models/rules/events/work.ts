/** The workflows that send deliveries, process inbound records, and announce events. Pure. */
import { workOf } from '../base/work.ts';
import { tryNowSignal } from '../chat/work.ts';

/** The signal that a delivery of a line was stored. */
export const lineSignal = 'attend';

/**
 * The workflow that sends the deliveries of a line that belongs to no ticket. The signal starts the workflow when it is
 * not running. `now`: whether the workflow skips the backoff of a retry.
 */
export const sendLineWork = (orgId: string, line: string, { now = false } = {}) =>
  workOf('sendLine', 'deliveries', `delivery:${line}`, [{ orgId, line }], now ? tryNowSignal : lineSignal);

/** The signal that an inbound record was stored. */
export const arrivedSignal = 'arrived';

/** The workflow that processes the inbound records of an organization. The signal starts it when it is not running. */
export const inboundWork = (orgId: string) =>
  workOf('inbound', 'inbound', `inbound:${orgId}`, [{ orgId }], arrivedSignal);

export type TaskRef = { orgId: string; taskId: string };
/** `version`: the transcript's version, so that the summary of a later version is announced again. */
export type MeetingHappened = {
  owner: string;
  meetingId: string;
  event: 'meeting_ended' | 'summary_ready';
  version: number;
};
/** The signal that another event of a task was stored. */
export const happenedSignal = 'happened';

/**
 * The workflow that announces events. A task has one such workflow, which reads the stored events of the task again
 * after each signal. Each event of a meeting has a workflow of its own.
 */
export const announceWork = (about: TaskRef | MeetingHappened) =>
  workOf(
    'announce',
    'tasks',
    'taskId' in about ? `announce:${about.taskId}` : `announce:${about.meetingId}:${about.event}:${about.version}`,
    [about],
    'taskId' in about ? happenedSignal : undefined,
  );
