/**
 * Keeps a meeting until its retention period ends or its owner deletes it. Then the meeting is removed with everything
 * derived from it. The removal is repeated after five minutes, when all requests that began before it have ended.
 */
import { condition, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import { show } from '../base/board.ts';
import { throughOutages } from '../base/options.ts';
import type { MeetingActivities, MeetingTaskActivities } from '../../activities/interviews/meeting.ts';
import { removeMeetingSignal } from '../../models/rules/interviews/work.ts';

/** `expiresAt`: ISO 8601. */
export type MeetingRef = { owner: string; meetingId: string; expiresAt: string };

const { removeMeeting, forgetMeeting, removeMeetingTasks } = proxyActivities<MeetingActivities & MeetingTaskActivities>(
  {
    ...throughOutages,
    // About 20,000 segments are deleted within seconds.
    startToCloseTimeout: '10 minutes',
  },
);

/** The signal that the owner deleted the meeting. */
export const removeNow = defineSignal(removeMeetingSignal);

/** The wait before the removal is repeated, longer than any request that stores segments or a summary. */
const untilQuiet = '5 minutes';

export async function meeting({ meetingId, expiresAt }: MeetingRef): Promise<void> {
  let deleted = false;
  setHandler(removeNow, () => void (deleted = true));
  const summary = 'the end of its time, or its owner to delete it';
  await condition(() => deleted, Math.max(1, new Date(expiresAt).getTime() - Date.now()), { summary });
  show({ more: deleted ? 'Deleted by its owner.' : `Its time ended on ${expiresAt}.` });
  await removeContents(meetingId);
  await forgetMeeting({ meetingId });
  await sleep(untilQuiet, { summary: 'requests that began before the removal' });
  await removeContents(meetingId);
}

/** Removes everything that belongs to a meeting, including the tasks that were derived from it. */
async function removeContents(meetingId: string): Promise<void> {
  await removeMeeting({ meetingId });
  await removeMeetingTasks({ meetingId });
}
