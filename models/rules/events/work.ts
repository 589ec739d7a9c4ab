/** The workflows that send deliveries, process inbound records, and announce events. Pure. */
import { workOf } from '../base/work.ts';
import { tryNowSignal } from '../chat/work.ts';

/** The signal that a delivery of the line was stored. */
export const lineSignal = 'attend';

/** Sends the deliveries of a line that belongs to no ticket. The signal starts the workflow when it is not running. */
export const sendLineWork = (orgId: string, line: string, { now = false } = {}) =>
  workOf('sendLine', 'deliveries', `delivery:${line}`, [{ orgId, line }], now ? tryNowSignal : lineSignal);

/** The signal that an inbound record was stored. */
export const arrivedSignal = 'arrived';

/** Processes the inbound records of an organization. The signal starts the workflow when it is not running. */
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
/** The signal that another event of the task was stored. */
export const happenedSignal = 'happened';

/**
 * Announces events. A task has one workflow, which reads the stored events again after each signal. Each event of a
 * meeting has a workflow of its own.
 */
export const announceWork = (about: TaskRef | MeetingHappened) =>
  workOf(
    'announce',
    'tasks',
    'taskId' in about ? `announce:${about.taskId}` : `announce:${about.meetingId}:${about.event}:${about.version}`,
    [about],
    'taskId' in about ? happenedSignal : undefined,
  );
