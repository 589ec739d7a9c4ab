/** What is started for deliveries, for what arrives, and to tell an organization what happened. Pure. */
import { workOf } from '../base/work.ts';
import { tryNowSignal } from '../chat/work.ts';

/** A delivery of the line was stored. */
export const lineSignal = 'attend';

/** Sends the deliveries of one line that belongs to no ticket; it begins when none is open. */
export const sendLineWork = (orgId: string, line: string, { now = false } = {}) =>
  workOf({
    workflow: 'sendLine',
    id: `delivery:${line}`,
    queue: 'deliveries',
    args: [{ orgId, line }],
    signal: now ? tryNowSignal : lineSignal,
  });

/** Something was stored. */
export const arrivedSignal = 'arrived';

/** Has the organization's workflow look at what has arrived; it begins when none is open. */
export const inboundWork = (orgId: string) =>
  workOf({
    workflow: 'inbound',
    id: `inbound:${orgId}`,
    queue: 'inbound',
    args: [{ orgId }],
    signal: arrivedSignal,
  });

export type TaskRef = { orgId: string; taskId: string };
/** `version` tells summaries of later transcripts apart. */
export type MeetingHappened = {
  owner: string;
  meetingId: string;
  event: 'meeting_ended' | 'summary_ready';
  version: number;
};
/** Something more happened to the task. */
export const happenedSignal = 'happened';

/** Tells what is still to be told; one workflow a task, which looks again at each signal, and one for each event of a meeting. */
export const announceWork = (about: TaskRef | MeetingHappened) =>
  workOf({
    workflow: 'announce',
    id: 'taskId' in about ? `announce:${about.taskId}` : `announce:${about.meetingId}:${about.event}:${about.version}`,
    queue: 'tasks',
    args: [about],
    signal: 'taskId' in about ? happenedSignal : undefined,
  });
